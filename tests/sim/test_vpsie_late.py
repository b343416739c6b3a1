"""tests/sim/test_vpsie_late.py - vpsie-claimer: machines that come late, or never.

Whatever was requested has an owner at the end, or is removed; and a VPSieNode that is being deleted takes no
machine that another one waits for (D10, D11, D14, D16, D23, A2).

muster-test: parallel
muster-test: timeout=300
"""
import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from muster import wait_for
from vpsietree import (GROUPS, NODES, alive, check_owners, claimer, condition, events, group, make_group,
                       make_node, nodes, phases, scale, wait_calm, wait_phase, wait_ready, worker_of)

SPEED = 30


def delay(seconds):
    """How a worker comes that appears so long after its request."""
    return {"delay_ms": seconds * 1000 * SPEED}


def ago(seconds):
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def platform_group(vpsie, *names):
    """Their groups of the platform are there."""
    for name in names:
        make_group(vpsie, name, 0)
    wait_for(lambda: all(group(vpsie, name).get("status", {}).get("vpsieGroupID") for name in names),
             "the groups are there")


def doubtful(vpsie, tree):
    """The VPSieNode of the group web is being deleted. Its request had no effect, and that is not visible."""
    fault = vpsie.fault("drop_connection", "add-worker")
    scale(vpsie, "web", 1)
    wait_for(lambda: vpsie.hits(fault), "its request was lost")
    name, = nodes(vpsie)
    wait_for(lambda: "it may have been sent" in tree.explain("vpsienode", name), "that is not known")
    scale(vpsie, "web", 0)
    wait_phase(vpsie, name, "Deleting")
    return name


def D14_D16_A2_E4_a_machine_after_the_timeout_belongs_to_the_Failed_one():
    with claimer(claimer={"provisioning-timeout": "10s"}) as (vpsie, _):
        vpsie.next(delay(20))
        make_group(vpsie, "web", 1)
        wait_for(lambda: "Failed" in phases(vpsie).values(), "it fails before its machine comes")
        name, = nodes(vpsie)
        assert not alive(vpsie) or alive(vpsie)[0]["machine"] == "ordered", vpsie.workers()
        wait_for(lambda: nodes(vpsie)[name]["spec"].get("vpsieNodeIdentifier"), "its machine is bound", 90)
        item = nodes(vpsie)[name]
        assert item["status"]["phase"] == "Failed", item
        assert condition(item, "Error")["reason"] == "DiscoveryTimeout", item
        assert worker_of(vpsie, item)["id"] == item["spec"]["vpsieInstanceID"], item
        wait_for(lambda: "LateMachine" in events(vpsie, name), "an Event names it")
        wait_calm(vpsie)
        scale(vpsie, "web", 0)
        wait_for(lambda: not nodes(vpsie) and not alive(vpsie), "both are removed", 90)
        assert len(vpsie.posts()) == 1, vpsie.posts()


def D14_D16_A2_deleted_at_once_though_it_was_requested_just_before_the_timeout():
    """createdAt is nearly provisioning-timeout ago when the request leaves."""
    with claimer(claimer={"provisioning-timeout": "40s"}) as (vpsie, _):
        platform_group(vpsie, "web")
        vpsie.next(delay(36))
        make_node(vpsie, "web-1", "web", annotations={"protected": "true"},
                  status={"phase": "Provisioning", "createdAt": ago(25)})
        item = wait_phase(vpsie, "web-1", "Failed")
        assert condition(item, "Error")["reason"] == "DiscoveryTimeout", f"it was not requested: {item}"
        vpsie.server.kube.delete(NODES, "web-1", "default")
        wait_for(lambda: "web-1" not in nodes(vpsie), "it is gone", 120)
        made, = [row for row in vpsie.posts() if row["effect"]]
        wait_for(lambda: vpsie.audit("DELETE"), "its machine was deleted, after that came", 60)
        assert not alive(vpsie), f"a machine has no owner: {vpsie.workers()} {made}"


def D11_D23_one_that_is_deleted_takes_no_machine_of_another_group():
    """Of one size and datacenter: their machines are alike."""
    with claimer(claimer={"provisioning-timeout": "50s"}) as (vpsie, tree):
        platform_group(vpsie, "web", "db")
        web = doubtful(vpsie, tree)
        scale(vpsie, "db", 1)
        wait_ready(vpsie, "db", 1, timeout=40)
        name, = [name for name in nodes(vpsie) if name.startswith("db-")]
        assert not vpsie.audit("DELETE"), vpsie.audit("DELETE")
        # It is given up in time, and what the other one has stays.
        wait_for(lambda: web not in nodes(vpsie), "its request is given up", 150)
        check_owners(vpsie)
        assert phases(vpsie) == {name: "Ready"} and len(alive(vpsie)) == 1, vpsie.workers()


def D10_D11_nor_one_whose_request_is_not_answered_yet():
    """Its machine is listed before the answer arrives."""
    with claimer(claimer={"provisioning-timeout": "60s"}) as (vpsie, tree):
        platform_group(vpsie, "web", "db")
        doubtful(vpsie, tree)
        vpsie.fault("late_answer", "add-worker", ms=4000)
        scale(vpsie, "db", 1)
        wait_ready(vpsie, "db", 1, timeout=40)
        assert not vpsie.audit("DELETE"), vpsie.audit("DELETE")
        vpsie.server.kube.delete(GROUPS, "db", "default")
        wait_for(lambda: not alive(vpsie), "it goes when it is deleted")


tap.side_by_side(
    D14_D16_A2_E4_a_machine_after_the_timeout_belongs_to_the_Failed_one,
    D14_D16_A2_deleted_at_once_though_it_was_requested_just_before_the_timeout,
    D11_D23_one_that_is_deleted_takes_no_machine_of_another_group,
    D10_D11_nor_one_whose_request_is_not_answered_yet)
tap.main()
