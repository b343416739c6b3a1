"""tests/real/test_annotator.py - capa-annotator on a real kube-apiserver with the real CRDs of Cluster API
and its AWS provider, in both API versions: F1, F2, FR1 to FR3, TR3, TR4, A1, A8. AWS is that of muster-sim.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capareal
import kubesuite
from capacrds import AWS_CLUSTERS, CLUSTERS, DEPLOYMENTS, TEMPLATES
from capareal import VERSIONS
from capatree import CAPACITY, G5_12XLARGE, M5_LARGE, M6G_XLARGE, Aws, CapaTree, World, ours, writes
from kubeservers import RealServer
from kubesuite import case

KINDS = (DEPLOYMENTS, CLUSTERS)


def prepare(server):
    capareal.install(server, KINDS)
    for version in VERSIONS:
        for part in "ab":
            server.kube.create("namespaces", {"metadata": {"name": f"{version}-{part}"}})


def each_version(server, check):
    for version in VERSIONS:
        capareal.serve(server, version, KINDS)
        server.forget_audit()
        with Aws() as aws:
            check(server, aws, World(server, f"{version}-a", version), World(server, f"{version}-b", version))
        for plural in (*KINDS, TEMPLATES, AWS_CLUSTERS):
            for part in "ab":
                world = World(server, f"{version}-{part}", version)
                name = world.core(plural) if plural in KINDS else plural
                for item in server.kube.list(name, world.namespace)["items"]:
                    kubesuite.remove(server.kube, name, item["metadata"])


def topology(world, name, value):
    """What the topology controller applies, with its own field manager."""
    world.kube.apply(world.core(DEPLOYMENTS), name, {"metadata": {"annotations": {
        "topology.example/keep": value}}}, "capi-topology", world.namespace)


@case
def F1_F2_A1_annotations_are_right_foreign_ones_stay_and_quiet_is_quiet(server):
    def check(server, aws, world, _):
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large", annotations={"example.com/mine": "1", CAPACITY + "maxPods": "58"})
        with CapaTree(server, aws.identity()) as tree:
            tree.wait_running()
            world.wait_annotated("web", M5_LARGE)
            topology(world, "web", "1")
            # F2: without polling, what comes later is noticed.
            world.deployment("late")
            world.wait_event("late", "ReconcileError", "the AWSMachineTemplate does not exist")
            world.template("late", "m6g.xlarge")
            world.wait_annotated("late", M6G_XLARGE)
            world.cluster("new", None)
            world.deployment("gpu", "g5.12xlarge", "new")
            world.wait_event("gpu", "ReconcileError", "neither Cluster nor annotation leads to a region")
            world.make(AWS_CLUSTERS, "new", {"region": "us-east-1"})
            world.wait_annotated("gpu", G5_12XLARGE)
            # FR1.4: what is being deleted is left alone.
            world.deployment("going", finalizers=["example.com/hold"])
            world.kube.delete(world.core(DEPLOYMENTS), "going", world.namespace)
            world.template("going", "m5.large")
            topology(world, "web", "2")
            kubesuite.pause(1)
            assert ours(world.annotations("going")) == {}, world.annotations("going")
            kept = world.annotations("web")
            assert (kept["example.com/mine"], kept[CAPACITY + "maxPods"], kept["topology.example/keep"]) == (
                "1", "58", "2"), kept
            assert ours(kept) == M5_LARGE, "an apply of another manager keeps ours"
            rows = writes(server)
            assert len(rows) == 3 and {row["verb"] for row in rows} == {"patch"}, rows
            assert {row["code"] for row in rows} == {200}, rows
    each_version(server, check)


@case
def FR1_3_A8_AC16_a_namespace_is_honoured_and_the_next_leader_takes_over(server):
    def check(server, aws, mine, other):
        elect = {"leader-elect": True, "leader-elect-lease-duration": "3s", "lease-namespace": "default",
                 "namespace": mine.namespace}
        for world in (mine, other):
            world.cluster("prod", "eu-west-1")
            world.deployment("web", "m5.large")
        with CapaTree(server, aws.identity(), watcher=elect) as first:
            first.wait_running()
            mine.wait_annotated("web", M5_LARGE)
            with CapaTree(server, aws.identity(), watcher=elect) as second:
                second.wait_running()
                first.kill("kube-watcher", signal.SIGSTOP)
                mine.deployment("arm", "m6g.xlarge")
                mine.wait_annotated("arm", M6G_XLARGE)
                first.kill("kube-watcher", signal.SIGCONT)
                assert ours(other.annotations("web")) == {}, "FR1.3"
                assert len(writes(server)) == 2, writes(server)
    each_version(server, check)


kubesuite.run(RealServer, prepare=prepare)
