"""tests/sim/test_lke_delete.py - the end of a NodeClaim (C8): drains, deadlines, Nodes that others delete.

With real processes on muster-sim, which finishes a deleted Pod at once, but for one with a finalizer.

muster-test: parallel
muster-test: timeout=400
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from lketree import (CLAIMS, TERMINATION, claim, claims, condition, events, instances, lke, machine_of,
                     owners, wait_gone, wait_ready)
from muster import wait_for
from podkeeper import pod

NEVER_MS = 10 ** 9
DISRUPTED, DEADLINE = "karpenter.sh/disrupted", "karpenter.sh/nodeclaim-termination-timestamp"
HOLD = "example.com/hold"
KEEP = {"karpenter.sh/do-not-disrupt": "true"}
WEB = {"app": "web"}


def node_of(linode, name):
    return claims(linode.server)[name]["status"]["nodeName"]


def make(linode, *pods):
    """Running and ready."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    for body in pods:
        linode.server.kube.create("pods", body, "default")
        linode.server.kube.merge("pods", body["metadata"]["name"], {"status": status}, "default",
                                 sub="status")


def budget(linode, name, labels):
    """It refuses every eviction: without a disruption controller it has no status."""
    linode.server.kube.create("poddisruptionbudgets", {"metadata": {"name": name}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": labels}}}, "default")


def on(linode, node):
    return sorted(item["metadata"]["name"] for item in linode.server.kube.list("pods", "default")["items"]
                  if item["spec"].get("nodeName") == node)


def going(linode, name, kind, status):
    """That condition of a NodeClaim that is being deleted; False once it is gone."""
    item = claims(linode.server).get(name)
    return item is not None and (condition(item, kind) or [None])[0] == status


def pod_requests(linode, verb, subresource=""):
    """The names of Pods that muster has sent that request about."""
    return {row["name"] for row in linode.server.audit() if row["resource"] == "pods" and row["verb"] == verb
            and row["subresource"] == subresource and row["user-agent"].startswith("muster-")}


def C8_a_drain_waits_for_budgets_and_do_not_disrupt():
    with lke("standard") as (linode, tree):
        kube = linode.server.kube
        claim(linode.server, "a")
        wait_ready(linode, "a")
        node, machine = node_of(linode, "a"), machine_of(linode, "a")
        make(linode, pod("web", node, WEB), pod("keep", node, annotations=KEEP), pod("plain", node))
        budget(linode, "web", WEB)
        kube.delete(CLAIMS, "a")
        wait_for(lambda: on(linode, node) == ["keep", "web"], "what may leave has left")
        wait_for(lambda: "web" in pod_requests(linode, "create", "eviction"), "the other one was tried")
        assert going(linode, "a", "Drained", "Unknown"), claims(linode.server)
        found = kube.get("nodes", node)
        assert {"key": DISRUPTED, "effect": "NoSchedule"} in found["spec"]["taints"], found["spec"]
        assert not found["spec"].get("unschedulable"), "no cordon"
        labels = found["metadata"]["labels"]
        assert labels["node.kubernetes.io/exclude-from-external-load-balancers"] == "karpenter", labels
        assert found["metadata"]["deletionTimestamp"], "the Node is deleted with its claim"
        assert machine in owners(linode) and "keep" not in pod_requests(linode, "create", "eviction")
        assert "drain" in tree.explain("a"), tree.explain("a")
        kube.delete("poddisruptionbudgets", "web", "default")
        wait_for(lambda: on(linode, node) == ["keep"], "the budget is gone")
        assert machine in owners(linode), "do-not-disrupt is waited for"
        kube.delete("pods", "keep", "default")
        wait_gone(linode.server, "a")
        wait_for(lambda: machine not in owners(linode), "its machine is gone")
        assert kube.find("nodes", node) is None and not pod_requests(linode, "delete"), "evictions alone"


def C8_with_a_terminationGracePeriod_Pods_are_deleted_before_the_deadline():
    with lke("standard") as (linode, _):
        claim(linode.server, "a", terminationGracePeriod="600s")
        wait_ready(linode, "a")
        node = node_of(linode, "a")
        late = pod("late", node, annotations=KEEP)
        late["spec"]["terminationGracePeriodSeconds"] = 3600        # so that its time has come
        make(linode, late, pod("web", node, WEB))
        budget(linode, "web", WEB)
        linode.server.kube.delete(CLAIMS, "a")
        wait_for(lambda: pod_requests(linode, "delete"), "a Pod is deleted")
        found = claims(linode.server)["a"]["metadata"]
        assert found["annotations"][DEADLINE] > found["deletionTimestamp"], found
        assert pod_requests(linode, "delete") == {"late"}, "web has 30 s of its own, the deadline is later"
        linode.server.kube.merge(CLAIMS, "a", {"metadata": {"annotations": {
            DEADLINE: found["deletionTimestamp"]}}})
        wait_gone(linode.server, "a")
        wait_for(lambda: "DrainFailed" in events(linode, "a"), "an Event: a Pod was left")
        wait_for(lambda: not owners(linode), "its machine is gone")


def C8_at_the_deadline_the_machine_goes_with_what_is_attached():
    with lke("standard") as (linode, _):
        kube = linode.server.kube
        claim(linode.server, "a", terminationGracePeriod="8s")
        wait_ready(linode, "a")
        kube.merge(CLAIMS, "a", {"metadata": {"finalizers": [TERMINATION, HOLD]}})   # to be read in the end
        node = node_of(linode, "a")
        kube.call("POST", "apis/storage.k8s.io/v1/volumeattachments", body={
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "v"},
            "spec": {"nodeName": node, "attacher": "csi", "source": {"persistentVolumeName": "pv"}}})
        kube.delete(CLAIMS, "a")
        wait_for(lambda: going(linode, "a", "VolumesDetached", "False"), "the deadline")
        [row] = [row for row in claims(linode.server)["a"]["status"]["conditions"]
                 if row["type"] == "VolumesDetached"]
        assert row["reason"] == "TerminationGracePeriodElapsed", row
        wait_for(lambda: claims(linode.server)["a"]["metadata"]["finalizers"] == [HOLD], "it is released")
        assert not owners(linode)


def C8_a_Node_that_somebody_deletes_takes_its_claim_along():
    with lke("enterprise") as (linode, _):
        claim(linode.server, "a", "b")
        wait_ready(linode, "a", "b")
        node = node_of(linode, "a")
        make(linode, pod("plain", node))
        linode.server.kube.delete("nodes", node)
        wait_gone(linode.server, "a")
        assert "NodeDeleted" in events(linode, "a"), events(linode, "a")
        assert pod_requests(linode, "create", "eviction") == {"plain"}, "it was drained"
        wait_for(lambda: list(owners(linode).values()) == [["b"]], "its machine is gone, the other stays")


def C8_defect_4_before_its_Node_in_Enterprise_while_nodes_lag():
    """The original finds no LKE node then, reports that there is no machine, and leaks it."""
    with lke("enterprise", speed=10) as (linode, _):
        linode.set("nodes_lag_ms", NEVER_MS)
        claim(linode.server, "a", "b")
        wait_for(lambda: sorted(map(str, owners(linode).values())) == ["['a']", "['b']"],
                 "both have a machine")
        linode.server.kube.delete(CLAIMS, "a")
        wait_gone(linode.server, "a")
        wait_for(lambda: [item["tags"] for item in instances(linode) if "karpenter.sh/nodeclaim:a"
                          in item["tags"]] == [], "its machine is gone")
        wait_ready(linode, "b")
        assert not linode.server.kube.list("nodes")["items"][1:], "one Node"
        linode.server.kube.delete(CLAIMS, "b")
        wait_gone(linode.server, "b")
        wait_for(lambda: linode.state() == {"pools": [], "nodes": []}, "nothing is left")


def C19_a_claim_of_the_same_name_begins_anew():
    """The second one is drained, too: that the first one's Node was drained does not count for it."""
    with lke("standard") as (linode, _):
        for number in range(2):
            claim(linode.server, *("a", "stays")[:2 - number])
            wait_ready(linode, "a", "stays")
            make(linode, pod(f"plain{number}", node_of(linode, "a")))
            linode.server.kube.delete(CLAIMS, "a")
            wait_gone(linode.server, "a")
        assert pod_requests(linode, "create", "eviction") == {"plain0", "plain1"}


tap.side_by_side(C8_a_drain_waits_for_budgets_and_do_not_disrupt,
                 C8_with_a_terminationGracePeriod_Pods_are_deleted_before_the_deadline,
                 C8_at_the_deadline_the_machine_goes_with_what_is_attached,
                 C8_a_Node_that_somebody_deletes_takes_its_claim_along,
                 C8_defect_4_before_its_Node_in_Enterprise_while_nodes_lag,
                 C19_a_claim_of_the_same_name_begins_anew)
tap.main()
