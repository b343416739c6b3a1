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
from kubefaults import (News, arm, asked, case, disarm, hits, holds, label, lists, memory_kib, node, nodes,
                        param, quiet, see, steady, strike, wait_hits, watches)
from kubefaults_proxy import Proxy
from kubeservers import SimServer
from kubesuite import pause
from kubetree import WATCHER
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
    return max(see(server, tree, NAMES[kind], kind) for kind in kinds)


@case
def fault_7_a_watch_waits_as_it_is_told_and_keeps_its_place(server):
    populate(server)
    told = {"nodes": "2", "pods": "0", "widgets": "abc", "namespaces": None}
    with steady(server, KINDS) as tree:
        see_all(server, tree)
        faults = [arm(server, "status", verb="watch", resource=kind, code=429,
                      **({"retry_after": value} if value else {})) for kind, value in told.items()]
        strike(server, "short_watch", count=len(KINDS))
        for fault in faults:
            wait_hits(server, fault)
        see_all(server, tree)
        for kind, value in told.items():
            refused, taken = watches(server, kind)
            rest_s = (taken["at_ms"] - refused["at_ms"]) / 1000
            assert (refused["code"], taken["code"]) == (429, 200), (refused, taken)
            assert param(refused, "resourceVersion") == param(taken, "resourceVersion")
            assert (2 if value == "2" else 0.8) <= rest_s < 10, f"{kind} told {value!r} rested {rest_s} s"
        assert lists(server) == [], "a 429 says nothing about what is known"


@case
def fault_7_a_watch_that_is_told_an_age_waits_and_harms_no_other(server):
    populate(server)
    with steady(server, KINDS, check_end=False) as tree:
        busy = arm(server, "status", verb="watch,list", resource="nodes", code=429, retry_after="99999")
        strike(server, "short_watch", resource="nodes")
        wait_hits(server, busy)
        # Those that have to ask anew meanwhile do not wait with it.
        for kind in KINDS[1:]:
            strike(server, "short_watch", resource=kind)
        assert see_all(server, tree, KINDS[1:]) < 10
        pause(3)
        assert [row["code"] for row in asked(server, "nodes")] == [429]
        assert len(tree.objects("nodes")) == 5 and tree.kind("nodes")["state"] == "synced"


@case
def fault_8_a_broken_server_is_asked_ever_less(server):
    populate(server)
    with steady(server, KINDS) as tree:
        held = tree.dump()["objects"]
        broken = arm(server, "status", count=-1, code=503, body="html")
        server.interrupt()
        wait_hits(server, broken)
        rows = quiet(server, 5)
        by_kind = {kind: sum(row["resource"] == kind for row in rows) for kind in KINDS}
        assert all(1 <= count <= 3 for count in by_kind.values()), by_kind
        assert len(rows) <= 3 * len(KINDS) + 3, [row["uri"] for row in rows]
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
def fault_11_a_silent_watch_takes_nobody_else_down(server):
    populate(server)
    with steady(server, KINDS) as tree:
        news = News(tree)
        strike(server, "stall", resource="nodes")
        label(server, "nodes", "n1", "unheard")
        server.kube.delete("nodes", "n2")
        assert see_all(server, tree, KINDS[1:]) < 10
        assert len(tree.objects("nodes")) == 5 and news.gone() == set()
        tree.write("merge", "nodes", "n3", body={"metadata": {"labels": {"value": "written"}}})
        assert holds(tree, "nodes", "n3", "written"), "an own write is seen without the watch"
        server.interrupt()
        see_all(server, tree)
        assert holds(tree, "nodes", "n3", "written") and news.gone() == {"nodes/n2"}


@case
def fault_12_a_slow_watch_slows_no_other(server):
    populate(server)
    with steady(server, KINDS) as tree:
        strike(server, "throttle", resource="nodes", bytes=1)
        server.kube.create_many("nodes", nodes(200, start=100))
        took_s = see_all(server, tree, KINDS[1:])
        assert took_s < 10, f"{took_s} s"
        tree.write("create", "nodes", "new", body={"apiVersion": "v1", "kind": "Node", **node("new")})
        assert tree.counts()["gone"] == 0
        server.interrupt()


@case
def fault_12_a_slow_list_takes_nothing_away(server):
    populate(server)
    arm(server, "no_watchlist", verb="watch", count=-1)
    with steady(server, KINDS) as tree:
        slow = arm(server, "throttle", verb="list", resource="nodes", bytes=300)
        strike(server, "gone_in_stream", resource="nodes")
        wait_hits(server, slow)
        assert see_all(server, tree, KINDS[1:]) < 10
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
        assert see_all(server, tree, ("namespaces", "widgets")) < 10
        see_all(server, tree)
        assert [len(watches(server, kind)) for kind in ("nodes", "pods")] == [2, 2], "asked again"
        grown_kib = memory_kib(tree.pid(WATCHER)) - before_kib
        assert grown_kib < 4096, f"{grown_kib} KiB more"
        assert lists(server) == [] and tree.counts()["gone"] == 0


@case
def fault_12_an_endless_event_is_refused_in_bounded_memory(server):
    populate(server)
    with Proxy() as proxy:
        with steady(server, KINDS, env={"http_proxy": proxy.url, "no_proxy": ""}) as tree:
            before_kib = memory_kib(tree.pid(WATCHER))
            taken_mib = proxy.flood("/api/v1/nodes?", 1 << 30) >> 20
            assert 16 <= taken_mib < 32, f"{taken_mib} MiB were taken of an event without end"
            see_all(server, tree)
            grown_mib = (memory_kib(tree.pid(WATCHER)) - before_kib) >> 10
            assert grown_mib < 48, f"{grown_mib} MiB more for an event of at most 16 MiB"
            assert lists(server) == [] and tree.counts()["gone"] == 0


kubesuite.run(SimServer, prepare=lambda server: server.install(kubecrds.widgets()))
