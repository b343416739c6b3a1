"""tests/real/test_karpenter.py - real Karpenter core, kube-scheduler and kube-apiserver: C11, C16.

tests/real/go/karpenter is core's cluster state, provisioning and disruption without its lifecycle
controllers. The instance types that it plans with are those that muster-sim's Linode API has; sizes and
labels of lke-claimer must be the same. NodeClaims are launched by lke-claimer on that API; its machines join
the real API server. They are slow: core plans again while they are on their way.

muster-test: parallel
muster-test: timeout=900
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubetools
import tap
from kubeservers import RealServer
from lketree import (CLAIMS, CLASSES, GROUP, INSTANCE_TYPE, POOLS, LkeTree, check_owners, is_ready, joined,
                     owners)
from muster import ROOT, wait_for
from providers import Provider

OURS = pathlib.Path(os.environ["MUSTER_BIN"]) / "muster-test-linode"
SPEED = 1.7             # a machine runs 13 s after its order: core plans pending Pods again every 10 s
LONG_S = 240
HOSTNAME = "kubernetes.io/hostname"


class World:
    """The servers, and what the test reads of them."""

    def __init__(self):
        self.karpenter, self.scheduler = kubetools.path("karpenter"), kubetools.path("kube-scheduler")
        self.server, self.linode = RealServer(), Provider("linode", speed=SPEED)
        self.kube = None
        self.actors = contextlib.ExitStack()

    def __enter__(self):
        self.linode.__enter__()
        self.server.__enter__()
        self.kube = self.server.kube
        self.server.install(ROOT / "deploy/crds/linodenodeclasses.yaml",
                            *kubecrds.from_module(kubecrds.KARPENTER, CLAIMS, POOLS))
        self.server.spawn("kube-scheduler", [
            self.scheduler, "--kubeconfig", self.server.kubeconfig, "--leader-elect=false",
            "--secure-port=0"])
        self.actors.enter_context(joined(self.linode, self.kube, self.types()))
        self.actors.enter_context(LkeTree(self.linode, server=self.server)).wait_running()
        return self

    def __exit__(self, *wrong):
        self.actors.__exit__(*wrong)
        self.server.__exit__(*wrong)
        self.linode.__exit__(*wrong)

    def api(self):
        return ["-linode", self.linode.url, "-token-file", self.linode.token_file]

    def core(self):
        self.server.spawn("karpenter", [self.karpenter, "-kubeconfig", self.server.kubeconfig, *self.api()])

    def plans(self):
        """What core has as instance types, by name."""
        done = subprocess.run([self.karpenter, *self.api(), "-types"], check=True, stdout=subprocess.PIPE)
        return {row["id"]: row for row in json.loads(done.stdout)}

    def types(self):
        """What lke-claimer makes of the same API, by name."""
        words = []
        with tempfile.TemporaryDirectory() as folder:
            for kind, path in (("types", "linode/types?page_size=500"),
                               ("availability", "regions/us-ord/availability")):
                file = pathlib.Path(folder) / kind
                file.write_bytes(self.linode.api.raw("GET", f"v4beta/{path}").body)
                words += [kind, file]
            done = subprocess.run([OURS, "read", "standard", "70001", *words], check=True,
                                  stdout=subprocess.PIPE)
        return {row["id"]: row for row in json.loads(done.stdout)["types"]}

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.kube.list("pods", "default")["items"]}

    def claims(self):
        return {claim["metadata"]["name"]: claim for claim in self.kube.list(CLAIMS)["items"]}

    def nodes(self):
        return {node["metadata"]["name"]: node for node in self.kube.list("nodes")["items"]}

    def resources(self, pool):
        return self.kube.get(POOLS, pool).get("status", {}).get("resources", {})


def amount(quantity, name):
    """In the unit of `karpenter -types`."""
    number = quantity.rstrip("mKiM")
    scale = {"": 1, "m": 1, "Ki": 1 << 10, "Mi": 1 << 20}[quantity[len(number):]]
    thousandths = name == "cpu" and not quantity.endswith("m")
    return int(number) * scale * (1000 if thousandths else 1)


def nodeclass(name="default"):
    return {"metadata": {"name": name}, "spec": {}}


def nodepool(name, weight, labels=None, requirements=()):
    template = {"nodeClassRef": {"group": GROUP, "kind": "LinodeNodeClass", "name": "default"},
                "requirements": list(requirements), "expireAfter": "Never"}
    return {"metadata": {"name": name}, "spec": {
        "weight": weight, "template": {"metadata": {"labels": labels or {}}, "spec": template},
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never",
                       "budgets": [{"nodes": "100%"}]}}}


def pod(name, app, selector=None, apart=False, cpu="400m", memory="512Mi"):
    """apart: no two of the app on one Node."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOSTNAME}
    rules = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {"metadata": {"name": name, "labels": {"app": app}},
            "spec": {"containers": [container], "nodeSelector": selector or {},
                     "affinity": rules if apart else {}}}


def forty():
    dedicated, team = {f"{GROUP}/instance-class": "dedicated"}, {"team": "a"}
    return [*(pod(f"web-{n}", "web") for n in range(16)),
            *(pod(f"db-{n}", "db", apart=True, memory="1Gi") for n in range(6)),
            *(pod(f"batch-{n}", "batch", dedicated, cpu="1") for n in range(10)),
            *(pod(f"team-{n}", "team", team, memory="2Gi") for n in range(8))]


def check_placed(world):
    """Each Pod is on a Node that its selector and its anti-affinity allow."""
    nodes, pods = world.nodes(), world.pods()
    for row in pods.values():
        labels = nodes[row["spec"]["nodeName"]]["metadata"]["labels"]
        assert row["spec"].get("nodeSelector", {}).items() <= labels.items(), (row["metadata"], labels)
    places = [row["spec"]["nodeName"] for name, row in pods.items() if name.startswith("db-")]
    assert len(set(places)) == len(places) == 6, places


def drifted(claims):
    return [name for name, claim in claims.items()
            for row in claim.get("status", {}).get("conditions", [])
            if row["type"] == "Drifted" and row["status"] == "True"]


def check_resources(world, pool):
    """NodePool status.resources is the sum over its Nodes."""
    nodes = [node for node in world.nodes().values()
             if node["metadata"]["labels"].get("karpenter.sh/nodepool") == pool]
    wanted = {name: sum(amount(node["status"]["capacity"][name], name) for node in nodes)
              for name in ("cpu", "memory", "pods")} | {"nodes": len(nodes)}

    def right():
        have = world.resources(pool)
        return all(amount(have.get(name, "0"), name) == value for name, value in wanted.items())
    wait_for(right, f"status.resources of {pool} is {wanted}", LONG_S)


@tap.case
def C11_types_are_what_core_plans_with():
    plans, types = world.plans(), world.types()
    assert plans.keys() == types.keys() and len(plans) > 5
    for name, plan in plans.items():
        ours = types[name]
        assert ours["labels"] == {key: value for key, value in plan["labels"].items() if value}, name
        assert (ours["price"], ours["available"]) == (round(plan["price"] * 1e6), plan["available"]), name
        for part in ("capacity", "allocatable"):
            have = {key: amount(value, key) for key, value in ours[part].items()}
            assert have == {key: max(value, 0) for key, value in plan[part].items()}, (name, part)


@tap.case
def C16_forty_Pods_get_NodeClaims_and_Nodes_and_are_placed():
    """While the launches last, core plans again: it must make no NodeClaim for what is on its way."""
    kube = world.kube
    kube.create(CLASSES, nodeclass())
    wait_for(lambda: is_ready(kube.get(CLASSES, "default")), "C17 the class is Ready", LONG_S)
    classes = {"key": f"{GROUP}/instance-class", "operator": "In", "values": ["standard", "dedicated"]}
    kube.create(POOLS, nodepool("general", 10, requirements=[classes]))
    kube.create(POOLS, nodepool("team-a", 1, {"team": "a"}))
    kube.create_many("pods", forty(), "default")
    world.core()
    first = wait_for(world.claims, "NodeClaims", LONG_S)
    wait_for(lambda: all(row["spec"].get("nodeName") for row in world.pods().values()), "all placed", LONG_S)
    check_placed(world)
    wait_for(lambda: all(map(is_ready, world.claims().values())), "every NodeClaim is Ready", LONG_S)
    claims = world.claims()
    names = [claim["status"]["nodeName"] for claim in claims.values()]
    assert sorted(names) == sorted(world.nodes()), (names, sorted(world.nodes()))
    check_owners(world.linode, world.server)
    assert sorted(map(tuple, owners(world.linode).values())) == sorted((name,) for name in claims)
    assert len(world.pods()) == 40
    pools = {claim["metadata"]["labels"]["karpenter.sh/nodepool"] for claim in claims.values()}
    assert pools == {"general", "team-a"}, pools
    tap.note(f"{len(first)} NodeClaims at first, {len(claims)} at the end")
    # One plan for all forty Pods: what it asked for is what there is.
    assert len(created(world)) == len(claims), (created(world), sorted(claims))


def created(world):
    """Names of all NodeClaims that core has made, also of those that are gone: from the audit log."""
    rows = [json.loads(line) for line in world.server.audit_log.read_text().splitlines()]
    return [row["objectRef"].get("name") for row in rows
            if row["verb"] == "create" and row["objectRef"].get("resource") == CLAIMS
            and row["responseStatus"]["code"] == 201]


@tap.case
def C11_nothing_is_Drifted_and_the_resources_of_each_NodePool_are_right():
    check_resources(world, "general")
    check_resources(world, "team-a")
    assert drifted(world.claims()) == []
    assert all(INSTANCE_TYPE in claim["metadata"]["labels"] for claim in world.claims().values())


@tap.case
def C16_Nodes_go_when_their_Pods_are_gone():
    before = len(created(world))
    for name in world.pods():
        world.kube.delete("pods", name, "default", gracePeriodSeconds=0)
    for pool in ("general", "team-a"):
        world.kube.merge(POOLS, pool, {"spec": {"disruption": {"consolidateAfter": "0s"}}})
    wait_for(lambda: not world.claims() and not world.nodes(), "no NodeClaims and no Nodes", LONG_S)
    for pool in ("general", "team-a"):
        wait_for(lambda: world.resources(pool).get("nodes") == "0", f"{pool} has no Nodes", LONG_S)
    wait_for(lambda: world.linode.state() == {"pools": [], "nodes": []}, "no machines", LONG_S)
    assert len(created(world)) == before


try:
    world = World()
except tap.Skip as why:
    print(f"1..0 # SKIP {str(why).splitlines()[0]}", flush=True)
    sys.exit(0)
with world:
    tap.main()
