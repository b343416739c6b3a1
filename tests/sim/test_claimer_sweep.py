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
import crashsweep
import tap
from claimercase import check_owners, claimer, wait_gone
from claimertree import CLAIMER, delete, make, wait_bound

RUNS, BATCH = 40, 4


def batch(run):
    return [f"r{run}-{number}" for number in range(BATCH)]


def change(vms, run):
    make(vms.server, *batch(run))
    if run > 1:
        delete(vms.server, *batch(run - 1))


@tap.case
def A2_killed_at_each_of_40_effects():
    with claimer() as (vms, tree):
        for run, when in crashsweep.runs(vms, RUNS):
            crashsweep.run_once(tree, CLAIMER, run, when, lambda: change(vms, run))
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
