"""tests/lib/rolloutcases_bare.py - OpenShift's kinds are missing, come later, or have another name.

Each case begins without any of them.
"""
import kubesuite
import rolloutcrds
import rolloutworld as world
from kubesuite import case
from muster import wait_for
from rolloutcrds import INSIGHT_GROUP, NODE_INSIGHTS, POOL_INSIGHTS
from rollouttree import INSIGHT, STATE, WATCHER, NodesTree
from rolloutworld import node

OTHER_GROUP = "insights.example.com"
LATER_S = 180       # a missing kind is discovered again at intervals


def bare(server):
    groups = (rolloutcrds.MCO_GROUP, rolloutcrds.CONFIG_GROUP, INSIGHT_GROUP, OTHER_GROUP)
    rolloutcrds.take_away(server, groups)
    server.forget_audit()


def renamed():
    """The insights' kinds in another group."""
    folder = [path.read_text().replace(INSIGHT_GROUP, OTHER_GROUP) for path in rolloutcrds.insights()]
    return folder


def lines(tree, actor, *words):
    """Lines of that actor with all these words."""
    return [fact for fact in tree.facts(actor=actor)
            if all(word in " ".join(map(str, fact.values())).lower() for word in words)]


@case
def B8_without_OpenShift_facts_are_published_and_it_is_logged_once(server):
    bare(server)
    server.kube.create_many("nodes", [node(f"n{number}") for number in range(3)])
    with NodesTree(server) as tree:
        tree.wait_up()
        wait_for(lambda: len(tree.facts_held()) == 3, "the facts are there")
        assert tree.states() == {}
        server.kube.merge("nodes", "n1", {"spec": {"unschedulable": True}})
        wait_for(lambda: tree.facts_held()["nodes/n1"]["fields"]["unschedulable"], "a fact changes")
        server.kube.delete("nodes", "n2")
        wait_for(lambda: "nodes/n2" not in tree.facts_held(), "a fact goes")
        logged = lines(tree, STATE, "machineconfigpool")
        assert len(logged) == 1, f"logged once: {logged}"
        assert tree.writes() == []
        assert [tree.actor(name)["restarts"] for name in (STATE, INSIGHT, WATCHER)] == [0, 0, 0]
        tree.revive(STATE)
        wait_for(lambda: tree.dump()["fresh"], "it is fresh again")
        gone = {row["key"] for row in tree.received(link="facts") if row["kind"] == "gone"}
        assert gone <= {"nodes/n2"}, gone


@case
def B8_kinds_that_come_later_are_picked_up(server):
    bare(server)
    server.kube.create_many("nodes", [node("w1"), node("m1", "master")])
    with NodesTree(server) as tree:
        tree.wait_up()
        wait_for(lambda: len(tree.facts_held()) == 2, "the facts are there")
        rolloutcrds.install(server)
        world.populate(server)
        tree.wait_states(timeout=LATER_S)
        tree.wait_settled(timeout=LATER_S)
        world.annotate(server, "w1", state="Working")
        tree.wait_settled()
        assert [tree.actor(name)["restarts"] for name in (STATE, INSIGHT, WATCHER)] == [0, 0, 0]
        assert not tree.gone()


@case
def B5_the_group_of_the_insights_is_configurable(server):
    bare(server)
    server.install(*rolloutcrds.openshift())
    for text in renamed():
        made = server.kube.call("POST", "apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=text,
                                content="application/yaml")
        server.installed.append(made["metadata"]["name"])
    server.wait_served()
    rolloutcrds.use_group(OTHER_GROUP)
    try:
        world.populate(server, [node("w1"), node("m1", "master")])
        with NodesTree(server, watcher={"insight-group": OTHER_GROUP}) as tree:
            tree.wait_settled()
            world.annotate(server, "w1", state="Working")
            tree.wait_settled()
            assert {row["resource"] for row in tree.writes()} == {NODE_INSIGHTS, POOL_INSIGHTS}
            paths = {row["uri"].split("/")[2] for row in tree.writes()}
            assert paths == {OTHER_GROUP}, paths
    finally:
        rolloutcrds.use_group(INSIGHT_GROUP)


def run(make):
    kubesuite.run(make)
