"""tests/sim/test_claimer_clock.py - a wall clock that jumps by an hour: nothing expires, nothing is deleted.

Contract A9 with real processes: that of muster-sim (the API server and the provider: header Date and every
timestamp), and that of the machine on which musterd runs. Meanwhile one Node is drained, and a budget does
not give way; actors start anew under the other time; new Widgets get their VMs.

muster-test: parallel
muster-test: timeout=300
"""
import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import tap
from claimertree import CLAIMER, STATE, VM, ClaimerTree, delete, make, noted, wait_bound, widgets
from kubetree import WATCHER
from muster import wait_for
from vms import VMs, node_name
from wallclock import WallClock

HOUR_S = 3600
ELECTION = {"leader-elect": True, "leader-elect-lease-duration": "60s", "lease-name": "muster",
            "lease-namespace": "default"}
BUDGET = {"metadata": {"name": "kept"}, "spec": {"maxUnavailable": 0,
                                                 "selector": {"matchLabels": {"app": "kept"}}}}


def pod_on(node):
    return {"metadata": {"name": "kept", "labels": {"app": "kept"}},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}}


def refusals(server):
    """Evictions that the budget refused."""
    return [row for row in server.audit() if row["subresource"] == "eviction" and row["code"] == 429]


def begin_drain(vms):
    """The Widget "going" is deleted; a Pod on its Node stays, by its budget."""
    server = vms.server
    make(server, "going", "stays")
    wait_bound(vms, "going", "stays")
    node = node_name(int(noted(server, VM)["going"]))
    wait_for(lambda: server.kube.find("nodes", node), "its Node has joined")
    server.kube.create("poddisruptionbudgets", BUDGET, "default")
    server.kube.create("pods", pod_on(node), "default")
    delete(server, "going")
    wait_for(lambda: refusals(server), "the budget has refused an eviction")


def end_drain(vms):
    """The budget gives way: the Pod goes, then the VM of that one Widget."""
    vms.server.kube.delete("poddisruptionbudgets", "kept", "default")
    wait_for(lambda: "going" not in widgets(vms.server), "the Widget that was deleted is gone")
    assert len(vms.effects("DELETE")) == 1, vms.effects("DELETE")


def assert_nothing_lost(vms, tree, since):
    """since: the ids of VMs before."""
    assert_no_deletion(vms)
    assert set(since) <= set(vms.tags()), f"{vms.list()}: not all that were there: {since}"
    assert vms.server.kube.find("pods", "kept", "default"), "the Pod under the budget is gone"
    assert "going" in widgets(vms.server), "its Widget is gone"
    assert tree.leads(), "the Lease was lost"


def live_through(vms, tree, clock, read):
    """read(): a time that was written by that clock, after an actor has died."""
    begin_drain(vms)
    for ahead_s, also in ((HOUR_S, ()), (-HOUR_S, (WATCHER,))):
        before, new = list(vms.tags()), f"at{ahead_s}"
        clock.move(ahead_s)
        # What a process remembers from before the jump; then what a new one reads.
        wait_drained_on(vms)
        assert_nothing_lost(vms, tree, before)
        tree.wait_back(CLAIMER, tree.kill(CLAIMER))
        assert_ahead(read(), ahead_s)
        make(vms.server, new)
        wait_bound(vms, "stays", new)
        for actor in also:
            tree.wait_back(actor, tree.kill(actor))
        tree.wait(lambda: tree.dump()["fresh"] and tree.leads(), "it leads")
        wait_drained_on(vms)
        assert_nothing_lost(vms, tree, before)
    clock.move(0)
    end_drain(vms)


def wait_drained_on(vms):
    refused = len(refusals(vms.server))

    def tried_again():
        assert_no_deletion(vms)
        return len(refusals(vms.server)) > refused
    wait_for(tried_again, "the eviction is tried again")


def assert_no_deletion(vms):
    assert vms.audit("DELETE") == [], f"a VM was deleted: {vms.audit('DELETE')}"


def A9_the_clock_of_the_server_jumps():
    vms = VMs(join=True)
    clock = WallClock(vms.server.folder)
    vms.server.program = clock.script(vms.server.program)

    def read():
        made = vms.server.kube.create("namespaces", {"metadata": {"generateName": "now-"}})
        return made["metadata"]["creationTimestamp"]
    with vms:
        vms.server.install(kubecrds.widgets())
        with ClaimerTree(vms, watcher=ELECTION) as tree:
            tree.wait_synced()
            wait_for(tree.leads, "it leads")
            live_through(vms, tree, clock, read)


def A9_the_clock_of_the_machine_jumps():
    with VMs(join=True) as vms:
        vms.server.install(kubecrds.widgets())
        tree = ClaimerTree(vms, watcher=ELECTION, supervisor={"confine": "none"})
        clock = WallClock(tree.folder)
        clock.give(tree, WATCHER, STATE, CLAIMER, "test-kube")
        with tree:
            tree.wait_synced()
            wait_for(tree.leads, "it leads")
            assert all(clock.is_in(tree.pid(name)) for name in (WATCHER, STATE, CLAIMER))
            live_through(vms, tree, clock, lambda: tree.facts(msg="actor died")[-1]["ts"])


def assert_ahead(text, seconds):
    """That time is so far ahead of this machine's."""
    then = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    ahead_s = (then - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
    assert abs(ahead_s - seconds) < 600, f"{text} is {ahead_s} s ahead, not {seconds} s"


tap.side_by_side(A9_the_clock_of_the_server_jumps, A9_the_clock_of_the_machine_jumps)
tap.main()
