"""tests/sim/test_kube_faults_server.py - a server that is busy, broken or slow: faults 7, 8, 10, 11, 12.

What takes minutes (the cap of the backoff, the longest Retry-After, the end of a silent watch) is in
tests/unit/test_reflector.c.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from kubefaults import (ReceivedChanges, arm, asked, asked_at, assert_rests, case, disarm, hits, holds, label,
                        lists, memory_kib, node, nodes, param, see, steady, strike, wait_hits,
                        wait_patient, watches)
from kubefaults_proxy import Proxy
from kubeservers import SimServer
from kubetree import WATCHER, KubeTree
from muster import wait_for

KINDS = ("nodes", "pods", "namespaces", "widgets")
POD = {"metadata": {"name": "p1"}, "spec": {"containers": [{"name": "c", "image": "nothing"}]}}
WIDGET = {"metadata": {"name": "w1"}, "spec": {"size": 1}}
NAMES = {"nodes": "n1", "pods": "p1", "namespaces": "default", "widgets": "w1"}


def populate(server):
    server.kube.create_many("nodes", nodes(5))
    server.kube.create("pods", POD)
    server.kube.create("widgets", WIDGET)


def see_all(server, tree, kinds=KINDS):
    for kind in kinds:
        see(server, tree, NAMES[kind], kind)


@case
def fault_7_a_watch_waits_for_retry_after_and_keeps_its_version(server):
    populate(server)
    retry_after = {"nodes": "2", "pods": "0", "widgets": "abc", "namespaces": None}
    with steady(server, KINDS) as tree:
        see_all(server, tree)
        faults = [arm(server, "status", verb="watch", resource=kind, code=429,
                      **({"retry_after": value} if value else {})) for kind, value in retry_after.items()]
        strike(server, "short_watch", count=len(KINDS))
        for fault in faults:
            wait_hits(server, fault)
        see_all(server, tree)
        for kind, value in retry_after.items():
            refused, taken = watches(server, kind)
            assert (refused["code"], taken["code"]) == (429, 200), (refused, taken)
            assert param(refused, "resourceVersion") == param(taken, "resourceVersion")
            assert_rests(asked_at([refused, taken]), f"{kind} after {value!r}", 2 if value == "2" else 0.8)
        assert lists(server) == [], "a 429 makes no list"


@case
def fault_7_a_very_long_retry_after_delays_no_other_watch(server):
    populate(server)
    with steady(server, KINDS, check_end=False) as tree:
        busy = arm(server, "status", verb="watch,list", resource="nodes", code=429, retry_after="99999")
        strike(server, "short_watch", resource="nodes")
        wait_hits(server, busy)
        # Kinds that have to watch again meanwhile do not wait with it.
        for kind in KINDS[1:]:
            strike(server, "short_watch", resource=kind)
        see_all(server, tree, KINDS[1:])
        first, *later = asked(server, "nodes")
        assert first["code"] == 429, first
        for row in later:       # none, unless all of this took a minute
            assert_rests(asked_at([first, row]), "nodes", first_s=60)
        assert len(tree.objects("nodes")) == 5 and tree.kind("nodes")["state"] == "synced"


@case
def fault_8_requests_to_a_broken_server_back_off(server):
    populate(server)
    with steady(server, KINDS) as tree:
        held = tree.dump()["objects"]
        broken = arm(server, "status", count=-1, code=503, body="html")
        server.interrupt()
        wait_hits(server, broken)
        wait_patient(server, KINDS)
        for uri in {row["uri"] for row in asked(server) if row["resource"] not in KINDS}:
            assert_rests(asked_at(row for row in asked(server) if row["uri"] == uri), uri)
        assert tree.dump()["objects"] == held and tree.counts()["gone"] == 0
        complaints = [fact["why"] for fact in tree.facts(actor=WATCHER, level="warn", code=503)]
        assert complaints and not any("<" in text for text in complaints), complaints[:3]
        disarm(server)
        see_all(server, tree)


@case
def fault_8_a_few_errors_of_the_server_cost_no_list(server):
    populate(server)
    with steady(server, KINDS) as tree:
        broken = [arm(server, "status", resource="nodes", verb="watch", code=500),
                  arm(server, "status", resource="pods", verb="watch", code=502, body="html"),
                  arm(server, "status", resource="widgets", verb="watch", code=504, body="empty"),
                  arm(server, "drop_connection", resource="namespaces", verb="watch")]
        strike(server, "short_watch", count=len(KINDS))
        for fault in broken:
            wait_hits(server, fault)
        see_all(server, tree)
        assert lists(server) == [] and tree.counts()["gone"] == 0


@case
def fault_10_no_watch_is_ever_compressed(server):
    populate(server)
    with Proxy() as proxy:
        members = arm(server, "gzip_members", count=-1)
        with steady(server, KINDS, env={"http_proxy": proxy.url, "no_proxy": ""}) as tree:
            see_all(server, tree)
            server.expire()
            wait_for(lambda: lists(server, "nodes"), "a relist")
            see_all(server, tree)
            assert hits(server, members) >= 2 * len(KINDS), "a server that would compress"
        heads = [head for head in proxy.heads if "watch=true" in head]
        assert len(heads) >= 2 * len(KINDS)
        assert [head for head in heads if "accept-encoding" in head.lower()] == []


@case
def a_kind_that_was_read_once_and_is_forbidden_now_delays_no_other(server):
    """The others are complete only after it was taken away."""
    populate(server)
    arm(server, "status", verb="watch", resource="nodes", code=403, reason="Forbidden", count=-1)
    late = [arm(server, "latency", verb="watch", resource=kind, ms=2000, count=1) for kind in KINDS[1:]]
    with KubeTree(server) as tree:
        tree.wait(lambda: tree.kind(KINDS[1]).get("state") == "synced", "the other kinds are read")
        assert tree.kind("nodes")["state"] == "forbidden" and len(tree.objects("nodes")) == 5
        for number in late:
            wait_hits(server, number)
        disarm(server)


@case
def fault_11_a_silent_watch_affects_no_other(server):
    populate(server)
    with steady(server, KINDS) as tree:
        received = ReceivedChanges(tree)
        strike(server, "stall", resource="nodes")
        label(server, "nodes", "n1", "unseen")
        server.kube.delete("nodes", "n2")
        see_all(server, tree, KINDS[1:])
        assert not holds(tree, "nodes", "n1", "unseen"), "nothing was wrong with nodes"
        assert len(tree.objects("nodes")) == 5 and received.gone() == set()
        tree.write("merge", "nodes", "n3", body={"metadata": {"labels": {"value": "written"}}})
        assert holds(tree, "nodes", "n3", "written"), "an own write is seen without the watch"
        server.interrupt()
        see_all(server, tree)
        assert holds(tree, "nodes", "n3", "written") and received.gone() == {"nodes/n2"}


@case
def fault_12_a_slow_watch_slows_no_other(server):
    populate(server)
    with steady(server, KINDS) as tree:
        strike(server, "throttle", resource="nodes", bytes=1)
        server.kube.create_many("nodes", nodes(200, start=100))
        see_all(server, tree, KINDS[1:])
        tree.write("create", "nodes", "new", body={"apiVersion": "v1", "kind": "Node", **node("new")})
        assert len(tree.objects("nodes")) < 200, "by now nodes have come through"
        assert tree.counts()["gone"] == 0
        server.interrupt()


@case
def fault_12_a_slow_list_takes_nothing_away(server):
    populate(server)
    arm(server, "no_watchlist", verb="watch", count=-1)
    with steady(server, KINDS) as tree:
        slow = arm(server, "throttle", verb="list", resource="nodes", bytes=1)
        strike(server, "gone_in_stream", resource="nodes")
        wait_hits(server, slow)
        see_all(server, tree, KINDS[1:])
        assert watches(server, "nodes") == [], "by now the list has come through"
        assert len(tree.objects("nodes")) == 5
        server.interrupt()
        see(server, tree, "n1")
        assert tree.counts()["gone"] == 0


@case
def fault_12_huge_headers_are_refused_in_little_memory(server):
    populate(server)
    with steady(server, KINDS) as tree:
        before_kib = memory_kib(tree.pid(WATCHER))
        # One line is limited by curl, all of them together by us.
        huge = [arm(server, "huge_headers", verb="watch", resource="nodes", bytes=64 * 1024 * 1024),
                arm(server, "huge_headers", verb="watch", resource="pods", bytes=90 * 1024)]
        strike(server, "short_watch", resource="nodes")
        strike(server, "short_watch", resource="pods")
        for fault in huge:
            wait_hits(server, fault)
        see_all(server, tree)
        assert [len(watches(server, kind)) for kind in KINDS] == [2, 2, 0, 0], "asked again, no other"
        grown_mib = (memory_kib(tree.pid(WATCHER)) - before_kib) >> 10
        assert grown_mib < 16, f"{grown_mib} MiB more for a header of 64 MiB"
        assert lists(server) == [] and tree.counts()["gone"] == 0


@case
def fault_12_an_endless_event_is_refused_in_bounded_memory(server):
    populate(server)
    with Proxy() as proxy:
        with steady(server, KINDS, env={"http_proxy": proxy.url, "no_proxy": ""}) as tree:
            before_kib = memory_kib(tree.pid(WATCHER))
            taken_mib = proxy.flood("/api/v1/nodes?", 1 << 30) >> 20
            assert 16 <= taken_mib < 64, f"{taken_mib} MiB were taken of an event without end"
            see_all(server, tree)
            grown_mib = (memory_kib(tree.pid(WATCHER)) - before_kib) >> 10
            assert grown_mib < 48, f"{grown_mib} MiB more for an event of at most 16 MiB"
            assert lists(server) == [] and tree.counts()["gone"] == 0


kubesuite.run(SimServer, prepare=lambda server: server.install(kubecrds.widgets()))
