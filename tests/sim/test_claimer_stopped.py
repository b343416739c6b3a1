"""tests/sim/test_claimer_stopped.py - a process that was stopped sends no mutation once another one leads.

Contract A8 with real processes: two musterd on one muster-sim, with election, each with a provider token of
its own. Mutations of the first wait for their rate limit when it is stopped. The audit log of the provider
shows what came after the takeover. The three cases run side by side, as most of their time is the lease's.

muster-test: parallel
muster-test: timeout=300
"""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import procs
import tap
from claimertree import CLAIMER, INTENT, ClaimerTree, make, noted, wait_bound
from kubetree import WATCHER
from leaders import ELECTION, LEASE_S, PATIENT, assert_silent, lease_taken_ms, now_ms, stopped, wait_until
from muster import wait_for
from vms import VMs

TOKENS = {"one": "token-of-one", "two": "token-of-two"}
SETTLE_S = 30           # FENCE_SETTLE_MS: what the new leader waits before it makes a VM
LATE_S = 3              # for what a stopped process would send when it goes on
NAMES = ("a", "b", "c")


def instance(vms, name):
    return ClaimerTree(vms, token=name, watcher=ELECTION, supervisor=PATIENT)


@contextlib.contextmanager
def pair():
    """(the VMs, the leader, the standby)"""
    with VMs(tokens=TOKENS) as vms:
        vms.server.install(kubecrds.widgets())
        with instance(vms, "one") as one:
            one.wait_synced()
            wait_for(one.leads, "one leads")
            with instance(vms, "two") as two:
                two.wait_synced()
                yield vms, one, two


def fill_bucket(vms, closed_s):
    """One POST is answered by 429: those of the next Widgets wait in the bucket for so many seconds."""
    make(vms.server, "before")
    wait_bound(vms, "before")
    limited = vms.fault("status", "create", code=429, retry_after=str(closed_s), count=1)
    make(vms.server, NAMES[0])
    wait_for(lambda: vms.hits(limited) == 1, "a POST is answered by 429", every=0.01)
    opens_ms = now_ms() + 1000 * closed_s
    make(vms.server, *NAMES[1:])
    wait_for(lambda: set(noted(vms.server, INTENT)) >= set(NAMES), "the others have their intent", every=0.01)
    return opens_ms


def check(vms, taken_ms):
    """The old leader sends nothing, neither soon nor until the new one has made what is missing."""
    assert_silent(vms, "one", taken_ms)
    wait_bound(vms, "before", *NAMES, timeout=SETTLE_S + 60)
    assert_silent(vms, "one", taken_ms)
    made = [row["token"] for row in vms.effects("POST")]
    assert made == ["one"] + ["two"] * len(NAMES), f"{made} made the VMs"


def A8_the_actor_alone_is_stopped():
    """kube-watcher goes on, so the Lease is taken from it: released by hand until the other one has it. That
    is soon enough for a POST that is not yet too old for its own deadline."""
    with pair() as (vms, one, two):
        opens_ms = fill_bucket(vms, closed_s=7)
        with stopped(one.pid(CLAIMER)):
            def taken():
                if not two.leads():
                    vms.server.kube.merge("leases", "muster", {"spec": {"holderIdentity": ""}}, "default")
                return two.leads()
            wait_for(taken, "the other one leads", every=0.3)
            wait_for(lambda: not one.leads(), "its own kube-watcher has noticed")
            taken_ms = now_ms()
        tap.note(f"goes on {opens_ms - taken_ms} ms before its bucket opens")
        wait_until(opens_ms + 1000 * LATE_S)
        check(vms, taken_ms)


def A8_kube_watcher_alone_is_stopped():
    """No report of the end of the Lease reaches the actor, and its bucket opens after the takeover."""
    with pair() as (vms, one, two):
        opens_ms = fill_bucket(vms, closed_s=LEASE_S + 9)
        stopped_ms = now_ms()
        with stopped(one.pid(WATCHER)):
            wait_for(two.leads, "the other one leads")
            taken_ms = lease_taken_ms(vms.server, stopped_ms)
            tap.note(f"taken over {opens_ms - taken_ms} ms before its bucket opens")
            wait_until(opens_ms + 1000 * LATE_S)
        check(vms, taken_ms)


def A8_the_whole_tree_is_stopped():
    """Its bucket has opened when it goes on, and by the last report of the Lease it leads."""
    with pair() as (vms, one, two):
        fill_bucket(vms, closed_s=7)
        stopped_ms = now_ms()
        with stopped(*[process.pid for process in procs.family(one.process.pid)]):
            wait_for(two.leads, "the other one leads")
            taken_ms = lease_taken_ms(vms.server, stopped_ms)
        wait_until(now_ms() + 1000 * LATE_S)
        check(vms, taken_ms)


tap.side_by_side(A8_the_actor_alone_is_stopped, A8_kube_watcher_alone_is_stopped,
                 A8_the_whole_tree_is_stopped)
tap.main()
