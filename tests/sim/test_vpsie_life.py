"""tests/sim/test_vpsie_life.py - vpsie-claimer on muster-sim: NodeGroups grow and shrink, slow and lost VMs.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from muster import wait_for
from vpsietree import (GROUPS, NODES, PREFIX, check_described, check_owners, claimer, condition, events,
                       group, make_group, nodes, phases, scale, wait_ready, worker_of, writes)


def D15_S1_S2_S3_a_NodeGroup_goes_from_0_to_5_to_2():
    """12.4 Full Provisioning Flow, Scale Down with Discovery."""
    with claimer() as (vpsie, tree):
        make_group(vpsie, "web", 5)
        wait_ready(vpsie, "web", 5)
        check_owners(vpsie)
        for name in nodes(vpsie):
            check_described(vpsie, name)
        assert len(vpsie.posts()) == 5 and len(vpsie.group("web")) == 1, vpsie.audit()
        text = tree.explain("vpsienode", next(iter(nodes(vpsie))))
        assert "has: the VPSieNode has it already" in text and "control-plane" in text, text
        assert "readyNodes" in tree.explain("nodegroup", "web"), tree.explain("nodegroup", "web")
        scale(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2)
        wait_for(lambda: len(vpsie.workers("running", "joined", "ready")) == 2, "three workers are deleted")
        kept = {item["spec"]["vpsieNodeIdentifier"] for item in nodes(vpsie).values()}
        assert kept == {row["identifier"] for row in vpsie.workers("running", "joined", "ready")}
        assert len(vpsie.posts()) == 5, vpsie.posts()
        before = writes(vpsie)
        kubesuite.pause(2)
        assert writes(vpsie) == before, "A1 it writes without a cause"
        vpsie.server.kube.delete(GROUPS, "web", "default")
        wait_for(lambda: not vpsie.server.kube.list(GROUPS, "default")["items"] and not nodes(vpsie),
                 "all is gone")
        assert not vpsie.workers("running", "joined", "ready"), vpsie.workers()


def D10_D14_a_VM_that_never_appears_fails_and_a_slow_one_does_not():
    with claimer(claimer={"provisioning-timeout": "20s"}) as (vpsie, tree):
        vpsie.next({"never": True}, {"delay_ms": 90000})
        make_group(vpsie, "web", 3)
        wait_for(lambda: sorted(phases(vpsie).values()) == ["Failed", "Ready", "Ready"],
                 "one fails, two are ready")
        failed, = [item for item in nodes(vpsie).values() if item["status"]["phase"] == "Failed"]
        error = condition(failed, "Error")
        assert error["reason"] == "DiscoveryTimeout", failed
        assert "discovery timeout" in failed["status"]["lastError"], failed
        assert "DiscoveryTimeout" in events(vpsie, failed["metadata"]["name"])
        wait_for(lambda: group(vpsie, "web")["status"].get("readyNodes") == 2, "S2 a failed one is not ready")
        assert group(vpsie, "web")["status"]["currentNodes"] == 3, "S1 it counts"
        kubesuite.pause(1)
        assert len(vpsie.posts()) == 3, "E4 nothing replaces it"
        vpsie.server.kube.delete(NODES, failed["metadata"]["name"], "default")
        wait_for(lambda: failed["metadata"]["name"] not in nodes(vpsie), "it is cleaned up by hand", 60)
        wait_ready(vpsie, "web", 3)
        check_owners(vpsie)
        assert len(vpsie.posts()) == 4, vpsie.posts()


def D23_lost_answers_and_429s_make_no_second_VM():
    with claimer() as (vpsie, _):
        lost = vpsie.fault("lost", "add-worker", count=2)
        vpsie.fault("status", "add-worker", code=429, retry_after="1", after=2)
        make_group(vpsie, "web", 5)
        wait_ready(vpsie, "web", 5)
        check_owners(vpsie)
        made = [row for row in vpsie.posts() if row["effect"]]
        assert vpsie.hits(lost) == 2 and len(made) == 5, vpsie.posts()
        assert len(vpsie.workers()) == 5, vpsie.workers()


def D11_a_humans_own_worker_is_left_alone():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 1)
        wait_ready(vpsie, "web", 1)
        vpsie.add_outside(group=vpsie.group("web")[0]["id"])
        wait_for(lambda: len(vpsie.workers("ready")) == 2, "the human's worker is there")
        scale(vpsie, "web", 3)
        wait_ready(vpsie, "web", 3)
        check_owners(vpsie)
        assert len(vpsie.workers()) == 4 and len(vpsie.posts()) == 4, vpsie.workers()
        vpsie.server.kube.delete(GROUPS, "web", "default")
        wait_for(lambda: not nodes(vpsie), "all VPSieNodes are gone")
        wait_for(lambda: len(vpsie.workers("running", "joined", "ready")) == 1, "the human's worker stays")


def D21_a_Node_that_goes_and_a_VM_that_somebody_deletes():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2)
        first, second = sorted(nodes(vpsie))
        node = nodes(vpsie)[first]["status"]["nodeName"]
        vpsie.server.kube.delete("nodes", node)
        wait_for(lambda: nodes(vpsie)[first]["status"]["phase"] in ("Joining", "Ready")
                 and nodes(vpsie)[first]["status"].get("nodeName") != node
                 or condition(nodes(vpsie)[first], "NodeJoined").get("status") == "False",
                 "it searches for its Node again")
        vpsie.delete_outside(worker_of(vpsie, nodes(vpsie)[second]))
        wait_for(lambda: phases(vpsie)[second] == "Failed", "its VM is gone")
        assert condition(nodes(vpsie)[second], "Error")["reason"] == "VPSNotFound", nodes(vpsie)[second]
        assert len(vpsie.posts()) == 2, vpsie.posts()


def L5_D23_labels_that_are_removed_by_hand_come_back():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 1)
        wait_ready(vpsie, "web", 1)
        name, = nodes(vpsie)
        node = nodes(vpsie)[name]["status"]["nodeName"]
        vpsie.server.kube.merge("nodes", node, {"metadata": {"labels": {
            f"{PREFIX}nodegroup": None, f"{PREFIX}vpsienode": None, f"{PREFIX}managed": "no"}}})
        label = f"{PREFIX}vpsienode"
        wait_for(lambda: vpsie.server.kube.get("nodes", node)["metadata"]["labels"].get(label) == name,
                 "the labels are back")
        check_described(vpsie, name)


tap.side_by_side(
    D15_S1_S2_S3_a_NodeGroup_goes_from_0_to_5_to_2,
    D10_D14_a_VM_that_never_appears_fails_and_a_slow_one_does_not,
    D23_lost_answers_and_429s_make_no_second_VM,
    D11_a_humans_own_worker_is_left_alone,
    D21_a_Node_that_goes_and_a_VM_that_somebody_deletes,
    L5_D23_labels_that_are_removed_by_hand_come_back)
tap.main()
