"""tests/real/test_moto.py - capa-annotator on moto, an independent model of AWS, and boto3 beside it.

FR4.1, FR5.1 to FR5.3, FR6, F1, F3, F6, F9. From a number of calls on, moto computes the signature of each
request with botocore and asks the policies of the role whether the call is allowed: so it also judges our
SigV4. What boto3 reads from the same server gives the figures that the annotations must have.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import pathlib
import subprocess
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capacrds
import kubetools
import procs
import tap
from capacrds import DEPLOYMENTS, TEMPLATES
from capatree import ACTOR, CapaTree, World, figures, ours, writes
from kubeservers import SimServer
from muster import free_port, wait_for

ROLE = "arn:aws:iam::123456789012:role/annotator"
SERVER = """
import sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%d" % server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()
"""
# Arguments: URL, and a region to read. Each line of stdin is a call: service, operation, keys.
CLIENT = """
import boto3, json, sys
url, region = sys.argv[1:]
clients = {name: boto3.client(name, region_name=region, endpoint_url=url, aws_access_key_id="AKIDEXAMPLE",
                              aws_secret_access_key="wrong") for name in ("iam", "ec2")}
for line in sys.stdin:
    service, operation, keys = json.loads(line)
    try:
        answer = getattr(clients[service], operation)(**keys)
    except clients[service].exceptions.ClientError as error:
        answer = {"error": error.response["Error"]["Code"]}
    print(json.dumps(answer, default=str))
"""
ALLOW = {"RoleName": "annotator", "PolicyName": "read", "PolicyDocument": json.dumps({
    "Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": "ec2:DescribeInstanceTypes", "Resource": "*"}]})}
SETTINGS = {"unknown-type-interval": "1h", "request-timeout": "2m"}     # moto needs seconds for its page
READ = ["ec2", "describe_instance_types", {}]
GPU_TYPES = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}


class Moto:
    """moto's server on loopback, with the role."""

    def __init__(self):
        self.python = kubetools.path("moto")

    def __enter__(self):
        self.child = subprocess.Popen([self.python, "-c", SERVER], stdin=subprocess.PIPE, text=True,
                                      stdout=subprocess.PIPE, preexec_fn=procs.die_with_parent)
        self.url = self.child.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url
        made, = self.boto3(["iam", "create_role", {"RoleName": "annotator",
                                                   "AssumeRolePolicyDocument": "{}"}])
        assert made["Role"]["Arn"] == ROLE, made
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        assert self.child.wait(timeout=60) == 0
        self.child.stdout.close()

    def boto3(self, *calls, region="eu-west-1"):
        """The answers to these calls."""
        done = subprocess.run([self.python, "-c", CLIENT, self.url, region], text=True, capture_output=True,
                              input="".join(json.dumps(call) + "\n" for call in calls), timeout=120)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def judge_after(self, calls):
        """From then on every call must be signed and allowed; AssumeRoleWithWebIdentity never is signed."""
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", data=str(calls).encode(),
                                         headers={"Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200
        if calls == 0:
            refused, = self.boto3(READ)
            assert refused == {"error": "AuthFailure"}, f"moto does not judge: {str(refused)[:200]}"

    def types(self, region):
        """name -> the annotations, from what boto3 reads (F1, F9)."""
        answer, = self.boto3(READ, region=region)
        assert not answer.get("NextToken"), "moto has more than one page now: walk through them"
        return {row["InstanceType"]: wanted(row) for row in answer["InstanceTypes"]}


def wanted(row):
    gpus = row.get("GpuInfo", {}).get("Gpus", [])
    makers = {gpu["Manufacturer"] for gpu in gpus}
    arm = any("arm64" in name for name in row["ProcessorInfo"]["SupportedArchitectures"])
    return figures(row["VCpuInfo"]["DefaultVCpus"], row["MemoryInfo"]["SizeInMiB"],
                   "arm64" if arm else "amd64",
                   sum(gpu["Count"] or gpu.get("LogicalGpuCount", 0) for gpu in gpus),
                   GPU_TYPES.get(*makers) if len(makers) == 1 else None)


@contextlib.contextmanager
def cluster():
    with SimServer() as server:
        server.install(*capacrds.crds())
        yield server


def identity(server, moto, **more):
    token = server.folder / "web-identity"
    token.mkdir()
    (token / "token").write_text("eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl\n")
    return {"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": str(token / "token"),
            "AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": moto.url, **more}


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
