"""tests/lib/lketree.py - a musterd with lke-claimer, on the muster-sim that has the Linode API.

    with lke("standard") as (linode, tree):             # NodePool "general", LinodeNodeClass "default"
        claim(linode.server, "a", "b")
        wait_ready(linode, "a", "b")                    # each has a machine and a Node of its own
        check_owners(linode)                            # no machine has two claims, no claim two machines
"""
import contextlib
import json
import re

import anycrds
import crashsweep
import joiner
import kubecrds
from kube import RESOURCES, Resource
from kubeservers import SimServer
from kubetree import KubeTree
from muster import ROOT, wait_for
from providers import Provider

LKE, STATE = "lke-claimer", "node-state"
CLUSTERS = {"standard": 70001, "enterprise": 70002}
TYPE, INSTANCE_TYPE = "g6-standard-2", "node.kubernetes.io/instance-type"
GROUP, TERMINATION = "karpenter.k8s.linode", "karpenter.sh/termination"
CLAIM_TAGS = ("karpenter.sh/nodeclaim:", "karpenter.sh/nodeclaim=")
CLASSES, CLAIMS, POOLS = "linodenodeclasses", "nodeclaims", "nodepools"
RESOURCES[CLASSES] = Resource(f"apis/{GROUP}/v1alpha1", "LinodeNodeClass", namespaced=False)
RESOURCES[POOLS] = Resource("apis/karpenter.sh/v1", "NodePool", namespaced=False)
# Built in on a real server; muster-sim does not have it, and a drain lists it.
ATTACHMENTS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "volumeattachments.storage.k8s.io", "annotations": {
        "api-approved.kubernetes.io": "unapproved, a stand-in for tests"}},
    "spec": {"group": "storage.k8s.io", "scope": "Cluster",
             "names": {"plural": "volumeattachments", "singular": "volumeattachment",
                       "kind": "VolumeAttachment", "listKind": "VolumeAttachmentList"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
REFERENCE = {"group": GROUP, "kind": "LinodeNodeClass", "name": "default"}


class LkeTree(KubeTree):
    """settings: more of lke-claimer; credential: the id of its token; killed: by crashsweep."""

    def __init__(self, linode, tier="standard", settings=None, server=None, supervisor=None,
                 actors=None, credential=None, killed=False, **more):
        super().__init__(server or linode.server, readers=0, **more)
        if killed:
            crashsweep.killed(self)
        self.token_file = self.folder / "linode-token"
        self.token_file.write_text(linode.tokens[credential] if credential else linode.token)
        self.token_file.chmod(0o600)
        self.settings[LKE] = {"api-url": linode.url, "token-file": str(self.token_file),
                              "cluster-id": CLUSTERS[tier], **(settings or {})}
        for name, values in (actors or {}).items():
            self.settings[name] = {**self.settings.get(name, {}), **values}
        self.configure({"supervisor": {"log-format": "json", **(supervisor or {})},
                        "actors": {"metrics": {"enabled": False}, **self.settings}})

    def explain(self, name):
        return self.cli("explain", f"nodeclaim/{name}").stdout


@contextlib.contextmanager
def lke(tier="standard", speed=50, settings=None, crds=None, **more):
    """Machines become Nodes of the same muster-sim. crds: as prepare has it."""
    with lke_server(speed, crds) as linode, LkeTree(linode, tier, settings, **more) as tree:
        tree.wait_running()
        yield linode, tree


@contextlib.contextmanager
def lke_server(speed=50, crds=None, **more):
    """The muster-sim of that, with what prepare makes."""
    with Provider("linode", join=True, speed=speed, **more) as linode:
        prepare(linode.server, crds)
        yield linode


def stand_ins():
    """Names and versions of Karpenter's kinds, for machines without Go: any field is taken."""
    return [anycrds.crd("karpenter.sh", plural, kind, ("v1",), namespaced=False)
            for plural, kind in ((CLAIMS, "NodeClaim"), (POOLS, "NodePool"))]


def prepare(server, crds=None):
    """The definitions, a LinodeNodeClass and a NodePool. crds: Karpenter's, None for those of its module."""
    if isinstance(server, SimServer):
        server.install(ATTACHMENTS)
    server.install(*(crds or kubecrds.from_module(kubecrds.KARPENTER, CLAIMS, POOLS)),
                   ROOT / "deploy/crds/linodenodeclasses.yaml")
    server.kube.create(CLASSES, {"metadata": {"name": "default"}, "spec": {"tags": ["team-a"]}})
    nodepool(server, "general")


def nodepool(server, name):
    server.kube.create(POOLS, {"metadata": {"name": name}, "spec": {"template": {"spec": {
        "nodeClassRef": REFERENCE, "requirements": []}}}})


def claim_bodies(*names, pool="general", kind=TYPE, requests=None, reference=None, **spec):
    return [{"metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool}},
             "spec": {"nodeClassRef": reference or REFERENCE,
                      "requirements": [{"key": INSTANCE_TYPE, "operator": "In", "values": [kind]}],
                      "resources": {"requests": requests or {"cpu": "1", "memory": "1Gi"}}, **spec}}
            for name in names]


def claim(server, *names, **more):
    for body in claim_bodies(*names, **more):
        server.kube.create(CLAIMS, body)


def claims(server):
    return {item["metadata"]["name"]: item for item in server.kube.list(CLAIMS)["items"]}


def condition(item, kind):
    """(status, reason, message) of a condition; None: it has none."""
    for row in item.get("status", {}).get("conditions", []):
        if row["type"] == kind:
            return row["status"], row["reason"], row.get("message", "")
    return None


def is_ready(item):
    return (condition(item, "Ready") or [None])[0] == "True"


def wait_ready(linode, *names, timeout=60, server=None):
    """Until these NodeClaims are Ready; then each has one machine, that nobody else has, and its Node.
    server: where they are, if not on the muster-sim of the API."""
    server = server or linode.server

    def ready():
        there = claims(server)
        return all(name in there and is_ready(there[name]) for name in names)
    wait_for(ready, f"{', '.join(names)} are Ready", timeout)
    check_owners(linode, server)
    there = claims(server)
    nodes = {node["spec"].get("providerID"): node for node in server.kube.list("nodes")["items"]}
    for name in names:
        item, node = there[name], nodes[there[name]["status"]["providerID"]]
        labels = node["metadata"]["labels"]
        assert item["status"]["nodeName"] == node["metadata"]["name"], item["status"]
        assert labels["karpenter.sh/registered"] == labels["karpenter.sh/initialized"] == "true", labels
        assert TERMINATION in node["metadata"]["finalizers"] and TERMINATION in item["metadata"]["finalizers"]


def owners(linode):
    """instance id -> the names of its claims' tags."""
    return {node["instance"]: claim_tags(node["tags"]) for node in linode.state()["nodes"]}


def claim_tags(tags):
    """The names of claims in tags."""
    return [tag.removeprefix(mark) for tag in tags for mark in CLAIM_TAGS if tag.startswith(mark)]


def check_history(linode):
    """By the audit log, after each effect: no machine had two claims, no claim two machines, and no
    machine was passed from one claim to another. Returns how many were given."""
    owned, given = {}, {}
    for row in linode.effects():
        tagged = re.fullmatch(r"instance (\d+) tagged (.*)", row["effect"])
        gone = re.match(r"node \S+ deleted, instance (\d+)", row["effect"])
        if gone:
            owned.pop(int(gone[1]), None)
        if not tagged:
            continue
        machine, names = int(tagged[1]), claim_tags(json.loads(tagged[2]))
        assert len(names) <= 1, f"machine {machine} was given to {names}"
        for name in names:
            assert owned.setdefault(machine, name) == name, f"{machine}, of {owned[machine]}, to {name}"
            assert [key for key, value in owned.items() if value == name] == [machine], (name, owned)
            given[name] = machine
    return len(given)


def check_owners(linode, server=None):
    """Now: no machine has two claims, no claim two machines. A status never names the machine of another."""
    wrong = list(wrong_owners(linode, server))
    assert not wrong, wrong


def wrong_owners(linode, server=None):
    """A text for each violation of that. A machine has its tag before a status names it: so statuses are
    read first, then the machines."""
    named = {name: item.get("status", {}).get("providerID", "").removeprefix("linode://")
             for name, item in claims(server or linode.server).items()}
    tagged, machines = owners(linode), {}
    for machine, names in tagged.items():
        if len(names) > 1:
            yield f"machine {machine} has the tags of {', '.join(names)}"
        for name in names:
            machines.setdefault(name, []).append(machine)
    for name, mine in machines.items():
        if len(mine) > 1:
            yield f"{name} has the machines {mine}"
    for name, machine in named.items():
        if machine and tagged.get(int(machine), [tag_value(name)]) != [tag_value(name)]:
            yield f"the status of {name} names machine {machine}, whose tags are {tagged[int(machine)]}"


def wait_gone(server, *names, timeout=60):
    wait_for(lambda: not set(names) & set(claims(server)), f"{names} are gone", timeout)


@contextlib.contextmanager
def joined(linode, kube, types=None):
    """Meanwhile every running machine is a Node of that API server; with the machine the Node goes.
    types: {id: {"capacity", "allocatable"}}; without it all Nodes have the same size."""
    def body(node, kind):
        size = (types or {}).get(kind, {})
        made = joiner.node(node["name"], {}, f"linode://{node['instance']}", size.get("capacity"),
                           {INSTANCE_TYPE: kind, "lke.linode.com/pool-id": str(node["pool"])})
        made["status"].update(size and {"allocatable": size["allocatable"]})
        return made

    def machines():
        state = linode.state()
        kinds = {pool["id"]: pool["type"] for pool in state["pools"]}
        return {node["name"]: ("running", body(node, kinds[node["pool"]]))
                for node in state["nodes"] if node["machine"] in ("running", "joined", "ready")}

    with joiner.Joiner(machines, kube):
        yield


def events(linode, name):
    """The reasons of the Events about an object."""
    return [event["reason"] for event in linode.server.kube.list("events", "default")["items"]
            if (event.get("regarding") or event.get("involvedObject"))["name"] == name]


# -- by hand, at the provider

def by_hand(linode, method, path, body=None):
    answer = linode.api.raw(method, f"v4beta/{path}", body=body, query={"page_size": 500})
    assert answer.code == 200, (method, path, answer)
    return answer.json()


def own_pool(linode, count, tier="standard", kind=TYPE, pool="general"):
    """A pool with the tags of lke-claimer that it did not make."""
    return by_hand(linode, "POST", f"lke/clusters/{CLUSTERS[tier]}/pools", {
        "type": kind, "count": count,
        "tags": [f"karpenter.sh/nodepool:{pool}", f"{GROUP}/lke-managed:true"]})


def instances(linode):
    return by_hand(linode, "GET", "linode/instances")["data"]


def set_tags(linode, instance, tags):
    by_hand(linode, "PUT", f"linode/instances/{instance}", {"tags": tags})


def machine_of(linode, name):
    """The id of the machine that its status names."""
    return int(claims(linode.server)[name]["status"]["providerID"].removeprefix("linode://"))


def tag_value(name):
    """How a tag has the name of a NodeClaim (C4)."""
    if len(name) <= 27:
        return name
    number = 0x811C9DC5
    for byte in name.encode():
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{name[:18]}-{number:08x}"
