"""tests/sim/test_claimer_sweep.py - test-claimer killed at each of 40 effects; the end is the same (A2).

Run i makes four Widgets, deletes those of the run before, and kills test-claimer at the i-th effect of that:
once it was sent, in every second run once it was answered. So every effect of making and of deleting (writes,
live reads, calls) is the last one of a process many times over. When all runs are over: one VM per Widget, no
other VM, and those that were deleted are gone. The Nodes have no Pods here: evictions are swept by
`dst --world claims-sweep`.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from claimercase import check_owners, claimer, kill_at, wait_gone
from claimertree import CLAIMER, delete, make, wait_bound
from muster import wait_for

RUNS, BATCH = 40, 4
SLOW_MS = 120           # more than kill_at.c waits: what was sent is not answered when the process ends


def batch(run):
    return [f"r{run}-{number}" for number in range(BATCH)]


def slow(vms):
    """Answers come late: of the provider, and of writes."""
    vms.fault("late_answer", ms=SLOW_MS, count=-1)
    vms.server.order("POST", "faults", {"kind": "late_answer", "verb": "patch", "ms": SLOW_MS, "count": -1})


def run_once(vms, tree, run, when):
    """Returns when test-claimer has ended, and runs again."""
    before = tree.actor(CLAIMER)["incarnation"]
    kill_at(tree, run, when)
    make(vms.server, *batch(run))
    if run > 1:
        delete(vms.server, *batch(run - 1))
    wait_for(lambda: tree.actor(CLAIMER)["state"] != "running" or tree.actor(CLAIMER)["incarnation"] > before,
             f"effect {run} of run {run}, {when}", every=0.02)
    tree.control(f"restart {CLAIMER}")      # not after the pause for an actor that dies often
    tree.wait_back(CLAIMER, before)


@tap.case
def A2_killed_at_each_of_40_effects():
    with claimer() as (vms, tree):
        for run in range(1, RUNS + 1):
            when = "answered" if run % 2 else "sent"
            if when == "sent":
                slow(vms)
            run_once(vms, tree, run, when)
            vms.clear_faults()
            tags = list(vms.tags().values())
            assert len(tags) == len(set(tags)), f"run {run}: a Widget has two VMs: {vms.list()}"
        wait_bound(vms, *batch(RUNS), timeout=120)
        wait_gone(vms, *[name for run in range(1, RUNS) for name in batch(run)], timeout=120)
        check_owners(vms)
        assert len(vms.tags()) == BATCH, vms.tags()
        made = [row["effect"].split()[-1] for row in vms.effects("POST")]
        assert len(made) == len(set(made)), "two VMs were made for one Widget"
        tap.note(f"{len(vms.effects('POST'))} VMs made, {len(vms.effects('DELETE'))} deleted,"
                 f" {tree.actor(CLAIMER)['restarts']} restarts")


tap.main()
