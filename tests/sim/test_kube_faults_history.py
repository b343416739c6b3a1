"""tests/sim/test_kube_faults_history.py - stale, repeated or expired data: faults 1, 2, 5, 6, 31.

muster-test: parallel
muster-test: timeout=300
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from kube import rv, typed
from kubefaults import (ReceivedChanges, arm, asked, case, count_work, disarm, ever_deleted, label, lists,
                        node, nodes, param, play, see, steady, strike, versions, wait_hits, wait_label,
                        wait_patient, watches)
from kubeservers import SimServer
from kubetree import WATCHER, KubeTree
from muster import wait_for

KINDS = ("nodes", "pods", "namespaces", "widgets")


def assert_forward(rows):
    """No request went back behind a version that an earlier one named."""
    named = [version for version in versions(rows) if version]
    assert named == sorted(named), f"versions went back: {named}"


@case
def fault_1_a_stale_list_takes_nothing_away_and_nothing_back(server):
    server.kube.create_many("nodes", nodes(10))
    old = rv(server.kube.list("nodes"))
    label(server, "nodes", "n1", "new")
    server.kube.create("nodes", node("n10"))
    arm(server, "no_watchlist", verb="watch", count=-1)
    with steady(server) as tree:
        held, received = tree.objects("nodes"), ReceivedChanges(tree)
        stale = arm(server, "stale", verb="list", resource="nodes", rv=old)
        strike(server, "gone_in_stream", resource="nodes")
        wait_hits(server, stale)
        wait_for(lambda: len(lists(server, "nodes")) == 2 and watches(server, "nodes"), "a second list")
        assert tree.objects("nodes") == held
        see(server, tree, "n2")
        assert received.so_far() == (0, 1, 0), received.so_far()
        first, second = lists(server, "nodes")
        assert int(param(first, "resourceVersion")) > old, "not older than what it has"
        assert not param(second, "resourceVersion"), "the most recent there is"
        assert_forward(asked(server, "nodes"))


@case
def fault_1_no_list_takes_whatever_there_is(server):
    server.kube.create_many("nodes", nodes(3))
    for old_server in (False, True):
        server.forget_audit()
        if old_server:
            arm(server, "no_watchlist", verb="watch", count=-1)
        with KubeTree(server) as tree:
            tree.wait_synced()
            server.expire()
            wait_for(lambda: len(lists(server, "nodes")) >= 2, "a relist")
            dead = tree.kill(WATCHER)
            tree.wait_back(WATCHER, dead)
            see(server, tree, "n1")
        rows = lists(server) + watches(server)
        assert [row["uri"] for row in rows if param(row, "resourceVersion") == "0"] == []
        assert [row["uri"] for row in watches(server) if not param(row, "resourceVersion")] == []
        disarm(server)


@case
def fault_1_a_stale_answer_does_not_reach_the_mirror(server):
    server.kube.create_many("nodes", nodes(2))
    old = rv(server.kube.list("nodes"))
    label(server, "nodes", "n1", "new")
    with steady(server) as tree:
        before, received = tree.objects("nodes"), ReceivedChanges(tree)
        stale = arm(server, "stale", verb="get", resource="nodes", rv=old)
        tree.write("get", "nodes", "n1")
        wait_hits(server, stale)
        assert tree.objects("nodes") == before and received.so_far() == (0, 0, 0)
        row, = asked(server, "nodes", "get")
        assert param(row, "resourceVersion") is None, "a live read asks for the most recent state"


@case
def fault_2_a_version_too_large_is_tried_without_one(server):
    server.kube.create_many("nodes", nodes(5))
    for old_server in (False, True):
        if old_server:
            arm(server, "no_watchlist", verb="watch", count=-1)
        with steady(server) as tree:
            verb = "list" if old_server else "watch"
            too_large = arm(server, "rv_too_large", verb=verb, resource="nodes")
            strike(server, "gone_in_stream", resource="nodes")
            wait_hits(server, too_large)
            see(server, tree, "n1")
            first, second = lists(server, "nodes")
            assert (first["code"], second["code"]) == (504, 200), (first, second)
            assert int(param(first, "resourceVersion")) > 0 and not param(second, "resourceVersion")
            assert tree.counts()["gone"] == 0
            assert_forward(watches(server, "nodes"))


@case
def fault_2_a_watch_whose_version_is_too_large_keeps_it(server):
    server.kube.create_many("nodes", nodes(5))
    with steady(server) as tree:
        see(server, tree, "n1")
        too_large = arm(server, "rv_too_large", verb="watch", resource="nodes")
        strike(server, "short_watch", resource="nodes")
        wait_hits(server, too_large)
        see(server, tree, "n2")
        first, second = watches(server, "nodes")
        assert (first["code"], second["code"]) == (504, 200), (first, second)
        assert param(first, "resourceVersion") == param(second, "resourceVersion")
        assert lists(server) == []


@case
def fault_5_an_event_sent_twice_is_passed_on_once(server):
    server.kube.create_many("nodes", nodes(3))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        twice = arm(server, "duplicate_event", resource="nodes", count=-1)
        play(server, "nodes", "twice", tree)
        see(server, tree, "n1")
        wait_hits(server, twice, count=21)
        wanted = (count_work("create"), count_work("label") + 1, count_work("delete"))
        assert received.so_far() == wanted, f"{received.so_far()}, not {wanted}"
        assert received.gone() == ever_deleted("nodes", "twice")
        # And once more, long after it was received.
        newest = typed("nodes", server.kube.get("nodes", "n1"))
        strike(server, "malformed", text=json.dumps({"type": "MODIFIED", "object": newest}), resource="nodes")
        see(server, tree, "n2")
        assert received.so_far() == (wanted[0], wanted[1] + 1, wanted[2]), received.so_far()
        assert asked(server) == [], "a repetition is no reason to ask"


@case
def fault_5_events_out_of_order_make_one_list(server):
    server.kube.create_many("nodes", nodes(3))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        arm(server, "swap_events", resource="nodes", name="n1")
        label(server, "nodes", "n1", "first")
        label(server, "nodes", "n2", "second")
        for name, value in (("n1", "first"), ("n2", "second")):
            wait_label(tree, "nodes", name, value)
        see(server, tree, "n0")
        assert received.so_far() == (0, 3, 0), received.so_far()
        assert len(lists(server)) == 1


@case
def fault_5_an_old_event_replayed_brings_no_object_back(server):
    server.kube.create_many("nodes", nodes(3))
    line = json.dumps({"type": "ADDED", "object": typed("nodes", server.kube.get("nodes", "n1"))})
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        server.kube.delete("nodes", "n1")
        wait_for(lambda: tree.fields("nodes/n1") is None, "n1 is gone")
        strike(server, "malformed", text=line, resource="nodes")
        see(server, tree, "n2")
        assert received.so_far() == (0, 1, 1), received.so_far()
        assert len(lists(server, "nodes")) == 1, "an event whose order is unknown makes a list"


@case
def fault_6_a_410_in_the_stream_is_one_relist(server):
    server.kube.create_many("nodes", nodes(50))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        arm(server, "gone_in_stream", resource="nodes", name="n7")
        server.kube.delete("nodes", "n3")
        label(server, "nodes", "n7", "on-its-way")
        server.kube.create("nodes", node("n50"))
        wait_label(tree, "nodes", "n7", "on-its-way")
        see(server, tree, "n8")
        assert received.so_far() == (1, 2, 1) and received.gone() == {"nodes/n3"}, received.so_far()
        assert len(lists(server, "nodes")) == 1 and len(asked(server)) == 1, asked(server)


@case
def fault_6_a_410_on_connect_is_one_relist_of_each_kind(server):
    server.kube.create_many("nodes", nodes(50))
    with steady(server, KINDS) as tree:
        received = ReceivedChanges(tree)

        def changes(kube):
            kube.delete("nodes", "n3")
            kube.create("nodes", node("n50"))
        server.behind(changes)
        tree.wait_equal("nodes")
        wait_for(lambda: all(len(lists(server, kind)) == 1 for kind in KINDS), "each kind is listed")
        see(server, tree, "n8")
        assert received.so_far() == (1, 1, 1) and received.gone() == {"nodes/n3"}, received.so_far()
        assert {kind: len(lists(server, kind)) for kind in KINDS} == dict.fromkeys(KINDS, 1)


@case
def fault_6_an_http_410_is_the_same(server):
    server.kube.create_many("nodes", nodes(5))
    with steady(server) as tree:
        gone = arm(server, "status", verb="watch", resource="nodes", code=410)
        strike(server, "short_watch", resource="nodes")
        wait_hits(server, gone)
        see(server, tree, "n1")
        assert len(lists(server, "nodes")) == 1 and tree.counts()["gone"] == 0


def assert_backs_off(server, tree):
    """Every watch expires: requests back off, nothing is gone, and no other kind is affected."""
    wait_patient(server, ["nodes"], "watch")
    assert len(tree.objects("nodes")) == 5 and tree.counts()["gone"] == 0
    see(server, tree, "default", "namespaces")
    disarm(server)


@case
def fault_6_a_server_whose_every_list_expires_is_not_asked_in_a_loop(server):
    server.kube.create_many("nodes", nodes(5))
    with steady(server) as tree:
        arm(server, "gone_in_stream", resource="nodes", count=-1)
        label(server, "nodes", "n1", "x")
        assert_backs_off(server, tree)


@case
def fault_6_a_server_whose_every_watch_expires_is_not_asked_in_a_loop(server):
    server.kube.create_many("nodes", nodes(5))
    arm(server, "no_watchlist", verb="watch", count=-1)
    with steady(server) as tree:
        arm(server, "status", verb="watch", resource="nodes", code=410, count=-1)
        strike(server, "short_watch", resource="nodes")
        assert_backs_off(server, tree)


@case
def fault_31_an_object_made_again_unseen_is_another_one(server):
    server.kube.create("nodes", node("n1", of="the-first"))
    server.kube.create_many("nodes", nodes(1, start=2))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        arm(server, "drop_event", resource="nodes", event="DELETED")
        server.kube.delete("nodes", "n1")
        second = server.kube.create("nodes", node("n1", of="the-second"))["metadata"]["uid"]
        wait_for(lambda: tree.objects("nodes")["nodes/n1"]["uid"] == second, "the second is seen")
        assert tree.fields("nodes/n1")["labels"] == {"of": "the-second"}
        assert received.so_far() == (1, 0, 1), f"one gone, another added, not {received.so_far()}"


@case
def fault_31_the_end_of_the_first_does_not_end_the_second(server):
    server.kube.create_many("nodes", nodes(3))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        arm(server, "swap_events", resource="nodes", event="DELETED")
        server.kube.delete("nodes", "n1")
        second = server.kube.create("nodes", node("n1"))["metadata"]["uid"]
        see(server, tree, "n2")
        assert tree.objects("nodes")["nodes/n1"]["uid"] == second
        assert received.so_far() == (1, 1, 1), f"one gone, another added, not {received.so_far()}"


kubesuite.run(SimServer, prepare=lambda server: server.install(kubecrds.widgets()))
