"""tests/sim/test_vpsie_sweep.py - vpsie-claimer killed at each of 40 effects; the end is the same (A2, D10).

Run i makes a NodeGroup that wants two VPSieNodes, deletes that of the run before, and kills vpsie-claimer at
the i-th effect of that: once it was sent, in every second run once it was answered. So every write, live
read, list and call of making and of deleting is the last one of a process. At the end the last NodeGroup has
its two VPSieNodes, each of them Ready, or Failed because it is unknown whether its request was sent (D23);
what the provider has belongs to one of them, and no more workers were requested than there were VPSieNodes.

muster-test: parallel
muster-test: timeout=400
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import crashsweep
import tap
from muster import wait_for
from vpsietree import (CLAIMER, GROUPS, NODES, alive, check_owners, claimer, condition, make_group, nodes,
                       phases, wait_calm)

RUNS, SIZE = 40, 2


def change(vpsie, run):
    make_group(vpsie, f"r{run}", SIZE)
    if run > 1:
        vpsie.server.kube.delete(GROUPS, f"r{run - 1}", "default")


def made(vpsie):
    """Names of all VPSieNodes that there ever were."""
    return [row["name"] for row in vpsie.server.audit()
            if (row["verb"], row["resource"], row["code"]) == ("create", NODES, 201)]


def settled(vpsie):
    last = phases(vpsie)
    return len(last) == SIZE and set(last.values()) <= {"Ready", "Failed"}


@tap.case
def A2_D10_D23_killed_at_each_of_40_effects():
    with claimer(killed=True, claimer={"provisioning-timeout": "20s"}) as (vpsie, tree):
        for run, when in crashsweep.runs(vpsie, RUNS):
            crashsweep.run_once(tree, CLAIMER, run, when, lambda: change(vpsie, run))
            check_owners(vpsie)
        # What was requested by a process that was killed is given up half a minute after the last start.
        wait_for(lambda: settled(vpsie), "the last NodeGroup is there, and no other", 180)
        wait_calm(vpsie)
        check_owners(vpsie)
        items = nodes(vpsie).values()
        for item in items:
            assert item["spec"]["nodeGroupName"] == f"r{RUNS}", item
            if item["status"]["phase"] == "Failed":
                assert condition(item, "Error")["reason"] == "DiscoveryTimeout", item
        mine = {item["spec"]["vpsieNodeIdentifier"] for item in items if item["status"]["phase"] == "Ready"}
        assert {row["identifier"] for row in alive(vpsie)} == mine, f"{vpsie.workers()} {items}"
        effects = [row for row in vpsie.posts() if row["effect"]]
        assert len(effects) <= len(made(vpsie)), "a VPSieNode has two machines"
        assert len({row["name"] for row in vpsie.state()["groups"]}) == len(vpsie.state()["groups"]), (
            "two groups of the platform have one name")
        tap.note(f"{len(made(vpsie))} VPSieNodes, {len(effects)} workers made, {phases(vpsie)},"
                 f" {tree.actor(CLAIMER)['restarts']} restarts")


tap.main()
