"""tests/lib/leaders.py - two musterd on one server, of which one leads: who is stopped, who sends what.

    LkeTree(linode, watcher=ELECTION, supervisor=PATIENT)
    with stopped(one.pid("lke-claimer")):               # meanwhile it does not run
        give_away(linode.server, holder(linode.server))
    assert mutations(linode, "one", since_ms) == []     # calls with the token of that id
"""
import contextlib
import os
import signal
import time

import kubesuite
import procs
from muster import wait_for

LEASE_S = 16            # two thirds of it must be longer than a mutation's 8 s
ELECTION = {"leader-elect": True, "leader-elect-lease-duration": f"{LEASE_S}s", "lease-name": "muster",
            "lease-namespace": "default"}
# The supervisor does not restart an actor that is stopped for so long.
PATIENT = {"beat-interval": "60s"}


def now_ms():
    """The clock of the audit logs."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def wait_until(at_ms):
    kubesuite.pause(max(0, at_ms - now_ms()) / 1000)


@contextlib.contextmanager
def stopped(*pids):
    """Meanwhile these processes do not run."""
    for pid in pids:
        procs.freeze(pid)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def holder(server):
    """The identity that has the Lease; "": nobody has it."""
    lease = server.kube.find("leases", "muster", "default")
    return (lease or {"spec": {}})["spec"].get("holderIdentity", "")


def give_away(server, identity):
    """Until another one holds the Lease it is released, as often as that one takes it again."""
    def taken():
        if holder(server) == identity:
            server.kube.merge("leases", "muster", {"spec": {"holderIdentity": ""}}, "default")
        return holder(server) not in ("", identity)
    wait_for(taken, "another one holds the Lease", every=0.3)


def lease_taken_ms(server, since_ms):
    """When the other instance took the Lease: while the holder is stopped nobody else writes it."""
    return next(row["at_ms"] for row in server.audit() if row["resource"] == "leases"
                and row["verb"] == "update" and row["at_ms"] > since_ms and row["code"] < 300)


def mutations(provider, token, since_ms=0):
    """Calls with that token that would change something, whatever their answer was."""
    return [row for row in provider.audit() if row["method"] != "GET" and row["token"] == token
            and row["at_ms"] >= since_ms]


def assert_silent(provider, token, taken_ms):
    late = mutations(provider, token, taken_ms)
    assert late == [], f"sent by the old leader after the takeover: {late}"
