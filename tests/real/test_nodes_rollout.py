"""tests/real/test_nodes_rollout.py - an update of 200 nodes on a real kube-apiserver, beside the oracle.

muster-sim runs the update step by step, a relay carries each step over. After each the insights are what the
oracle has; at the end, everything that was ever stored is the oracle's sequence, each change written once.

muster-test: parallel
muster-test: timeout=900
"""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import oracle
import rolloutcrds
import tap
from kubeservers import RealServer, SimServer
from muster import wait_for
from relay import Relay
from rolloutcrds import NODE_INSIGHTS
from rollouttree import NodesTree
from rolloutwatch import Watched
from rolloutworld import world_of

MASTERS, WORKERS, FROM, TO = 3, 197, "4.20.3", "4.20.4"
STEPS_MAX = 200


class Story:
    """The statuses of the oracle, in order."""

    def __init__(self, tree):
        self.tree = tree
        self.statuses = collections.defaultdict(list)       # node -> [(status, since)], each change once

    def record(self):
        world = world_of(self.tree.server)
        for name, status in world.nodes().items():
            if not self.statuses[name] or self.statuses[name][-1][0] != status:
                self.statuses[name].append((status, world.since(name)))
        self.tree.wait_settled(world)


@tap.case
def B2_B5_a_rollout_of_200_nodes_equals_the_oracle_step_by_step():
    with SimServer() as sim, RealServer() as server:
        rolloutcrds.install(server)
        sim.order("POST", "cluster", {"op": "openshift", "masters": MASTERS, "workers": WORKERS,
                                    "version": FROM, "max_unavailable": "50%"})
        ill = [name for name in sim.kube.names("nodes") if name.startswith("worker")][7]
        relay = Relay(sim.kube, server.kube)
        for _ in relay.carry():
            pass
        with NodesTree(server) as tree, Watched(server) as watched:
            tree.wait_up()
            story = Story(tree)
            story.record()
            orders = [{"op": "rollout", "version": TO, "manual": True}]
            for number in range(STEPS_MAX):
                answer = sim.order("POST", "cluster", orders[0] if orders else {"op": "step"})
                if not orders and not answer["changed"]:
                    break
                if number == 5:
                    sim.order("POST", "cluster", {"op": "degrade", "names": [ill],
                                                "reason": "it\nfailed " * 40})
                if number == 9:
                    sim.order("POST", "cluster", {"op": "recover"})
                orders.clear()
                for _ in relay.carry():
                    story.record()
            else:
                raise AssertionError("the rollout does not end")
            tap.note(f"{number} steps, {sum(map(len, story.statuses.values()))} states")
            check(server, tree, watched, story)


def check(server, tree, watched, story):
    phases = {status["conditions"]["Updating"][1] for seen in story.statuses.values() for status, _ in seen}
    assert phases >= {"Pending", "Draining", "Updating", "Rebooting", "Completed"}, phases
    for name, item in tree.insights().items():
        version = item["metadata"]["resourceVersion"]
        wait_for(lambda: watched.seen(name, version), f"the watch has all of {name}")
    assert not watched.trouble and watched.deleted() == [], (watched.trouble, watched.deleted())
    for name, seen in story.statuses.items():
        stored = watched.statuses(name)
        wanted = [status for status, _ in seen]
        assert [oracle.plain(status) for status in stored] == wanted, f"{name}: {stored}\nnot {wanted}"
        for before, after, (_, since) in zip([None, *stored], stored, seen):
            wrong = [*oracle.late_or_kept(before, after, since)]
            assert not wrong, f"{name}: {wrong}"
    changes = {name: len(seen) for name, seen in story.statuses.items()}
    written = collections.Counter(row["name"] for row in tree.writes(NODE_INSIGHTS)
                                  if row["subresource"] == "status" and row["code"] < 300)
    assert written == changes, {name: (written[name], n) for name, n in changes.items() if written[name] != n}
    verbs = collections.Counter(row["verb"] for row in tree.writes() if not row["subresource"])
    assert set(verbs) == {"create"}, verbs


tap.main()
