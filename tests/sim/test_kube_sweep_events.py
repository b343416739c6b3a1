"""tests/sim/test_kube_sweep_events.py - fault 4: each event of a workload is lost once.

The workload is played once per event of its own, each time on objects of a group of its own, so that one
stream has all the losses and one list must find them all.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
import tap
from kubefaults import (TYPES, WORK, ReceivedChanges, arm, asked, case, ever_deleted, hits, key_of, label,
                        lists, node, play, see, steady, strike, wait_label)
from kubeservers import SimServer

GROUPS = [f"g{number}" for number in range(len(WORK))]


def forget(server, resource, number):
    """Arms the loss of the workload's event of that number, in the group of that number."""
    what, which = WORK[number]
    before = sum(step == (what, which) for step in WORK[:number])
    return arm(server, "drop_event", resource=resource, name=f"{GROUPS[number]}-{which}", event=TYPES[what],
               after=before)


def sweep(server, tree, resource):
    """All losses; then a relist. Returns the keys that were reported gone before it, and with it."""
    received = ReceivedChanges(tree)
    losses = [forget(server, resource, number) for number in range(len(WORK))]
    for group in GROUPS:
        play(server, resource, group)
    see(server, tree, "fence", resource)        # all events before it have come
    assert [hits(server, loss) for loss in losses] == [1] * len(WORK), "each event was lost once"
    assert asked(server, resource) == [], "a lost event cannot be noticed"
    early = received.gone()
    # The version to go on from has moved past what was lost: only a list finds it.
    strike(server, "short_watch", resource=resource)
    see(server, tree, "fence", resource)
    assert lists(server, resource) == [] and received.gone() == early
    strike(server, "gone_in_stream", resource=resource)
    tree.wait_equal(resource)
    assert len(lists(server, resource)) == 1
    return early, received.gone()


def lost_deletions(resource):
    """Objects whose last event is their deletion, and it was lost."""
    return {key_of(resource, f"{GROUPS[number]}-{which}") for number, (what, which) in enumerate(WORK)
            if what == "delete" and not any(later == which for _, later in WORK[number + 1:])}


def check(server, resource):
    server.kube.create(resource, node("fence"))
    with steady(server, (resource,)) as tree:
        early, late = sweep(server, tree, resource)
        ends = lost_deletions(resource)
        deleted = set().union(*(ever_deleted(resource, group) for group in GROUPS))
        assert late <= deleted, f"never deleted: {late - deleted}"
        assert ends and ends.isdisjoint(early) and ends <= late, f"not found by the list: {ends - late}"
        tap.note(f"{len(WORK)} losses in {len(WORK) ** 2} events: {len(early)} deletions by the stream, "
                 f"{len(late) - len(early)} more by the list")


@case
def fault_4_every_lost_event_of_nodes_is_found_by_a_list(server):
    check(server, "nodes")


@case
def fault_4_every_lost_event_of_a_custom_kind_is_found_by_a_list(server):
    check(server, "widgets")


@case
def fault_4_the_next_change_of_an_object_repairs_its_loss(server):
    for name in ("n1", "n2", "n3"):
        server.kube.create("nodes", node(name))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        arm(server, "drop_event", resource="nodes", name="n1")
        arm(server, "drop_event", resource="nodes", name="new", event="ADDED")
        arm(server, "drop_event", resource="nodes", name="n3", event="DELETED")
        label(server, "nodes", "n1", "lost")
        server.kube.create("nodes", node("new"))
        server.kube.delete("nodes", "n3")
        server.kube.create("nodes", node("n3", second="true"))      # another object of that name
        see(server, tree, "n2")
        label(server, "nodes", "n1", "seen")
        label(server, "nodes", "new", "seen")
        wait_label(tree, "nodes", "n1", "seen")
        wait_label(tree, "nodes", "new", "seen")
        tree.wait_equal("nodes")
        assert asked(server) == [] and received.gone() == {"nodes/n3"}


kubesuite.run(SimServer, prepare=lambda server: server.install(kubecrds.widgets()))
