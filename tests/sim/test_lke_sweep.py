"""tests/sim/test_lke_sweep.py - lke-claimer killed at each of 40 effects; the end is the same (A2, C1).

Each run makes three NodeClaims, deletes those of the run before, and kills lke-claimer at one effect of
that, in Standard at the first, third ..., in Enterprise at the second, fourth ...: once it was sent, in
every second run once it was answered. So every write, live read, list and call of making
and of deleting (finalizer, status, reservation, intent, POST, PUT, tag, drain, DELETE) is the last one of a
process. At the end the last NodeClaims have their machines and Nodes, in one pool, and nothing else is left.

muster-test: parallel
muster-test: timeout=500
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import crashsweep
import tap
from lketree import (CLAIMS, LKE, LkeTree, check_history, check_owners, claim, lke_server, owners, wait_gone,
                     wait_ready)
from muster import wait_for

RUNS, BATCH = 20, 3           # runs of each tier
SETTINGS = {"resync-interval": "1s", "orphan-ttl": "5s"}


def batch(run):
    return [f"r{run}-{number}" for number in range(BATCH)]


def change(linode, run):
    claim(linode.server, *batch(run))
    if run > 1:
        linode.server.kube.delete_many(CLAIMS, batch(run - 1))


def sweep(tier, first):
    with lke_server() as linode, LkeTree(linode, tier, SETTINGS, killed=True) as tree:
        tree.wait_running()
        for run, when in crashsweep.runs(linode, RUNS):
            crashsweep.run_once(tree, LKE, first + 2 * (run - 1), when, lambda: change(linode, run))
            check_owners(linode)
        # Where the outcome of a call is not known the last process waits half a minute first.
        wait_ready(linode, *batch(RUNS), timeout=180)
        wait_gone(linode.server, *[name for run in range(1, RUNS) for name in batch(run)], timeout=180)
        wait_for(lambda: sorted(owners(linode).values()) == [[name] for name in batch(RUNS)],
                 "no machine is left over", 180)
        wait_for(lambda: len(linode.server.kube.list("nodes")["items"]) == BATCH, "nor a Node", 120)
        check_owners(linode)
        state = linode.state()
        assert len(state["pools"]) == 1 and state["pools"][0]["count"] == BATCH, state
        given = check_history(linode)
        made = [row for row in linode.effects() if row["class"] in ("create-pool", "scale-pool")]
        tap.note(f"{tier}: {given} machines were given, {len(made)} pools made or scaled, "
                 f"{len(linode.effects('DELETE'))} deletions, {tree.actor(LKE)['restarts']} restarts")


def A2_C1_killed_at_each_odd_effect_in_Standard():
    sweep("standard", 1)


def A2_C1_killed_at_each_even_effect_in_Enterprise():
    sweep("enterprise", 2)


tap.side_by_side(A2_C1_killed_at_each_odd_effect_in_Standard,
                 A2_C1_killed_at_each_even_effect_in_Enterprise)
tap.main()
