"""tests/sim/test_kube_sweep_bytes.py - fault 9: a watch breaks after every single byte of an event.

Three kinds are swept at once, one for each way in which a connection can end. A watch that is cut has sent
one complete event, so that the next watch follows at once; that one begins with the event that was cut.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
import tap
from kube import METADATA_ONLY, rv
from kubefaults import (ReceivedChanges, arm, case, disarm, label, lists, node, nodes, param, see, steady,
                        strike, versions, wait_hits, wait_label, watches)
from kubeservers import SimServer

WAYS = {"nodes": "fin", "namespaces": "reset", "widgets": "clean"}
BODIES = {"nodes": node("x"), "namespaces": node("x"), "widgets": {**node("x"), "spec": {"size": 1}}}


def value_of(number):
    """All values have one length, so that all events have the same."""
    return f"v{number:05}"


def change(server, resource, number):
    label(server, resource, "x", value_of(number))


def populate(server):
    for resource, body in BODIES.items():
        if server.kube.find(resource, "x") is None:
            server.kube.create(resource, body)
        change(server, resource, 0)


def event_bytes(server, resource):
    """The length of the event of a change, with its line break."""
    before = rv(server.kube.list(resource))
    change(server, resource, 0)
    label(server, resource, "x", "other0")
    change(server, resource, 0)
    connection = server.kube.connect()
    try:
        path = server.kube.path(resource, everywhere=True)
        query = {"watch": "true", "resourceVersion": before, "timeoutSeconds": "5"}
        accept = METADATA_ONLY if resource == "namespaces" else None        # as kube-watcher asks for it
        response = server.kube.send(connection, "GET", path, query=query, accept=accept)
        lines = [response.readline() for _ in range(2)]
    finally:
        connection.close()
    assert len(lines[0]) == len(lines[1]), lines
    return len(lines[0])


@case
def fault_9_a_watch_is_cut_after_every_byte_of_an_event(server):
    populate(server)
    lengths = {resource: event_bytes(server, resource) for resource in WAYS}
    with steady(server, WAYS) as tree:
        received = ReceivedChanges(tree)
        for number in range(1, max(lengths.values()) + 1):
            swept = [resource for resource in WAYS if number <= lengths[resource]]
            for resource in swept:
                arm(server, "cut", resource=resource, bytes=number, how=WAYS[resource], now=True)
                change(server, resource, number)
            for resource in swept:
                wait_label(tree, resource, "x", value_of(number))
            disarm(server)
        for resource in WAYS:
            see(server, tree, "x", resource)
        total = sum(lengths.values())
        assert received.so_far() == (0, total + len(WAYS), 0), f"{received.so_far()} for {total} changes"
        for resource, length in lengths.items():
            rows = watches(server, resource)
            assert len(rows) == length, f"{length} cuts of {resource}, {len(rows)} watches after them"
            assert versions(rows) == sorted(versions(rows)), "a version went back"
        assert lists(server) == [], "what is half is no reason to list"
        tap.note(f"{total} cuts: " + ", ".join(f"{lengths[resource]} of {resource} ({how})"
                                               for resource, how in WAYS.items()))


@case
def fault_9_the_first_event_of_a_watch_is_cut(server):
    populate(server)
    lengths = {resource: event_bytes(server, resource) for resource in WAYS}
    with steady(server, WAYS) as tree:
        received = ReceivedChanges(tree)
        # At once, in the middle, and before the line break: with JSON that is complete, and HTTP too.
        cuts = [arm(server, "cut", verb="watch", resource=resource, how=WAYS[resource], bytes=bytes_)
                for resource, bytes_ in (("nodes", 0), ("namespaces", lengths["namespaces"] // 2),
                                         ("widgets", lengths["widgets"] - 1))]
        for resource in WAYS:
            change(server, resource, 1)
            wait_label(tree, resource, "x", value_of(1))
        strike(server, "stall", count=len(WAYS) + 1)        # what comes now is for the next watch
        for resource in WAYS:
            change(server, resource, 2)
        server.interrupt()
        for cut in cuts:
            wait_hits(server, cut)
        for resource in WAYS:
            wait_label(tree, resource, "x", value_of(2))
            first, second = watches(server, resource)
            assert param(first, "resourceVersion") == param(second, "resourceVersion"), resource
            assert second["at_ms"] - first["at_ms"] >= 800, "a watch that brings nothing is a failure"
        assert received.so_far() == (0, 2 * len(WAYS), 0) and lists(server) == []


@case
def fault_9_a_list_that_is_cut_takes_nothing_away(server):
    populate(server)
    server.kube.create_many("nodes", nodes(20))
    for old_server in (False, True):
        verb = "list" if old_server else "watch"
        if old_server:
            arm(server, "no_watchlist", verb="watch", count=-1)
        with steady(server, WAYS) as tree:
            received = ReceivedChanges(tree)
            arm(server, "drop_event", resource="nodes", event="DELETED")
            server.kube.delete("nodes", f"n{old_server:d}")
            cuts = [arm(server, "cut", verb=verb, resource=resource, how=WAYS[resource], bytes=bytes_)
                    for resource, bytes_ in (("nodes", 4000), ("namespaces", 30), ("widgets", 300))]
            for resource in WAYS:
                see(server, tree, "x", resource)
                strike(server, "gone_in_stream", resource=resource)
            for cut in cuts:
                wait_hits(server, cut)
            tree.wait_equal("nodes")
            for resource in WAYS:
                see(server, tree, "x", resource)
            assert received.gone() == {f"nodes/n{old_server:d}"}, received.gone()
            assert {resource: len(lists(server, resource)) for resource in WAYS} == dict.fromkeys(WAYS, 2)


kubesuite.run(SimServer, prepare=lambda server: server.install(kubecrds.widgets()))
