"""tests/lib/vpsietree.py - a musterd with vpsie-claimer, on the muster-sim that has the VPSie API.

    with claimer() as (vpsie, tree):
        make_group(vpsie, "web", 5)                     # a NodeGroup with minNodes 0, maxNodes 10
        wait_ready(vpsie, "web", 5)
        check_owners(vpsie)                             # no VM and no Node has two VPSieNodes
"""
import contextlib

import crashsweep
from kube import RESOURCES, Resource
from kubetree import KubeTree
from muster import ROOT, wait_for
from vpsie import CLUSTER, MEDIUM, VPSie

CLAIMER, STATE = "vpsie-claimer", "node-state"
BASE = "apis/autoscaler.vpsie.com/v1alpha1"
PREFIX = "autoscaler.vpsie.com/"
GROUPS, NODES = "nodegroups", "vpsienodes"
RESOURCES[GROUPS] = Resource(BASE, "NodeGroup", namespaced=True)
RESOURCES[NODES] = Resource(BASE, "VPSieNode", namespaced=True)
CRDS = [ROOT / "deploy/crds" / f"{name}.yaml" for name in (GROUPS, NODES)]
# Of the real defaults, all times shorter by the speed of the simulated machines or more.
FAST = {"discovery-interval": "300ms", "confirm-interval": "700ms", "resync-interval": "1s",
        "requests-per-minute": 60000, "provisioning-timeout": "60s", "joining-timeout": "60s"}


class VPSieTree(KubeTree):
    """claimer: settings of vpsie-claimer; files: of its credential-dir; killed: by crashsweep."""

    def __init__(self, vpsie, claimer=None, files=None, actors=None, server=None, killed=False, **more):
        super().__init__(server or vpsie.server, readers=0, **more)
        if killed:
            crashsweep.killed(self)
        self.secret = self.folder / "credential"
        self.secret.mkdir(mode=0o700)
        for name, text in (files or {"token": vpsie.token}).items():
            self.put_secret(name, text)
        self.settings[CLAIMER] = {"api-url": f"{vpsie.url}/v2", "credential-dir": str(self.secret), **FAST,
                                  **(claimer or {})}
        for name, values in (actors or {}).items():
            self.settings[name] = {**self.settings.get(name, {}), **values}
        self.configure({"supervisor": {"log-format": "json"},
                        "actors": {"metrics": {"enabled": False}, **self.settings}})

    def put_secret(self, name, text):
        """As Kubernetes replaces a file of a mounted Secret: at once. None: it is removed."""
        if text is None:
            (self.secret / name).unlink()
            return
        fresh = self.secret / f".{name}.new"
        fresh.write_text(text + "\n")
        fresh.chmod(0o600)
        fresh.replace(self.secret / name)

    def explain(self, kind, name, namespace="default"):
        return self.cli("explain", f"{kind}/{namespace}/{name}").stdout


@contextlib.contextmanager
def claimer(sim=None, prepare=None, **more):
    """Workers become Nodes of the same muster-sim. sim: arguments of VPSie; prepare(vpsie) at first."""
    with VPSie(**{"join": True, "speed": 30, **(sim or {})}) as vpsie:
        vpsie.server.install(*CRDS)
        if prepare:
            prepare(vpsie)
        with VPSieTree(vpsie, **more) as tree:
            tree.wait_running()
            yield vpsie, tree


# -- objects

def make_group(vpsie, name, desired, low=0, high=10, namespace="default", server=None, **spec):
    kube = (server or vpsie.cluster).kube
    made = kube.create(GROUPS, {"metadata": {"name": name}, "spec": {
        "minNodes": low, "maxNodes": high, "resourceIdentifier": CLUSTER, "kubeSizeID": MEDIUM,
        **spec}}, namespace)
    if desired is not None:
        scale(vpsie, name, desired, namespace, server)
    return made


def make_node(vpsie, name, group, spec=None, status=None, annotations=None, namespace="default", server=None):
    """A VPSieNode, as a person or the original controller makes it; status is written, too."""
    kube = (server or vpsie.cluster).kube
    kube.create(NODES, {"metadata": {"name": name, "annotations": {
        PREFIX + key: value for key, value in (annotations or {}).items()}}, "spec": {
            "nodeGroupName": group, "resourceIdentifier": CLUSTER, **(spec or {})}}, namespace)
    if status:
        kube.merge(NODES, name, {"status": status}, namespace, sub="status")


def scale(vpsie, name, desired, namespace="default", server=None):
    """As whoever scales does."""
    (server or vpsie.cluster).kube.merge(GROUPS, name, {"status": {"desiredNodes": desired}}, namespace,
                                        sub="status")


def group(vpsie, name, namespace="default"):
    return vpsie.cluster.kube.get(GROUPS, name, namespace)


def nodes(vpsie, namespace="default"):
    """name -> VPSieNode."""
    return {item["metadata"]["name"]: item for item in vpsie.cluster.kube.list(NODES, namespace)["items"]}


def phases(vpsie, namespace="default"):
    return {name: item.get("status", {}).get("phase", "") for name, item in nodes(vpsie, namespace).items()}


def wait_phase(vpsie, name, phase, namespace="default", timeout=60):
    """Until the VPSieNode has that phase; returns it."""
    try:
        wait_for(lambda: phases(vpsie, namespace).get(name) == phase, f"{name} is {phase}", timeout)
    except AssertionError as late:
        raise AssertionError(f"{late}: {nodes(vpsie, namespace).get(name)} {vpsie.workers()}") from late
    return nodes(vpsie, namespace)[name]


def worker_of(vpsie, item):
    """What the provider has as the machine of that VPSieNode."""
    worker, = [row for row in vpsie.workers() if row["identifier"] == item["spec"]["vpsieNodeIdentifier"]]
    return worker


def alive(vpsie):
    """Workers that were not deleted."""
    return vpsie.workers("ordered", "booting", "running", "joined", "ready", "dead")


def writes(vpsie):
    """Of vpsie-claimer: of its kinds and of Nodes."""
    return [row for row in vpsie.cluster.audit() if row["verb"] not in ("get", "list", "watch")
            and (row["resource"] in (GROUPS, NODES) or (row["resource"], row["subresource"]) == ("nodes", ""))
            and "muster" in row["user-agent"]]


def events(vpsie, name, namespace="default"):
    """reason -> the note of the last Event about that object."""
    return {event["reason"]: event.get("note", "")
            for event in vpsie.cluster.kube.list("events", namespace)["items"]
            if event["regarding"]["name"] == name}


def condition(item, kind):
    """The condition of that type, or {}."""
    found = [row for row in item.get("status", {}).get("conditions", []) if row["type"] == kind]
    return found[0] if found else {}


# -- what every case checks

def wait_ready(vpsie, name, count, namespace="default", timeout=60):
    """Until that many VPSieNodes of the group are Ready, and its status counts them."""
    def settled():
        status = group(vpsie, name, namespace).get("status", {})
        mine = [item for item in nodes(vpsie, namespace).values() if item["spec"]["nodeGroupName"] == name]
        ready = [item for item in mine if item.get("status", {}).get("phase") == "Ready"]
        return (len(mine) == len(ready) == count
                and (status.get("currentNodes", 0), status.get("readyNodes", 0)) == (count, count))
    try:
        wait_for(settled, f"{name} has {count} ready VPSieNodes", timeout)
    except AssertionError as late:
        rows = {key: item.get("status") for key, item in nodes(vpsie, namespace).items()}
        raise AssertionError(f"{late}: {rows} {[vpsie.posts(), vpsie.workers()]}") from late


def wait_calm(vpsie, timeout=60):
    """Until nothing was written for two seconds, which are many intervals here (A1)."""
    counts = []

    def calm():
        counts.append(len(writes(vpsie)))
        return len(counts) > 5 and len(set(counts[-6:])) == 1
    wait_for(calm, "nothing is written", timeout, every=0.4)


def check_owners(vpsie, namespaces=("default",)):
    """No VM and no Node has two VPSieNodes, and each POST was for another VPSieNode."""
    items = [item for namespace in namespaces for item in nodes(vpsie, namespace).values()]
    check_distinct(items)


def check_distinct(items):
    """Of these VPSieNodes no two have one VM, nor one Node."""
    for key in ("vpsieInstanceID", "vpsieNodeIdentifier"):
        ids = [item["spec"].get(key) for item in items if item["spec"].get(key)]
        assert len(ids) == len(set(ids)), f"two VPSieNodes have one {key}: {ids}"
    names = [item["status"]["nodeName"] for item in items if item.get("status", {}).get("nodeName")]
    assert len(names) == len(set(names)), f"two VPSieNodes have one Node: {names}"


def check_described(vpsie, name, namespace="default"):
    """D2, D3, D19, M3, L1 to L3: a Ready VPSieNode and its Node have what the provider has."""
    item = nodes(vpsie, namespace)[name]
    spec, status = item["spec"], item["status"]
    worker = worker_of(vpsie, item)
    vm = worker["vm"]
    if worker["in_vms"]:
        assert spec["vpsieInstanceID"] == worker["id"], (spec, worker)
        assert spec.get("ipv6Address", "") == vm["default_ipv6"], (spec, worker)
        assert status["resources"] == {"cpu": vm["cpu"], "memoryMB": vm["ram"], "diskGB": vm["ssd"],
                                       "bandwidthGB": vm["traffic"]}, (status, worker)
    assert spec["vpsieNodeIdentifier"] == worker["identifier"], (spec, worker)
    # The provider calls a worker running until it is gone; what the Node is, is in conditions.
    assert status["vpsieStatus"] == "running", (status, worker)
    assert spec["ipAddress"] in (worker["public_ip"], worker["private_ip"]), (spec, worker)
    assert status["hostname"] == worker["hostname"] and status["nodeName"] == worker["node"], (status, worker)
    for key in ("createdAt", "provisionedAt", "joinedAt", "readyAt"):
        assert status.get(key), (key, status)
    assert not status.get("lastError"), status
    labels = vpsie.cluster.kube.get("nodes", worker["node"])["metadata"]["labels"]
    wanted = {"managed": "true", "nodegroup": spec["nodeGroupName"], "nodegroup-namespace": namespace,
              "vpsienode": name, "vpsienode-uid": item["metadata"]["uid"]}
    got = {key.removeprefix(PREFIX): value for key, value in labels.items()}
    assert wanted.items() <= got.items(), labels
