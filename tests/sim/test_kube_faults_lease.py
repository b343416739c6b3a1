"""tests/sim/test_kube_faults_lease.py - a Lease that is refused, deleted or stolen; clocks: faults 17, 18.

That no instance leads before the lease of the other has expired is read from the server's own log: when an
instance first read the Lease, and when it first wrote it.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import datetime
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
import procs
from kubefaults import arm, asked, asked_at, assert_rests, case, disarm, hits, node, wait_hits
from kubeservers import SimServer
from kubetree import KubeTree
from muster import wait_for

USERS = {f"{name}-token": (name, ["system:masters"]) for name in ("one", "two")}
LEASE_S = 10                        # short enough to wait for, long enough for a busy machine
RETRY_S = LEASE_S * 2 / 15          # between two tries, at least
CHANGES = ("create", "update", "patch", "delete")


def electing(name="muster", lease_s=LEASE_S):
    return {"leader-elect": True, "leader-elect-lease-duration": f"{lease_s}s", "lease-name": name,
            "lease-namespace": "default"}


@contextlib.contextmanager
def leader(server, lease_s=LEASE_S, **more):
    with KubeTree(server, watcher=electing(lease_s=lease_s), **more) as tree:
        tree.wait_synced()
        wait_for(tree.leads, "it leads")
        yield tree


@contextlib.contextmanager
def pair(server):
    """(the leader, the standby)"""
    with leader(server, token="one-token") as one:
        with KubeTree(server, watcher=electing(), token="two-token") as two:
            two.wait_synced()
            yield one, two


def lease(server, name="muster"):
    return server.kube.find("leases", name, "default")


def lease_rows(server, name="muster", user=None):
    """The requests about one Lease. A creation names it in its body only."""
    return [row for row in asked(server, "leases") if row["verb"] in ("get", *CHANGES)
            and row["name"] in (name, "") and user in (None, row["user"])]


def always(holds, what, until):
    """For what must not even fail for a moment, until something else is true."""
    def never_fails():
        assert holds(), f"for a moment it was not true that {what}"
        return until()
    wait_for(never_fails, f"the end of the time in which {what}", every=0.02)


def passed(seconds):
    """until: so much time has passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def renewed(server):
    """until: one renewal more was taken."""
    before = lease(server)["spec"]["renewTime"]
    return lambda: lease(server)["spec"]["renewTime"] != before


def assert_patient(server, user=None):
    """The Lease is not requested in a loop. A try is three requests at most: a renewal, a read, a renewal.
    A try begins when it is sent, so a slow connection makes the measured rest shorter."""
    assert_rests(asked_at(lease_rows(server, user=user)), "requests for the Lease", RETRY_S / 4, at_once=2)


def write(tree, name, expect="ok"):
    return tree.write("merge", "nodes", name, body={"metadata": {"labels": {"by": "us"}}}, expect=expect)


@case
def fault_17_refused_renewals_do_not_end_the_leading(server):
    with leader(server) as tree:
        transitions = lease(server)["spec"]["leaseTransitions"]
        for answer in ({"code": 409}, {"code": 404}, {"code": 503, "retry_after": "60"},
                       {"code": 429, "retry_after": "60"}):
            refused = arm(server, "status", verb="update", resource="leases", count=2, **answer)
            always(tree.leads, f"it leads after {answer}", until=lambda: hits(server, refused) == 2)
            always(tree.leads, f"it leads after {answer}", until=renewed(server))
        assert_patient(server)
        assert lease(server)["spec"]["leaseTransitions"] == transitions


@case
def fault_17_renewals_that_are_all_refused_end_it(server):
    server.kube.create("nodes", node("n1"))
    with leader(server) as tree:
        server.forget_audit()
        refused = arm(server, "status", verb="update", resource="leases", code=409, count=-1)
        wait_for(lambda: not tree.leads(), "it gives up", every=0.01)
        write(tree, "n1", expect="not-leader")
        wait_hits(server, refused, hits(server, refused) + 2)
        assert_patient(server)
        disarm(server)
        wait_for(tree.leads, "it leads again")
        write(tree, "n1")


@case
def fault_17_a_deleted_lease_is_made_again_by_its_holder(server):
    server.kube.create("nodes", node("n1"))
    with pair(server) as (one, two):
        server.kube.delete("leases", "muster", "default")
        always(lambda: one.leads() and not two.leads(), "one leads and two does not", passed(LEASE_S * 1.2))
        write(one, "n1")
        write(two, "n1", expect="not-leader")
        assert lease(server)["spec"]["holderIdentity"], "it is there again"
        assert [row["verb"] for row in lease_rows(server, user="two") if row["verb"] != "get"] == []


@case
def fault_17_a_lease_deleted_with_its_holder_is_waited_for(server):
    with pair(server) as (one, two):
        procs.kill(*[process.pid for process in procs.family(one.process.pid)])
        one.process.wait()
        server.forget_audit()
        server.kube.delete("leases", "muster", "default")
        wait_for(two.leads, "the other leads")
        read, made = (next(row["at_ms"] for row in lease_rows(server, user="two") if row["verb"] == verb)
                      for verb in ("get", "create"))
        # The first read may have come before the deletion, but not before the log was emptied.
        assert made - read >= LEASE_S * 1000, f"{made - read} ms: the lease had not expired"


@case
def fault_17_a_lease_that_is_stolen_is_lost_at_once(server):
    server.kube.create("nodes", node("n1"))
    with leader(server, lease_s=3 * LEASE_S) as tree:
        server.kube.merge("leases", "muster", {"spec": {"holderIdentity": "somebody"}}, "default")
        server.forget_audit()
        wait_for(lambda: not tree.leads(), "the next renewal is refused", every=0.01)
        write(tree, "n1", expect="not-leader")
        kubesuite.pause(2)
        updates = [row["code"] for row in lease_rows(server) if row["verb"] == "update"]
        assert updates == [409], "a renewal names its version; then the other keeps the Lease"
        assert lease(server)["spec"]["holderIdentity"] == "somebody"


HELD = {"holderIdentity": "x", "leaseDurationSeconds": LEASE_S}
PAST, FUTURE = "1970-01-01T00:00:00.000000Z", "2999-12-31T23:59:59.000000Z"
# What a record can contain, and how long an instance has to wait before it takes it over.
RECORDS = {
    "past": ({**HELD, "renewTime": PAST, "acquireTime": PAST}, LEASE_S),
    "future": ({**HELD, "renewTime": FUTURE}, LEASE_S),
    "endless": ({**HELD, "leaseDurationSeconds": 2147483647, "leaseTransitions": 2147483647}, LEASE_S),
    "longer": ({**HELD, "leaseDurationSeconds": LEASE_S + 2}, LEASE_S + 2),
    "shorter": ({**HELD, "leaseDurationSeconds": 1}, LEASE_S),
    "bare": ({"holderIdentity": "x"}, LEASE_S),
    "free": ({"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": FUTURE}, 0),
    "empty": ({}, 0),
}


@case
def fault_17_whatever_the_record_contains_its_holder_keeps_it_until_it_expires(server):
    for name, (spec, _) in RECORDS.items():
        server.kube.create("leases", {"metadata": {"name": name}, "spec": spec}, "default")
    with contextlib.ExitStack() as together:
        trees = {name: together.enter_context(KubeTree(server, watcher=electing(name))) for name in RECORDS}
        for name, tree in trees.items():
            wait_for(lambda: tree.wait(tree.leads, "it leads"), f"{name} is taken")
        for name, (_, wait_s) in RECORDS.items():
            rows = lease_rows(server, name)
            read_ms, taken_ms = (next(row["at_ms"] for row in rows if row["verb"] == verb)
                                 for verb in ("get", "update"))
            took_s = (taken_ms - read_ms) / 1000
            assert wait_s <= took_s, f"{name}: taken after {took_s} s, not after {wait_s} s"
            at_once = [row["verb"] for row in rows[:2]] == ["get", "update"]
            assert at_once == (wait_s == 0), f"{name}: {rows[:3]}"
            spec = lease(server, name)["spec"]
            assert spec["leaseDurationSeconds"] == LEASE_S and spec["leaseTransitions"] >= 0, spec


@case
def fault_18_a_server_whose_clock_jumps_changes_no_leader(server):
    server.kube.create("nodes", node("n1"))
    with pair(server) as (one, two):
        for offset_s in (3600, -3600, -1700000000):
            disarm(server)
            jump = arm(server, "date_offset", seconds=offset_s, count=-1)
            wait_hits(server, jump)
            server.forget_audit()
            for _ in range(2):
                always(lambda: one.leads() and not two.leads(), "one leads and two does not",
                       renewed(server))
            for user in ("one", "two"):
                assert_patient(server, user)
            write(one, "n1")
            when = lease(server)["spec"]["renewTime"].replace("Z", "+00:00")
            ahead_s = datetime.datetime.fromisoformat(when).timestamp() - time.time()
            assert abs(ahead_s - offset_s) < 600, f"the record goes by the server's clock: {ahead_s} s ahead"
        assert lease(server)["spec"]["leaseTransitions"] == 0


@case
def fault_18_cluster_time_follows_the_clock_of_the_server(server):
    """Contract A9: every actor has it, also without election, whatever the clock of this machine is."""
    server.kube.create("nodes", node("n1"))
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()

        def ahead_s(number):
            now_us = tree.dump(number)["cluster_us"]
            return float("inf") if now_us is None else now_us / 1e6 - time.time()
        for offset_s in (0, 3600, -3600, 0):
            disarm(server)
            if offset_s:
                arm(server, "date_offset", seconds=offset_s, count=-1)
            tree.write("get", "nodes", "n1")
            for number in (1, 2):
                tree.wait(lambda: abs(ahead_s(number) - offset_s) < 5,
                          f"reader {number}: cluster time is {offset_s} s ahead")


kubesuite.run(lambda: SimServer(users=USERS, tls=True),
              prepare=lambda server: server.install(kubecrds.widgets()))
