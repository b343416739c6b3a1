"""tests/lib/kubecases_hostile.py - objects that cannot be read, in every kind that is read (issue 10.9).

Each is skipped alone: the rest of its kind is read on, it is counted and named, its deletion is processed,
and a live list that contains it works. From a real server the built-in kinds come as protobuf.
"""
import contextlib
import json
import re

import kube
import kubesuite
import tap
from kube import KubeError
from kubesuite import case
from kubetree import WATCHER, key_of
from muster import wait_for
from rolloutcrds import CONFIG_GROUP, INSIGHT_GROUP, INSIGHTS, MCO_GROUP
from rollouttree import NodesTree

ENTRIES = 15001         # texts of an object: 30,000 at most; a map has two for each entry
LARGE = "x" * 1_000_000
HELD_BY_TEST = ("nodes", "pods", "namespaces", "widgets")


def deep(levels=400):
    value = "bottom"
    for _ in range(levels):
        value = {"x": value}
    return value


def texts(prefix, count=ENTRIES):
    return {f"{prefix}{number}": "" for number in range(count)}


def labels(count=ENTRIES):
    return {"metadata": {"labels": texts("l", count)}}


def annotations():
    return {"metadata": {"annotations": texts("a")}}


def spec(**fields):
    return {"spec": fields}


def status(**fields):
    return {"status": fields}


def owners():
    return {"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": f"u{number}"} for number in range(7501)]}}


def taints():
    return spec(taints=[{"key": f"k{number}", "effect": "NoSchedule"} for number in range(10001)])


def conditions(count=10001):
    return [{"type": f"C{number}", "status": "True"} for number in range(count)]


# resource -> what is hostile there: title -> the part of an object that cannot be read.
HOSTILE = {
    "nodes": {"labels": labels(), "annotations": annotations(), "taints": taints()},
    "pods": {"labels": labels(), "owners": owners()},
    "namespaces": {"labels": labels()},
    "widgets": {
        "labels": labels(), "finalizers": {"metadata": {"finalizers": [f"x.io/f{n}" for n in range(30001)]}},
        "large": spec(color=LARGE), "deep": spec(any=deep()), "text-for-number": spec(size="9"),
        "fraction": spec(size=1.5), "above-64-bits": spec(size=20000000000000000000),
        "number-for-text": spec(color=5),
        "list-for-text": spec(color=[]), "spec-is-text": {"spec": "x"}, "list-for-spec": {"spec": []},
        "conditions": status(conditions=conditions()), "conditions-are-text": status(conditions="x"),
        "condition-is-number": status(conditions=[5])},
    "machineconfigpools": {
        "labels": labels(), "annotations": annotations(), "large": spec(nodeSelector={"x": LARGE}),
        "deep": spec(nodeSelector=deep()), "text-for-flag": spec(paused="true"),
        "number-for-flag": spec(paused=1)},
    "machineconfigs": {"annotations": annotations()},
    "clusterversions": {
        "history": status(history=[{"state": "Completed", "version": "1"}] * 15001),
        "history-is-object": status(history={}), "number-for-version": status(history=[{"version": 4.2}]),
        "text-for-entry": status(history=["x"]), "status-is-list": {"status": []}},
    "nodeprogressinsights": {
        "large": status(message=LARGE), "number-for-text": status(name=1),
        "pool-is-text": status(poolResource="x"),
        "conditions": status(conditions=conditions()), "object-for-text": status(message={})},
    "machineconfigpoolprogressinsights": {
        "large": status(assessment=LARGE), "text-for-number": status(completionPercent="1"),
        "fraction": status(completionPercent=1.5), "count-is-text": status(summaries=[{"count": "1"}]),
        "summaries": status(summaries=[{"type": "t", "count": 1}] * 15001)},
}
# insight deletes the insight of a node or a pool that is not there.
KEPT = [resource for resource in HOSTILE if resource not in INSIGHTS]
KINDS = {"Widget": ("test.muster.dev", "v1"), "MachineConfigPool": (MCO_GROUP, "v1"),
         "MachineConfig": (MCO_GROUP, "v1"), "ClusterVersion": (CONFIG_GROUP, "v1"),
         "NodeProgressInsight": (INSIGHT_GROUP, "v1alpha1"),
         "MachineConfigPoolProgressInsight": (INSIGHT_GROUP, "v1alpha1")}


def permissive(kind, group, version):
    """A definition that accepts anything in spec and status, as some operators' definitions do."""
    plural = kind.lower() + "s"
    any_ = {"x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced" if kind == "Widget" else "Cluster",
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind,
                               "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {
                         "openAPIV3Schema": {"type": "object",
                                             "properties": {"spec": any_, "status": any_}}}}]}}


def install(server):
    server.install(*(permissive(kind, *place) for kind, place in KINDS.items()))


def body(resource, name, part=None):
    """A good object, and over it what is hostile."""
    made = {"metadata": {"name": name}}
    if resource == "pods":
        made["spec"] = {"containers": [{"name": "c", "image": "nothing"}]}
    for member, value in (part or {}).items():
        if isinstance(value, dict):
            made[member] = {**made.get(member, {}), **value}
        else:
            made[member] = value
    return json.loads(json.dumps(made))


def create_hostile(server):
    """resource -> keys of the objects that the server took."""
    accepted = {}
    for resource, parts in HOSTILE.items():
        accepted[resource] = []
        for title, part in parts.items():
            if title == "owners":       # one of them is there, or it would be collected as garbage
                node = server.kube.get("nodes", "good")["metadata"]
                part["metadata"]["ownerReferences"][0].update(name=node["name"], uid=node["uid"])
            try:
                made = server.kube.create(resource, body(resource, f"bad-{title}", part))
            except KubeError as error:
                tap.note(f"{resource} {title}: the server refuses it: {error.code} {str(error)[:100]}")
                continue
            accepted[resource].append(key_of(resource, made))
    return accepted


def remove(server, resource, name):
    namespace = "default" if kube.RESOURCES[resource].namespaced else None
    path = server.kube.path(resource, name, namespace)
    if resource == "widgets" and "finalizers" in name:
        server.kube.merge(resource, name, {"metadata": {"finalizers": None}})
    with contextlib.suppress(KubeError):
        server.kube.call("DELETE", path, query={"gracePeriodSeconds": "0"})
    if resource == "namespaces" and (left := server.kube.find(resource, name)):
        left["spec"]["finalizers"] = []         # no controller does it here
        with contextlib.suppress(KubeError):
            server.kube.replace(resource, left, sub="finalize")
    wait_for(lambda: server.kube.find(resource, name) is None, f"{resource}/{name} is deleted")


def clear(server):
    for resource in HOSTILE:
        for item in server.kube.list(resource)["items"]:
            if re.match("bad-|good", item["metadata"]["name"]):
                remove(server, resource, item["metadata"]["name"])


class Tree(NodesTree):
    """Every reader of every kind, and the page of the metrics."""

    def __init__(self, server):
        super().__init__(server, downs=0, metrics=True)
        self.readers = ["test-kube-1"]
        self.settings["test-kube-1"] = {"socket": str(self.run_dir / "test-kube-1" / "ask.sock")}
        page = {f"{what}-bind-address": "127.0.0.1:0" for what in ("metrics", "health-probe")}
        self.configure({"supervisor": {"log-format": "json"}, "actors": {"metrics": page, **self.settings}})

    def begin(self, op, number=1, **fields):
        return super(NodesTree, self).begin(op, number, **fields)

    def gauge(self, name):
        """kind -> value of a metric of kube-watcher."""
        found = {}
        for series, value in self.scrape().items():
            kind = series.startswith(name + "{") and re.search(r'\bkind="([^"]*)"', series)
            if kind:
                found[kind[1]] = int(value)
        return found

    def wait_counts(self, skipped, good):
        """Until each kind has so many objects that are skipped, and so many of ours that are read."""
        def settled():
            seen = {"skipped": self.gauge("muster_skipped_objects"),
                    "read": self.gauge("muster_cache_objects")}
            differences[:] = [
                f"{kind}: {what} {seen[what].get(kind)}, not {count}"
                for what, wanted in (("skipped", skipped), ("read", good)) for kind, count in wanted.items()
                if seen[what].get(kind) != count]
            return not differences
        differences = []
        try:
            self.wait(settled, "the counts of each kind", timeout=120, every=0.5)
        except AssertionError as late:
            raise AssertionError(f"{late}: {differences}") from None


def others(server):
    """The objects that are not ours: there are namespaces of the server."""
    return {resource: sum(not re.match("bad-|good", name) for name in server.kube.names(resource))
            for resource in HOSTILE}


def check_named(tree, accepted):
    """In the log by its key, in the status line, in message KIND."""
    log = [json.loads(line) for line in tree.log().splitlines() if '"object skipped' in line]
    named = {row["object"] for row in log if row["msg"].startswith("object skipped")}
    missing = {key for keys in accepted.values() for key in keys} - named
    assert not missing, f"not in the log: {missing}"
    tree.wait(lambda: re.search(r"skipped: [a-z]+/[^ ]*bad-", tree.actor(WATCHER)["status"]),
              "the status names one")
    for resource in HELD_BY_TEST:
        kind = tree.kind(resource)
        assert (kind["state"], kind["skipped"]) == ("synced", len(accepted[resource])), kind
        assert f"{resource}/" in kind["detail"], kind
        held = set(tree.objects(resource))
        assert not held & set(accepted[resource]), "nobody holds what could not be read"


def check_live_list(tree, accepted):
    for resource in HELD_BY_TEST:
        answer = tree.write("list", resource, namespace="")
        keys = {row["key"] for row in answer["objects"]}
        assert any(key.endswith("/good") for key in keys), f"{resource}: {keys}"
        assert not keys & set(accepted[resource])
        assert f"{len(accepted[resource])} objects skipped" in answer["message"], answer["message"]


def check_insights_go_on(server):
    """insight deletes the insights that it has read and that belong to no node and no pool."""
    for resource in INSIGHTS:
        server.kube.create(resource, body(resource, "good-orphan"))
        wait_for(lambda: server.kube.find(resource, "good-orphan") is None, f"insight has read {resource}")


def spoil(server, resource, name):
    """good-2 gets what is hostile in another object."""
    bad, good = server.kube.get(resource, name), server.kube.get(resource, "good-2")
    members = {"pods": [], "namespaces": [], "nodes": ["spec"]}.get(resource, ["spec", "status"])
    good.update({member: bad[member] for member in members if member in bad})
    for member in ("labels", "annotations", "ownerReferences"):
        if member in bad["metadata"]:
            good["metadata"][member] = bad["metadata"][member]
    server.kube.replace(resource, good)


def sweep(server):
    clear(server)
    for resource in KEPT:
        server.kube.create(resource, body(resource, "good"))
    rest = others(server)

    def good(count):
        return {resource: rest[resource] + count for resource in KEPT}
    with Tree(server) as tree:
        tree.wait_running()
        tree.wait_counts(dict.fromkeys(HOSTILE, 0), good(1))
        # Over the watch.
        accepted = create_hostile(server)
        skipped = {resource: len(keys) for resource, keys in accepted.items()}
        assert all(skipped.values()), f"nothing hostile in a kind: {skipped}"
        tap.note(f"{sum(skipped.values())} objects: {skipped}")
        tree.wait_counts(skipped, good(1))
        for resource in KEPT:
            server.kube.create(resource, body(resource, "good-2"))
        tree.wait_counts(skipped, good(2))
        check_insights_go_on(server)
        check_named(tree, accepted)
        check_live_list(tree, accepted)
        # In the first list of another kube-watcher.
        tree.revive(WATCHER)
        tree.wait_running()
        tree.wait_counts(skipped, good(2))
        check_named(tree, accepted)
        check_insights_go_on(server)
        # An object that was read becomes one that cannot be, and is read again after its repair.
        made = {resource: server.kube.get(resource, "good-2") for resource in KEPT}
        for resource in KEPT:
            spoil(server, resource, accepted[resource][-1].split("/")[-1])
        tree.wait_counts({r: n + (r in KEPT) for r, n in skipped.items()}, good(1))
        for resource in HELD_BY_TEST:
            kept = [key for key in tree.objects(resource) if key.endswith("/good-2")]
            assert not kept, "its last value is retracted"
        for resource, item in made.items():
            now = server.kube.get(resource, "good-2")["metadata"]
            item["metadata"]["resourceVersion"] = now["resourceVersion"]
            server.kube.replace(resource, item)
        tree.wait_counts(skipped, good(2))
        # Their DELETED events, whose objects cannot be read either.
        for resource, keys in accepted.items():
            for key in keys:
                remove(server, resource, key.split("/")[-1])
        tree.wait_counts(dict.fromkeys(HOSTILE, 0), good(2))
        tree.wait(lambda: "skipped" not in tree.actor(WATCHER)["status"], "the status names none")
        assert tree.actor(WATCHER)["restarts"] == 1, "the one that we killed"


@case
def an_object_that_cannot_be_read_is_skipped_alone_in_every_kind(server):
    sweep(server)


def run(make, *more):
    kubesuite.run(make, *more, prepare=install)
