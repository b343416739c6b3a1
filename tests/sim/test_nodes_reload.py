"""tests/sim/test_nodes_reload.py - actors that a reload enables and disables, on muster-sim.

What kube-watcher reads, and what node-state publishes, follows from the actors that are enabled.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import rolloutsuite
import rolloutworld as world
from kubeservers import SimServer
from muster import wait_for
from rolloutcrds import INSIGHTS
from rolloutsuite import case
from rollouttree import INSIGHT, STATE, WATCHER, NodesTree
from rolloutworld import node


def reload(tree, actors):
    """The configuration with kube-watcher, metrics and these actors, read again."""
    page = {f"{what}-bind-address": "127.0.0.1:0" for what in ("metrics", "health-probe")}
    tree.configure({"supervisor": {"log-format": "json"},
                    "actors": {"metrics": page, WATCHER: tree.settings[WATCHER], **actors}})
    answer = tree.cli("reload")
    assert answer.returncode == 0, answer.stderr


def served(tree, actor):
    return any(f'actor="{actor}"' in series for series in tree.scrape())


def off(tree, *names):
    rows = tree.actors()
    return all(rows.get(name, {"state": "off"})["state"] == "off" for name in names)


# (issue 10.8)
@case
def an_actor_that_a_reload_enables_gets_its_input_and_its_readers(server):
    world.populate(server, [node("m1", "master"), node("w1"), node("w2")])
    with NodesTree(server, downs=0, insight=False, metrics=True) as tree:
        tree.wait_running(WATCHER, "metrics")
        assert off(tree, STATE, INSIGHT), tree.actors()
        metrics = tree.pid("metrics")

        reload(tree, {INSIGHT: {}})
        tree.wait_running(WATCHER, STATE, INSIGHT, "metrics")
        tree.wait_settled()
        wait_for(lambda: served(tree, INSIGHT) and served(tree, STATE), "metrics serves the new actors")
        server.kube.create("nodes", node("w3"))
        tree.wait_settled()
        assert "w3" in tree.insights()
        assert tree.status()["supervisor"]["state"] == "running"

        kept = {kind: set(tree.insights(kind)) for kind in INSIGHTS}
        reload(tree, {})
        wait_for(lambda: off(tree, STATE, INSIGHT), "node-state and insight are off")
        wait_for(lambda: "0 of 0 kinds" in tree.actor(WATCHER)["status"], "kube-watcher reads nothing")
        wait_for(lambda: not served(tree, INSIGHT) and not served(tree, STATE), "metrics has dropped them")
        assert {kind: set(tree.insights(kind)) for kind in INSIGHTS} == kept
        assert not tree.facts(msg="actor died"), "an actor did not end in order"

        reload(tree, {INSIGHT: {}})
        server.kube.create("nodes", node("w4"))
        tree.wait_settled()
        assert "w4" in tree.insights()
        assert tree.pid("metrics") == metrics, "a reload of others restarted metrics"


rolloutsuite.run(SimServer)
