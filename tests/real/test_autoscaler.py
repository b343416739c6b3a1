"""tests/real/test_autoscaler.py - the cluster-autoscaler builds nodes from what capa-annotator wrote.

F1, F2, FR6. The cluster-autoscaler is its own Go module with its provider of Cluster API
(tests/real/go/autoscaler), on a real kube-apiserver with the real CRDs, in both API versions. The types are
those of moto, and what a node must have follows from what boto3 reads.

muster-test: parallel
muster-test: timeout=600
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capareal
import kubesuite
import kubetools
from capacrds import AWS_CLUSTERS, CLUSTERS, DEPLOYMENTS, TEMPLATES
from capareal import VERSIONS
from capatree import CAPACITY, OPENSHIFT, CapaTree, World, ours, writes
from kubeservers import RealServer
from kubesuite import case
from motoserver import Moto, identity
from muster import wait_for

# The autoscaler watches all of them.
KINDS = (DEPLOYMENTS, CLUSTERS, "machines", "machinesets", "machinepools")
REGION = "eu-west-1"
SIZES = {f"cluster.x-k8s.io/cluster-api-autoscaler-node-group-{end}-size": size
         for end, size in (("min", "0"), ("max", "7"))}
FOREIGN = {CAPACITY + "maxPods": "58", CAPACITY + "taints": "dedicated=gpu:NoSchedule",
           CAPACITY + "labels": "team=a,kubernetes.io/arch=s390x,zone=b"}
SETTINGS = {"unknown-type-interval": "1h", "request-timeout": "2m"}     # moto needs seconds for its page
MIB = 1 << 20


def prepare(server):
    capareal.install(server, KINDS)
    for version in VERSIONS:
        server.kube.create("namespaces", {"metadata": {"name": version}})


def node_of(annotations, pods="110", **labels):
    """The node that must follow from the figures of boto3, without a value that only the parser reads."""
    capacity = {"cpu": annotations[OPENSHIFT + "vCPU"], "pods": pods,
                "memory": str(int(annotations[OPENSHIFT + "memoryMb"]) * MIB)}
    if CAPACITY + "gpu-type" in annotations:
        capacity[annotations[CAPACITY + "gpu-type"]] = annotations[OPENSHIFT + "GPU"]
    arch = "arm64" if "arm64" in annotations[CAPACITY + "labels"] else "amd64"
    return capacity, {"kubernetes.io/arch": arch, "kubernetes.io/os": "linux", **labels}


def groups(server):
    """MachineDeployment -> what the autoscaler would build from it."""
    done = subprocess.run([kubetools.path("autoscaler"), "-kubeconfig", server.kubeconfig], text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = map(json.loads, done.stdout.splitlines())
    return {row["group"].rpartition("/")[2]: row for row in rows}


def check_node(row, capacity, labels, taints=()):
    assert "error" not in row, row
    assert (row["min"], row["max"]) == (0, 7), row
    assert row["capacity"] == capacity, (row, capacity)
    assert row["labels"].pop("kubernetes.io/hostname") and row["labels"] == labels, (row, labels)
    assert [(taint["key"], taint["value"], taint["effect"]) for taint in row.get("taints", [])] == [
        *taints], row


def fill(world, names, types):
    """A MachineDeployment for each of these, and some with annotations of others."""
    kube = world.kube
    world.cluster("prod", REGION)
    kube.create_many(TEMPLATES, [
        {"metadata": {"name": name}, "spec": {"template": {"spec": {"instanceType": kind}}}}
        for name, kind in names.items()], world.namespace)
    kube.create_many(world.core(DEPLOYMENTS), [
        {"metadata": {"name": name, "annotations": SIZES}, "spec": world.spec(name, "prod")}
        for name in names], world.namespace)
    gpu = next(kind for kind, row in types.items() if CAPACITY + "gpu-type" in row)
    for name, kind in (("foreign", gpu), ("capacity", "m6g.xlarge"), ("unknown", "m5.nope")):
        world.deployment(name, kind, annotations={**SIZES, **(FOREIGN if name == "foreign" else {})})
    # Its own provider fills cpu and memory of a template: the annotations count.
    kube.merge(TEMPLATES, "capacity", {"status": {"capacity": {"cpu": "3", "memory": "1Gi"}}},
               world.namespace, sub="status")
    # What the parser does not take: from no region, so that it stays as it is.
    for name, key, value in (("memory", "memory", "8192 MiB"), ("count", "gpu-count", "four")):
        wrong = {CAPACITY + "cpu": "2", CAPACITY + "memory": "8192Mi", CAPACITY + key: value}
        world.deployment(f"wrong-{name}", "m5.large", "none", annotations={**SIZES, **wrong})
    return gpu


def check(server, moto, world, types):
    # One type for each set of figures: every value that there is, once.
    distinct = {json.dumps(row, sort_keys=True): kind for kind, row in types.items()}
    names = {f"md-{number:03}": kind for number, kind in enumerate(distinct.values())}
    gpu = fill(world, names, types)
    with CapaTree(server, identity(server, moto), SETTINGS, watcher={"writes-per-second": 500}) as tree:
        tree.wait_running()
        wait_for(lambda: len(writes(server)) >= len(names) + 2, "all are annotated", 200)
        assert ours(world.annotations("unknown")) == {}
        assert {row["code"] for row in writes(server)} == {200}, writes(server)
    found = groups(server)
    assert found.keys() == {*names, "foreign", "capacity"}, (
        f"a value that the autoscaler refuses: {found.keys() ^ {*names, 'foreign', 'capacity'}}")
    for name, kind in names.items():
        check_node(found[name], *node_of(types[kind]))
    check_node(found["foreign"], *node_of(types[gpu], "58", team="a", zone="b"),
               taints=[("dedicated", "gpu", "NoSchedule")])
    check_node(found["capacity"], *node_of(types["m6g.xlarge"]))
    return len(names)


def one_version(server, version):
    kubetools.path("autoscaler")
    capareal.serve(server, version, KINDS)
    with Moto() as moto:
        types = moto.types(REGION)
        world = World(server, version, version)
        count = check(server, moto, world, types)
        assert count > 100, f"{count} sets of figures in {len(types)} types"
    for plural in (DEPLOYMENTS, CLUSTERS, TEMPLATES, AWS_CLUSTERS):
        server.kube.delete_all(world.core(plural) if plural in KINDS else plural, version)


@case
def F1_FR6_AC8_the_autoscaler_builds_a_node_of_every_type_in_v1beta2(server):
    one_version(server, "v1beta2")


@case
def F1_F2_FR6_AC8_the_autoscaler_builds_a_node_of_every_type_in_v1beta1(server):
    one_version(server, "v1beta1")


kubesuite.run(RealServer, prepare=prepare)
