"""tests/sim/test_vpsie_lists.py - vpsie-claimer: what lists of the provider may contain or lack, and Nodes.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from muster import wait_for
from vpsietree import (NODES, alive, check_described, check_owners, claimer, condition, group, make_group,
                       make_node, nodes, phases, scale, wait_calm, wait_ready, worker_of)


def M4_L4_L5_a_Node_that_joined_before_the_discovery_and_changed_since_is_labelled():
    """What changes of it is nothing that node-state reads, so its fact keeps an old resourceVersion."""
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 0)
        wait_for(lambda: group(vpsie, "web").get("status", {}).get("vpsieGroupID"), "the group is there")
        vpsie.fault("status", "cluster", code=502, body="html", count=-1)
        make_node(vpsie, "web-1", "web", annotations={"protected": "true"})
        scale(vpsie, "web", 1)
        # Its request needs a list from after the fault only if there is none: it is sent before or after.
        kubesuite.pause(1)
        vpsie.clear_faults()
        wait_for(vpsie.posts, "the worker is requested")
        vpsie.fault("status", "cluster", code=502, body="html", count=-1)
        wait_for(lambda: vpsie.workers("ready"), "its Node has joined")
        node = vpsie.workers("ready")[0]["node"]
        vpsie.server.kube.merge("nodes", node, {"metadata": {"annotations": {"somebody/else": "1"}}})
        kubesuite.pause(1)
        vpsie.clear_faults()
        wait_ready(vpsie, "web", 1)
        check_described(vpsie, "web-1")
        # The same of a drain: it marks the Node as it is now, not as it was.
        vpsie.server.kube.merge("nodes", node, {"metadata": {"annotations": {"somebody/else": "2"}}})
        kubesuite.pause(1)
        vpsie.server.kube.delete(NODES, "web-1", "default")
        wait_for(lambda: "web-1" not in nodes(vpsie), "it is drained and gone")


def D11_workers_that_no_VM_list_has_are_known_by_their_UUID():
    """Defect 2 of the original: without a plain VM in the account it never got as far as the Nodes."""
    with claimer(prepare=lambda vpsie: vpsie.set("hide_vm_every", 1)) as (vpsie, _):
        make_group(vpsie, "web", 3)
        wait_ready(vpsie, "web", 3)
        check_owners(vpsie)
        for name, item in nodes(vpsie).items():
            assert not item["spec"].get("vpsieInstanceID"), item
            check_described(vpsie, name)
        scale(vpsie, "web", 1)
        wait_ready(vpsie, "web", 1)
        wait_for(lambda: len(alive(vpsie)) == 1, "two are deleted, by their UUIDs")
        assert len(vpsie.posts()) == 3, vpsie.posts()


def D4_D5_D11_D20_D23_hostnames_and_addresses_of_all_kinds():
    """Names that begin a hostname or another name, duplicates, addresses that come late or change."""
    def prepare(vpsie):
        vpsie.next({"hostname": "WEB-10-x"}, {"hostname": "same", "ip_lag_ms": 40000}, {"hostname": "same"},
                   {"ip_settle_ms": 60000}, {"hide_vm": True, "ip_lag_ms": 20000},
                   {"hide_identifier": True, "delay_ms": 30000})

    with claimer(prepare=prepare) as (vpsie, _):
        for name in ("web-1", "web-10", "web-2", "web-3", "web-4", "web-5"):
            make_node(vpsie, name, "web")
        make_group(vpsie, "web", None, low=6)
        wait_ready(vpsie, "web", 6)
        check_owners(vpsie)
        wait_calm(vpsie)
        items = nodes(vpsie)
        assert items["web-10"]["status"]["hostname"] == "WEB-10-x", "D23 the longest name owns it"
        for name in items:
            check_described(vpsie, name)
        assert len(vpsie.posts()) == 6 and len(alive(vpsie)) == 6, vpsie.posts()


def D16_a_list_that_lacks_workers_deletes_and_fails_nothing():
    """Defect 6 of the original: what is absent in one answer counted as deleted."""
    with claimer(prepare=lambda vpsie: vpsie.set("hide_vm_every", 1)) as (vpsie, _):
        make_group(vpsie, "web", 3)
        wait_ready(vpsie, "web", 3)
        vpsie.set("nodes_max", 1)       # the cluster counts all, and shows one
        first = sorted(nodes(vpsie))[0]
        kubesuite.pause(3)              # many lists, more than two of them apart in time
        assert set(phases(vpsie).values()) == {"Ready"}, phases(vpsie)
        uuid = nodes(vpsie)[first]["spec"]["vpsieNodeIdentifier"]
        vpsie.fault("drop_connection", "delete-worker", count=-1)
        vpsie.server.kube.delete(NODES, first, "default")
        kubesuite.pause(3)
        assert first in nodes(vpsie), "its finalizer stays while its machine may be there"
        vpsie.clear_faults()
        vpsie.set("nodes_max", 0)
        wait_for(lambda: first not in nodes(vpsie), "it is gone")
        assert uuid not in [row["identifier"] for row in alive(vpsie)], vpsie.workers()
        wait_ready(vpsie, "web", 3)


def D17_a_truncated_VM_list_is_an_error_and_changes_nothing():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 3)
        wait_ready(vpsie, "web", 3)
        vpsie.set("page_max", 2)
        vpsie.set("ignore_offset", 1)
        wait_for(lambda: "truncated" in condition(group(vpsie, "web"), "Error").get("message", ""), "Error")
        vpsie.set("ignore_offset", 0)
        wait_for(lambda: condition(group(vpsie, "web"), "Error")["status"] == "False", "D23 pages")
        assert set(phases(vpsie).values()) == {"Ready"} and len(vpsie.posts()) == 3, phases(vpsie)


def D8_D9_D12_E2_one_list_serves_all_who_wait_and_errors_are_retried():
    with claimer(claimer={"discovery-interval": "600ms"}) as (vpsie, tree):
        vpsie.set("worker_delay_ms", 150000)
        make_group(vpsie, "web", 8)
        wait_for(lambda: len(vpsie.posts()) == 8, "eight are requested")
        kubesuite.pause(2)
        vpsie.fault("status", "vms", code=503, count=2)
        vpsie.fault("status", "vms", code=429, retry_after="1", after=2)
        wait_ready(vpsie, "web", 8, timeout=90)
        check_owners(vpsie)
        last = max(row["at_ms"] for row in vpsie.posts())
        times = [row["at_ms"] for row in vpsie.audit("GET") if row["class"] == "vms" and row["at_ms"] > last]
        gaps = [after - before for before, after in zip(times[1:], times[2:])]
        assert gaps and min(gaps) >= 500, f"lists of one tick each: {gaps}"
        assert tree.facts(msg="the machines cannot be listed: nothing is created, discovered or deleted")
        assert len(vpsie.posts()) == 8, vpsie.posts()


def D7_E1_a_list_that_is_not_answered_ends_and_is_repeated():
    with claimer() as (vpsie, tree):
        vpsie.fault("late_answer", "vms", ms=120000)
        make_group(vpsie, "web", 1)
        failed = "the machines cannot be listed: nothing is created, discovered or deleted"
        wait_for(lambda: tree.facts(msg=failed), "the call ends before its answer comes", 100)
        fact = tree.facts(msg=failed)[0]
        assert fact["why"] and fact["hint"], fact
        wait_ready(vpsie, "web", 1)
        assert len(vpsie.posts()) == 1, vpsie.posts()


def D13_a_Node_of_another_VPSieNode_is_never_taken():
    """Defects 1 and 5 of the original: the label of another one, though the address matches."""
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 1)
        wait_ready(vpsie, "web", 1)
        item, = nodes(vpsie).values()
        worker = worker_of(vpsie, item)
        vpsie.server.kube.merge(NODES, item["metadata"]["name"], {"metadata": {"annotations": {
            "autoscaler.vpsie.com/protected": "true"}}}, "default")     # there are two before two are desired
        make_node(vpsie, "thief", "web", spec={"ipAddress": worker["public_ip"], "nodeName": worker["node"]},
                  annotations={"creation-requested": "true", "protected": "true"},
                  status={"phase": "Provisioning"})
        scale(vpsie, "web", 2)
        kubesuite.pause(2)
        thief = nodes(vpsie)["thief"]
        assert not thief["spec"].get("vpsieNodeIdentifier") and not thief["status"].get("nodeName"), thief
        labels = vpsie.server.kube.get("nodes", worker["node"])["metadata"]["labels"]
        assert labels["autoscaler.vpsie.com/vpsienode"] == item["metadata"]["name"], labels
        assert len(vpsie.posts()) == 1, vpsie.posts()


tap.side_by_side(
    M4_L4_L5_a_Node_that_joined_before_the_discovery_and_changed_since_is_labelled,
    D11_workers_that_no_VM_list_has_are_known_by_their_UUID,
    D4_D5_D11_D20_D23_hostnames_and_addresses_of_all_kinds,
    D16_a_list_that_lacks_workers_deletes_and_fails_nothing,
    D17_a_truncated_VM_list_is_an_error_and_changes_nothing,
    D8_D9_D12_E2_one_list_serves_all_who_wait_and_errors_are_retried,
    D7_E1_a_list_that_is_not_answered_ends_and_is_repeated,
    D13_a_Node_of_another_VPSieNode_is_never_taken)
tap.main()
