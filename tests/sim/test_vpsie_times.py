"""tests/sim/test_vpsie_times.py - vpsie-claimer: what ends after a time, a drain, and who is removed first.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from muster import wait_for
from podkeeper import PodKeeper, pod
from vpsietree import (NODES, PREFIX, alive, check_described, check_owners, claimer, condition, events, group,
                       make_group, make_node, nodes, phases, scale, wait_calm, wait_phase, wait_ready,
                       worker_of)


def the_one(vpsie):
    item, = nodes(vpsie).values()
    return item


def D6_E3_E4_D14_failed_ttl_removes_a_Failed_one_and_its_NodeGroup_makes_another():
    """12.4 Recovery from Timeout: stuck, timeout, Failed, cleaned up."""
    with claimer(claimer={"provisioning-timeout": "15s", "failed-ttl": "3s"}) as (vpsie, _):
        vpsie.next({"never": True})
        make_group(vpsie, "web", 1)
        wait_for(lambda: "Failed" in phases(vpsie).values(), "no machine comes")
        first = the_one(vpsie)
        name = first["metadata"]["name"]
        assert condition(first, "Error")["reason"] == "DiscoveryTimeout", first
        assert first["status"]["lastError"] == (
            "VPS discovery timeout: unable to discover VPS ID after async provisioning"), first
        # The request may have been sent, so lists must first prove for half a minute that it was not.
        wait_for(lambda: name not in nodes(vpsie), "failed-ttl has passed", 120)
        wait_ready(vpsie, "web", 1)
        assert len(vpsie.posts()) == 2 and "DiscoveryTimeout" in events(vpsie, name)


def D14_M4_no_Node_within_joining_timeout_is_Failed():
    with claimer(sim={"join": False}, claimer={"joining-timeout": "15s"}) as (vpsie, tree):
        make_group(vpsie, "web", 1)
        wait_for(lambda: "Joining" in phases(vpsie).values(), "its machine runs")
        name = the_one(vpsie)["metadata"]["name"]
        wait_for(lambda: "NodeNotFound" in events(vpsie, name), "D20 one warning after several lists")
        item = wait_phase(vpsie, name, "Failed")
        assert condition(item, "Error")["reason"] == "JoiningTimeout", item
        assert condition(item, "VPSReady")["status"] == "True", item
        assert condition(item, "NodeJoined")["status"] == "False", item
        # E1: what is logged has the object, cluster and group, the time that has passed, and the cause.
        fact, = tree.facts(msg="a VPSieNode failed")
        assert fact["reason"] == "JoiningTimeout" and name in fact["object"], fact
        assert item["spec"]["resourceIdentifier"] in fact["value"] and fact["duration_ms"] > 0, fact
        assert len(alive(vpsie)) == 1, "E4 its machine is not deleted"
        vpsie.server.kube.delete(NODES, name, "default")
        wait_for(lambda: name not in nodes(vpsie), "it is cleaned up by hand")


def D14_D18_an_id_that_never_appears_is_a_ProvisioningTimeout():
    with claimer(claimer={"provisioning-timeout": "3s"}) as (vpsie, _):
        make_node(vpsie, "by-hand", "web", spec={"vpsieInstanceID": 49999})
        make_group(vpsie, "web", None, low=1)
        item = wait_phase(vpsie, "by-hand", "Failed")
        assert condition(item, "Error")["reason"] == "ProvisioningTimeout", item
        assert item["status"]["lastError"] == "VPS provisioning timeout exceeded", item
        assert [row for row in vpsie.audit("GET") if row["path"].endswith("/vm/49999")], "it is read"
        assert not vpsie.posts(), vpsie.posts()


def D15_a_Node_is_drained_as_its_budget_permits_before_its_machine_goes():
    """12.4 Scale Down with Discovery."""
    with claimer() as (vpsie, tree):
        make_group(vpsie, "web", 1)
        wait_ready(vpsie, "web", 1)
        item = the_one(vpsie)
        node, name = item["status"]["nodeName"], item["metadata"]["name"]
        with PodKeeper(vpsie.server.kube) as keeper:
            keeper.make(pod("p1", node, {"app": "web"}), pod("p2", node, {"app": "web"}))
            keeper.wait_ready({"app": "web"}, 2)
            keeper.budget("web", {"app": "web"}, least=2)
            scale(vpsie, "web", 0)
            wait_for(lambda: vpsie.server.kube.get("nodes", node)["spec"].get("unschedulable"), "cordoned")
            wait_phase(vpsie, name, "Terminating")
            wait_for(lambda: [row for row in vpsie.server.audit() if row["subresource"] == "eviction"],
                     "the budget is asked")
            kubesuite.pause(1)
            assert keeper.on(node) == ["p1", "p2"] and len(alive(vpsie)) == 1, "the budget holds"
            assert "drain" in tree.explain("vpsienode", name), tree.explain("vpsienode", name)
            keeper.make(pod("p3", "another-node", {"app": "web"}), pod("p4", "another-node", {"app": "web"}))
            wait_for(lambda: not nodes(vpsie), "it is gone")
            assert not alive(vpsie) and keeper.on(node) == [], vpsie.workers()
            assert keeper.least_ready({"app": "web"}, 2) == 2, "the budget was kept all the time"
        wait_for(lambda: node not in [row["metadata"]["name"] for row in
                                      vpsie.server.kube.list("nodes")["items"]], "its Node is gone, too")


def D21_NodeReady_follows_the_Node_and_nothing_is_made():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2)
        item = next(iter(nodes(vpsie).values()))
        name = item["metadata"]["name"]
        vpsie.kill(item["status"]["nodeName"])
        wait_for(lambda: condition(nodes(vpsie)[name], "NodeReady").get("status") == "False", "NotReady")
        assert phases(vpsie)[name] == "Ready", "its machine is there: it is not replaced"
        wait_calm(vpsie)
        assert len(vpsie.posts()) == 2 and len(alive(vpsie)) == 2, vpsie.posts()


def D15_D23_who_is_removed_first_and_who_never():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 5)
        wait_ready(vpsie, "web", 5)
        ids = sorted(nodes(vpsie))
        items, kube = nodes(vpsie), vpsie.server.kube

        def mark(resource, name, kind, key, value, namespace=None):
            kube.merge(resource, name, {"metadata": {kind: {PREFIX + key: value}}}, namespace)
        mark(NODES, ids[0], "annotations", "protected", "true", "default")
        mark("nodes", items[ids[1]]["status"]["nodeName"], "labels", "scale-down-disabled", "true")
        mark("nodes", items[ids[2]]["status"]["nodeName"], "annotations", "scale-down", "disabled")
        mark(NODES, ids[3], "annotations", "scale-down", "true", "default")
        scale(vpsie, "web", 4)
        wait_ready(vpsie, "web", 4)
        assert sorted(nodes(vpsie)) == [name for name in ids if name != ids[3]], "the annotated one goes"
        scale(vpsie, "web", 1)
        wait_for(lambda: sorted(nodes(vpsie)) == ids[:3], "one may go, three are protected")
        wait_calm(vpsie)
        assert sorted(nodes(vpsie)) == ids[:3] and len(alive(vpsie)) == 3, phases(vpsie)
        assert condition(group(vpsie, "web"), "Scaling")["status"] == "True", group(vpsie, "web")
        # A deleted NodeGroup removes all, protected or not.
        kube.delete("nodegroups", "web", "default")
        wait_for(lambda: not nodes(vpsie) and not alive(vpsie), "all are gone")


def D13_two_namespaces_with_equal_names_share_a_group_and_nothing_else():
    spaces = ("default", "other")

    def prepare(vpsie):
        vpsie.server.kube.create("namespaces", {"metadata": {"name": "other"}})
        vpsie.set("groups_lag_ms", 30000)       # a second at this speed: no list has a new group

    with claimer(prepare=prepare) as (vpsie, _):
        for space in spaces:
            make_node(vpsie, "web-0", "web", namespace=space)
        for space in spaces:
            make_group(vpsie, "web", None, low=3, namespace=space)
        for space in spaces:
            wait_ready(vpsie, "web", 3, space)
        assert len(vpsie.group("web")) == 1, "one group of the platform, made once"
        check_owners(vpsie, spaces)
        for space in spaces:
            for name in nodes(vpsie, space):
                check_described(vpsie, name, space)
        assert len(vpsie.posts()) == 6 and len(alive(vpsie)) == 6, vpsie.posts()
        mine = {item["spec"]["vpsieNodeIdentifier"] for item in nodes(vpsie, "other").values()}
        vpsie.server.kube.delete("nodegroups", "web", "default")
        wait_for(lambda: not nodes(vpsie), "those of one namespace go")
        assert {row["identifier"] for row in alive(vpsie)} == mine, "and no others"
        wait_ready(vpsie, "web", 3, "other")


def D11_the_answer_has_the_worker_and_somebody_deletes_its_VM():
    """The other form of the answer: what it had counts until the object has it, then lists do."""
    def prepare(vpsie):
        vpsie.set("answer_object", 1)

    with claimer(prepare=prepare) as (vpsie, _):
        make_group(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2)
        check_owners(vpsie)
        item = next(iter(nodes(vpsie).values()))
        vpsie.delete_outside(worker_of(vpsie, item))
        failed = wait_phase(vpsie, item["metadata"]["name"], "Failed")
        assert condition(failed, "Error")["reason"] == "VPSNotFound", failed
        assert len(vpsie.posts()) == 2, vpsie.posts()


tap.side_by_side(
    D6_E3_E4_D14_failed_ttl_removes_a_Failed_one_and_its_NodeGroup_makes_another,
    D14_M4_no_Node_within_joining_timeout_is_Failed,
    D14_D18_an_id_that_never_appears_is_a_ProvisioningTimeout,
    D15_a_Node_is_drained_as_its_budget_permits_before_its_machine_goes,
    D21_NodeReady_follows_the_Node_and_nothing_is_made,
    D15_D23_who_is_removed_first_and_who_never,
    D13_two_namespaces_with_equal_names_share_a_group_and_nothing_else,
    D11_the_answer_has_the_worker_and_somebody_deletes_its_VM)
tap.main()
