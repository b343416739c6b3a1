"""tests/sim/test_claimer_own_write.py - A11 with real processes: an own write that node-state has not seen.

test-claimer labels the Node of its Widget, and learns of the label through node-state. That is stopped while
the label is written: the key waits 5 s at most, then reads the Node live, and does not write a second time.

muster-test: parallel
"""
import contextlib
import itertools
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
import procs
import tap
from claimertree import STATE, ClaimerTree, make
from kubefaults import arm
from muster import wait_for
from vms import VMs

WIDGET, FINALIZER = "w", "test.muster.dev/vm"
LATE_MS = 1500          # before the label is written: time to stop node-state
OWN_WRITE_MS = 5000     # actors/reconcile/reconcile.h
IN_TIME_MS = 1000       # a stop that ends so much before that is short, on a busy machine too


@contextlib.contextmanager
def label_unseen():
    """(the VMs, the tree, node-state's pid, when the key reads live); node-state is stopped. Then `muster
    explain` is slow, as it waits for node-state."""
    with VMs(join=True) as vms:
        vms.server.install(kubecrds.widgets())
        with ClaimerTree(vms, supervisor={"beat-interval": "60s"}) as tree:
            tree.wait_synced()
            arm(vms.server, "latency", verb="patch", resource="nodes", ms=LATE_MS)
            make(vms.server, WIDGET)
            wait_for(lambda: of_nodes(vms, "patch"), "the label is about to be written", every=0.01)
            pid = tree.pid(STATE)
            procs.freeze(pid)
            try:
                wait_for(lambda: of_nodes(vms, "patch")[0]["code"], "the label is written", every=0.01)
                yield vms, tree, pid, of_nodes(vms, "patch")[0]["at_ms"] + LATE_MS + OWN_WRITE_MS
            finally:
                os.kill(pid, signal.SIGCONT)


def of_nodes(vms, verb):
    """The requests of kube-watcher for Nodes."""
    return [row for row in vms.server.audit() if row["user-agent"].startswith("muster")
            and row["resource"] == "nodes" and row["verb"] == verb]


def change_widget(vms, number):
    """Something that test-claimer reads changes: the key is planned again."""
    names = {"finalizers": [FINALIZER, *(f"test.muster.dev/other-{n}" for n in range(number))]}
    vms.server.kube.merge("widgets", WIDGET, {"metadata": names}, "default")


def wait_done(vms, tree):
    """Until node-state has caught up: then a plan reads nothing live. The label was written once."""
    def planned_without_reading():
        read = len(of_nodes(vms, "get"))
        change_widget(vms, next(changes))
        kubesuite.pause(1)
        return len(of_nodes(vms, "get")) == read
    changes = itertools.count(3)
    wait_for(planned_without_reading, "a plan without a live read")
    assert "it has its VM" in tree.explain(WIDGET)
    assert len(of_nodes(vms, "patch")) == 1, f"the label was written again: {of_nodes(vms, 'patch')}"


def A11_a_short_delay_is_waited_for():
    with label_unseen() as (vms, tree, pid, live_ms):
        change_widget(vms, 1)
        kubesuite.pause(2)
        os.kill(pid, signal.SIGCONT)
        in_time = now_ms() < live_ms - IN_TIME_MS
        wait_done(vms, tree)
        assert not in_time or of_nodes(vms, "get") == [], "nothing had to be read live"


def A11_after_five_seconds_it_reads_live():
    with label_unseen() as (vms, tree, pid, live_ms):
        change_widget(vms, 1)
        reads = wait_for(lambda: of_nodes(vms, "get"), "the Node is read live", every=0.01)
        assert reads[0]["at_ms"] >= live_ms, f"{live_ms - reads[0]['at_ms']} ms too early"
        change_widget(vms, 2)
        wait_for(lambda: len(of_nodes(vms, "get")) > len(reads), "until then each plan reads live")
        os.kill(pid, signal.SIGCONT)
        wait_done(vms, tree)


def now_ms():
    """The clock of the audit log."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


tap.side_by_side(A11_a_short_delay_is_waited_for, A11_after_five_seconds_it_reads_live)
tap.main()
