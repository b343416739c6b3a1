"""tests/sim/test_lke_stopped.py - the leader of two musterd is stopped in the middle of a scale-up.

Contract A8, A10 and C5 with real processes on one muster-sim: each has a token of its own, and the audit log
of the provider shows who sent what. At the end there is one pool, with as many machines as NodeClaims. The
cases run side by side, as most of their time is the lease's.

muster-test: parallel
muster-test: timeout=400
"""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import procs
import tap
from leaders import (ELECTION, LEASE_S, PATIENT, assert_silent, give_away, holder, lease_taken_ms, now_ms,
                     stopped, wait_until)
from lketree import LKE, LkeTree, check_history, claim, lke_server, owners, wait_ready
from muster import wait_for

TOKENS = {"one": "token-of-one", "two": "token-of-two"}
SETTLE_S = 30           # FENCE_SETTLE_MS: what the new leader waits where the outcome of a call is not known
LATE_S = 3              # for what a stopped process would send when it goes on
FIRST, MORE, LAST = ("a", "b"), ("c", "d", "e", "f"), ("g", "h")
INTENT = "karpenter.k8s.linode/intent.g6-standard-2"


def instance(linode, tier, name):
    return LkeTree(linode, tier, credential=name, watcher=ELECTION, supervisor=PATIENT)


@contextlib.contextmanager
def pair(tier):
    """(the provider, the leader, its identity, the standby); a and b are Ready."""
    with lke_server(tokens=TOKENS) as linode, instance(linode, tier, "one") as one:
        one.wait_running()
        wait_for(lambda: holder(linode.server), "one leads")
        with instance(linode, tier, "two") as two:
            two.wait_running()
            claim(linode.server, *FIRST)
            wait_ready(linode, *FIRST)
            yield linode, one, holder(linode.server), two


def intent(linode):
    """Of the NodePool; None: no call is on its way."""
    return linode.server.kube.get("nodepools", "general")["metadata"].get("annotations", {}).get(INTENT)


def check(linode, taken_ms):
    """The old leader sends nothing, and the other one completes what it had begun, and no more."""
    assert_silent(linode, "one", taken_ms)
    claim(linode.server, *LAST)
    names = [*FIRST, *MORE, *LAST]
    wait_ready(linode, *names, timeout=SETTLE_S + 120)
    assert_silent(linode, "one", taken_ms)
    state = linode.state()
    assert len(state["pools"]) == 1, f"C1 {state['pools']}"
    assert len(state["nodes"]) == state["pools"][0]["count"] == len(names), f"C5 {state}"
    assert sorted(owners(linode).values()) == [[name] for name in names], owners(linode)
    check_history(linode)
    made = [row["token"] for row in linode.effects("POST")]
    assert made == ["one"], f"{made} made pools"


def A8_C5_the_claimer_is_stopped_before_the_answer_to_its_PUT():
    """The count is raised; the other one must find that in a list before it raises anything."""
    with pair("standard") as (linode, one, identity, _):
        fault = linode.fault("late_answer", "scale-pool", ms=8000, count=1)
        claim(linode.server, *MORE)
        wait_for(lambda: len(linode.state()["nodes"]) > len(FIRST), "the count is raised", every=0.02)
        with stopped(one.pid(LKE)):
            give_away(linode.server, identity)
            taken_ms = now_ms()
        assert linode.hits(fault) == 1
        check(linode, taken_ms)


def A8_A10_C5_the_whole_tree_is_stopped_before_it_sends_its_PUT():
    """The intent is in the cluster, and the PUT waits for its rate limit. It must not be sent any more."""
    with pair("enterprise") as (linode, one, _, two):
        assert not mutating(linode, "two")
        fault = linode.fault("status", "scale-pool", code=429, retry_after="7", count=1)
        claim(linode.server, *MORE)
        wait_for(lambda: linode.hits(fault) == 1, "a PUT is answered by 429", every=0.01)
        assert intent(linode), "the intent comes before the call"
        stopped_ms = now_ms()
        with stopped(*[process.pid for process in procs.family(one.process.pid)]):
            taken_ms = wait_for(lambda: taken(linode, stopped_ms), "the other one has the Lease",
                                timeout=60 + 2 * LEASE_S)
        wait_until(now_ms() + 1000 * LATE_S)
        check(linode, taken_ms)
        assert two.actor(LKE)["restarts"] == 0


def taken(linode, since_ms):
    try:
        return lease_taken_ms(linode.server, since_ms)
    except StopIteration:
        return None


def mutating(linode, token):
    return [row for row in linode.effects() if row["token"] == token]


tap.side_by_side(A8_C5_the_claimer_is_stopped_before_the_answer_to_its_PUT,
                 A8_A10_C5_the_whole_tree_is_stopped_before_it_sends_its_PUT)
tap.main()
