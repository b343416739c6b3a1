"""tests/sim/test_vpsie_adopt.py - vpsie-claimer takes over what the original controller left (D22).

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from muster import wait_for
from vpsie import CLUSTER, MEDIUM
from vpsietree import (NODES, PREFIX, alive, check_described, claimer, condition, events, group, make_group,
                       make_node, nodes, phases, scale, wait_calm, wait_phase, wait_ready, worker_of)

FINALIZER = f"vpsienode.{PREFIX}finalizer"
REQUESTED = {"creation-requested": "true"}


def original(count, objects):
    """What it left: a group of the platform with that many workers, a NodeGroup that has them, and VPSieNodes
    that objects(vpsie, workers, group) makes."""
    def prepare(vpsie):
        vpsie.call("POST", "k8s/cluster/add/group",
                   {"clusterIdentifier": CLUSTER, "groupName": "web", "KubeSizeID": MEDIUM})
        number = vpsie.group("web")[0]["id"]
        for _ in range(count):
            vpsie.add_outside(group=number)
        wait_for(lambda: len(vpsie.workers("ready")) == count, "the workers of the original are there", 120)
        make_group(vpsie, "web", max(count, 1))
        vpsie.server.kube.merge("nodegroups", "web", {"status": {"vpsieGroupID": number}}, "default",
                                sub="status")
        objects(vpsie, vpsie.workers(), number)
    return prepare


def created_at(vpsie):
    """The time of the API server, now."""
    return vpsie.server.kube.get("nodegroups", "web", "default")["metadata"]["creationTimestamp"]


def D18_D22_an_object_with_an_id_gets_no_second_machine():
    def objects(vpsie, workers, number):
        make_node(vpsie, "web-11111111", "web",
                  spec={"vpsieInstanceID": workers[0]["id"], "vpsieGroupID": number}, annotations=REQUESTED,
                  status={"phase": "Provisioning", "createdAt": created_at(vpsie)})

    with claimer(prepare=original(1, objects)) as (vpsie, _):
        wait_ready(vpsie, "web", 1)
        item = nodes(vpsie)["web-11111111"]
        assert item["spec"]["vpsieInstanceID"] == vpsie.workers()[0]["id"], item
        assert FINALIZER in item["metadata"]["finalizers"], item
        check_described(vpsie, "web-11111111")
        assert len(vpsie.posts()) == 1, vpsie.posts()


def D22_a_request_without_our_watermark_is_not_repeated():
    """Its machine comes, or never: both without another request."""
    def objects(vpsie, workers, number):
        for name in ("web-11111111", "web-22222222"):
            make_node(vpsie, name, "web", spec={"vpsieGroupID": number}, annotations=REQUESTED,
                      status={"phase": "Provisioning", "createdAt": created_at(vpsie)})
        scale(vpsie, "web", 2)
        vpsie.add_outside(group=number)         # the request that it sent

    with claimer(prepare=original(0, objects), claimer={"provisioning-timeout": "20s"}) as (vpsie, _):
        wait_for(lambda: sorted(phases(vpsie).values()) == ["Failed", "Ready"], "one is found")
        ready, = [name for name, phase in phases(vpsie).items() if phase == "Ready"]
        failed, = [item for item in nodes(vpsie).values() if item["status"]["phase"] == "Failed"]
        check_described(vpsie, ready)
        assert condition(failed, "Error")["reason"] == "DiscoveryTimeout", failed
        assert len(vpsie.posts()) == 1, vpsie.posts()


def D22_a_Ready_one_without_an_id_stays_Ready_and_can_be_removed():
    def objects(vpsie, workers, number):
        worker, = workers
        make_node(vpsie, "web-11111111", "web", spec={
            "vpsieInstanceID": 0, "ipAddress": worker["public_ip"], "vpsieGroupID": number},
            annotations=REQUESTED, status={
                "phase": "Ready", "nodeName": worker["node"], "hostname": worker["hostname"],
                "createdAt": created_at(vpsie), "readyAt": created_at(vpsie)})
        vpsie.server.kube.merge("nodes", worker["node"], {"metadata": {"labels": {
            f"{PREFIX}managed": "true", f"{PREFIX}nodegroup": "web", f"{PREFIX}vpsienode": "web-11111111"}}})

    with claimer(prepare=original(1, objects)) as (vpsie, tree):
        wait_for(lambda: nodes(vpsie)["web-11111111"]["spec"].get("vpsieNodeIdentifier"), "its UUID is found")
        wait_calm(vpsie)
        item = nodes(vpsie)["web-11111111"]
        assert item["status"]["phase"] == "Ready" and not tree.facts(msg="a VPSieNode failed"), item
        assert worker_of(vpsie, item)["node"] == item["status"]["nodeName"], item
        labels = vpsie.server.kube.get("nodes", item["status"]["nodeName"])["metadata"]["labels"]
        assert labels[f"{PREFIX}vpsienode-uid"] == item["metadata"]["uid"], labels
        scale(vpsie, "web", 0)
        wait_for(lambda: not nodes(vpsie) and not alive(vpsie), "its machine is deleted")
        assert len(vpsie.posts()) == 1, vpsie.posts()


def D22_E4_a_Failed_one_stays_until_somebody_deletes_it():
    def objects(vpsie, workers, number):
        make_node(vpsie, "web-11111111", "web", spec={"vpsieGroupID": number}, annotations=REQUESTED, status={
            "phase": "Failed", "createdAt": "2026-01-01T00:00:00Z", "lastError": "original", "conditions": [{
                "type": "Error", "status": "True", "reason": "ProvisioningTimeout", "message": "of it",
                "lastTransitionTime": "2026-01-01T00:15:00Z"}]})

    with claimer(prepare=original(0, objects), claimer={"provisioning-timeout": "15s"}) as (vpsie, _):
        wait_for(lambda: group(vpsie, "web")["status"].get("currentNodes") == 1, "S1 it counts")
        wait_calm(vpsie)
        item = nodes(vpsie)["web-11111111"]
        assert item["status"]["phase"] == "Failed" and item["status"]["lastError"] == "original", item
        assert not vpsie.posts() and group(vpsie, "web")["status"].get("readyNodes", 0) == 0
        kubesuite.pause(1)
        assert not vpsie.posts(), "a Failed one is not replaced"
        # Its request may have been sent: its machine may still come, until lists prove the opposite.
        vpsie.server.kube.delete(NODES, "web-11111111", "default")
        wait_for(lambda: "web-11111111" not in nodes(vpsie), "it is gone", 120)
        wait_ready(vpsie, "web", 1)
        assert "Deleting" in events(vpsie, "web-11111111") and len(vpsie.posts()) == 1, vpsie.posts()


def D15_D22_a_protected_one_of_the_original_stays():
    def objects(vpsie, workers, number):
        make_node(vpsie, "web-11111111", "web", spec={"vpsieInstanceID": workers[0]["id"]},
                  annotations={**REQUESTED, "protected": "true"}, status={"phase": "Ready"})

    with claimer(prepare=original(1, objects)) as (vpsie, _):
        wait_phase(vpsie, "web-11111111", "Ready")
        wait_for(lambda: nodes(vpsie)["web-11111111"]["status"].get("nodeName"), "its Node is found")
        wait_calm(vpsie)
        scale(vpsie, "web", 0)
        kubesuite.pause(1)
        assert phases(vpsie) == {"web-11111111": "Ready"}, "D15 a protected one stays"


tap.side_by_side(
    D18_D22_an_object_with_an_id_gets_no_second_machine,
    D22_a_request_without_our_watermark_is_not_repeated,
    D22_a_Ready_one_without_an_id_stays_Ready_and_can_be_removed,
    D22_E4_a_Failed_one_stays_until_somebody_deletes_it,
    D15_D22_a_protected_one_of_the_original_stays)
tap.main()
