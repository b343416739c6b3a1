"""tests/real/test_moto.py - capa-annotator on moto, an independent model of AWS, and boto3 beside it.

FR4.1, FR5.1 to FR5.3, FR6, F1, F3, F6, F9. From a number of calls on, moto computes the signature of each
request with botocore and asks the policies of the role whether the call is allowed: so it also judges our
SigV4. What boto3 reads from the same server gives the figures that the annotations must have.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capacrds
import tap
from capacrds import DEPLOYMENTS, TEMPLATES
from capatree import ACTOR, CapaTree, World, ours, writes
from kubeservers import SimServer
from motoserver import ALLOW, Moto, identity
from muster import free_port, wait_for

SETTINGS = {"unknown-type-interval": "1h", "request-timeout": "2m"}     # moto needs seconds for its page


@contextlib.contextmanager
def cluster():
    with SimServer() as server:
        server.install(*capacrds.crds())
        yield server


@tap.case
def FR4_FR5_FR6_F1_F9_every_type_has_the_figures_that_boto3_reads():
    with Moto() as moto, cluster() as server:
        types = moto.types("eu-west-1")
        assert len(types) > 1000 and sum("gpu" in str(row) for row in types.values()) > 40, len(types)
        moto.boto3(["iam", "put_role_policy", ALLOW])
        world = World(server)
        world.cluster("prod", "eu-west-1")
        server.kube.create_many(TEMPLATES, [
            {"metadata": {"name": name}, "spec": {"template": {"spec": {"instanceType": name}}}}
            for name in types], "default")
        server.kube.create_many(DEPLOYMENTS, [{"metadata": {"name": name}, "spec": world.spec(name, "prod")}
                                              for name in types], "default")
        world.deployment("none", "m5.nope")
        given = identity(server, moto)
        moto.judge_after(0)         # it does judge
        moto.judge_after(1)         # all but AssumeRoleWithWebIdentity
        with CapaTree(server, given, SETTINGS) as tree:
            tree.wait_running()
            wait_for(lambda: len(writes(server)) >= len(types), "as many writes as types", 120)
            found = {item["metadata"]["name"]: ours(item["metadata"].get("annotations", {}))
                     for item in server.kube.list(DEPLOYMENTS, "default")["items"]}
            assert found.pop("none") == {}
            wrong = {name: (found[name], row) for name, row in types.items() if found[name] != row}
            assert found.keys() == types.keys() and not wrong, (len(wrong), next(iter(wrong.items())))
            assert len(writes(server)) == len(types), "A1 one write each"
            world.wait_event("none", "FailedUpdate", "unknown instance type: m5.nope in eu-west-1")
            read, = tree.facts(actor=ACTOR, msg="the instance types of a region were read")
            assert (read["value"], read["count"], read["seq"]) == ("eu-west-1", len(types), 1), read


@tap.case
def F3_F6_FR7_an_endpoint_for_each_service_and_a_role_that_may_not_read_yet():
    """AWS_ENDPOINT_URL leads nowhere: those of the services count. A refusal is never an unknown type."""
    with Moto() as moto, cluster() as server:
        types = moto.types("us-west-2")
        world = World(server)
        world.cluster("prod", "us-west-2")
        world.deployment("web", "m5.large")
        world.deployment("gpu", "g5.12xlarge")
        world.deployment("mac", "mac2.metal")
        given = identity(server, moto, AWS_ENDPOINT_URL=f"http://127.0.0.1:{free_port()}",
                         AWS_ENDPOINT_URL_STS=moto.url, AWS_ENDPOINT_URL_EC2=moto.url)
        moto.judge_after(0)
        moto.judge_after(1)
        with CapaTree(server, given, SETTINGS) as tree:
            tree.wait_running()
            refused = wait_for(lambda: tree.facts(actor=ACTOR, value="us-west-2", msg=(
                "the instance types of a region could not be read: what was read before stays in use")),
                "it is refused")
            assert "status 403" in refused[0]["why"], refused
            assert not writes(server) and not world.events("web"), world.events("web")
            # Credentials of the same session are enough once the policy is there.
            moto.judge_after(1)
            moto.boto3(["iam", "put_role_policy", ALLOW])
            for name, kind in (("web", "m5.large"), ("gpu", "g5.12xlarge"), ("mac", "mac2.metal")):
                world.wait_annotated(name, types[kind])
            assert len(writes(server)) == 3, writes(server)


tap.main()
