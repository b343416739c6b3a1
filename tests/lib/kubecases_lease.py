"""tests/lib/kubecases_lease.py - two musterd on one API server: one leads, the other waits. Fault 16.

Each musterd has a user of its own, so that the audit log shows which of them sent a request.
"""
import contextlib
import os
import signal
import time

import kubecrds
import kubesuite
import procs
import tap
from kubesuite import case
from kubetree import KubeTree
from muster import wait_for

USERS = {f"{name}-token": (name, ["system:masters"]) for name in ("one", "two")}
WRITES = ("create", "update", "patch", "delete", "deletecollection")
SHORT_S = 8             # short enough to wait for, long enough for a busy machine
LONG_S = 600            # longer than any test waits


def electing(lease_s):
    return {"leader-elect": True, "leader-elect-lease-duration": f"{lease_s}s", "lease-name": "muster",
            "lease-namespace": "default"}


@contextlib.contextmanager
def pair(server, lease_s):
    """(the leader, the standby): two trees whose first leader is known."""
    one, two = (KubeTree(server, watcher=electing(lease_s), token=f"{name}-token") for name in ("one", "two"))
    one.user, two.user = "one", "two"
    with one:
        one.wait_synced()
        wait_for(one.leads, "one leads")
        with two:
            two.wait_synced()
            assert not two.leads()
            yield one, two


def by(name):
    return {"metadata": {"labels": {"by": name}}}


def lease(server):
    return server.kube.get("leases", "muster", "default")["spec"]


def stop_all(tree):
    """SIGSTOP for the whole tree, its supervisor first, which then restarts nobody."""
    everyone = [process.pid for process in procs.family(tree.process.pid)]
    for pid in everyone:
        os.kill(pid, signal.SIGSTOP)
    return everyone


def written(server, user):
    """Requests of that user that changed something, or would have."""
    return [row for row in server.audit() if row["user"] == user and row["verb"] in WRITES]


@case
def without_election_the_one_instance_leads(server):
    with KubeTree(server) as tree:
        tree.wait_synced()
        assert tree.leads()
        assert server.kube.names("leases", "default") == []


@case
def one_leads_and_the_other_is_refused(server):
    server.kube.create("nodes", {"metadata": {"name": "n1"}})
    with pair(server, LONG_S) as (leader, standby):
        leader.write("merge", "nodes", "n1", body=by("leader"))
        standby.write("merge", "nodes", "n1", body=by("standby"), expect="not-leader")
        standby.wait_equal("nodes")
        assert standby.fields("nodes/n1")["labels"]["by"] == "leader", "a standby reads all the same"
        assert written(server, standby.user) == []
        spec = lease(server)
        assert spec["leaseDurationSeconds"] == LONG_S and spec["leaseTransitions"] == 0, spec


@case
def a_clean_stop_hands_over_at_once(server):
    with pair(server, LONG_S) as (leader, standby):
        assert leader.stop() == 0
        wait_for(standby.leads, "the standby leads, long before the lease runs out")
        assert lease(server)["leaseTransitions"] >= 1
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
        standby.write("create", "nodes", "n1", body=node)


@case
def fault_16_a_frozen_leader_is_replaced_and_writes_nothing_when_it_continues(server):
    server.kube.create("nodes", {"metadata": {"name": "n1"}})
    with pair(server, SHORT_S) as (leader, standby):
        leader.write("merge", "nodes", "n1", body=by("leader"))
        frozen = stop_all(leader)
        began = time.monotonic()
        try:
            # The request waits in the socket; the frozen actor reads it when it continues.
            question = leader.begin_write("merge", "nodes", "n1", body=by("frozen"))
            wait_for(standby.leads, "the standby leads")
            took_s = time.monotonic() - began
            tap.note(f"a lease of {SHORT_S} s: the other leads {took_s:.1f} s after the freeze")
            assert took_s > SHORT_S * 0.5, "it did not wait for the lease to run out"
            standby.write("merge", "nodes", "n1", body=by("standby"))
            before = len(written(server, leader.user))
            assert before > 0, "the log has the writes of each user"
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        answer = question.answer()
        assert answer is None or answer["outcome"] == "not-leader", answer
        leader.wait(lambda: leader.dump()["fresh"] and not leader.leads(), "the old leader no longer leads")
        leader.wait_equal("nodes")
        kubesuite.pause(SHORT_S)
        after = [row for row in written(server, leader.user)[before:] if row["code"] < 300]
        assert after == [], f"writes of the old leader: {after}"
        assert server.kube.get("nodes", "n1")["metadata"]["labels"]["by"] == "standby"
        assert standby.leads()


@case
def a_killed_leader_is_replaced_when_its_lease_has_run_out(server):
    with pair(server, SHORT_S) as (leader, standby):
        everyone = [process.pid for process in procs.family(leader.process.pid)]
        procs.kill(*everyone)
        leader.process.wait()
        wait_for(standby.leads, "the standby leads")
        leader.start()
        leader.wait_synced()
        assert standby.leads() and not leader.leads()


@case
def a_leader_that_cannot_renew_stops_writing(server):
    server.kube.create("nodes", {"metadata": {"name": "n1"}})
    with KubeTree(server, watcher=electing(SHORT_S)) as tree:
        tree.wait_synced()
        wait_for(tree.leads, "it leads")
        server.pause()
        try:
            wait_for(lambda: not tree.leads(), "it gives up")
            tree.write("merge", "nodes", "n1", body=by("nobody"), expect="not-leader")
        finally:
            server.resume()
        wait_for(tree.leads, "it leads again")
        tree.write("merge", "nodes", "n1", body=by("leader"))


def run(make):
    kubesuite.run(lambda: make(users=USERS), prepare=lambda server: server.install(kubecrds.widgets()))
