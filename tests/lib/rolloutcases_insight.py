"""tests/lib/rolloutcases_insight.py - one object per node and pool, written only when it must be.

Cases carry the id of the contract that they prove; `defect` names one of those that the original has.
"""
import os

import kubesuite
import oracle
import rolloutsuite
import rolloutworld as world
from kube import rv
from muster import wait_for
from rolloutcrds import INSIGHTS, NODE_INSIGHTS, POOL_INSIGHTS
from rolloutsuite import case
from rollouttree import INSIGHT, STATE, WATCHER, NodesTree
from rolloutworld import EARLY, LATER, NEW, condition, node, pool, rendered

LONG_AGO = "2020-02-02T02:02:02Z"


def small(server, *more):
    """Three workers and a fence, each in a pool of its own kind."""
    world.populate(server, [node("m1", "master"), node("w1"), node("w2"), node("fence", "fence"), *more],
                   [pool("master"), pool("worker"), pool("fence")])


def fence(server, tree, name="fence"):
    """A change of its own whose insight was written: everything before it was processed."""
    mark = os.urandom(4).hex()
    world.annotate(server, name, state="Degraded", reason=mark)

    def written_down():
        return tree.insights()[name].get("status", {}).get("message") == mark
    wait_for(written_down, f"the insight has {mark}")


def written(tree):
    """What was written and answered, without the fence and its pool: [(verb, resource/subresource, name)]"""
    rows = [(row["verb"], "/".join(filter(None, (row["resource"], row["subresource"]))), row["name"])
            for row in tree.writes() if row["name"] != "fence"]
    return rows


def identities(tree):
    return {(kind, name): (item["metadata"]["uid"], rv(item), oracle.times(item["status"]))
            for kind in INSIGHTS for name, item in tree.insights(kind).items()}


def backdate(tree, kind, name):
    """Every condition of that insight turned long ago, so that a time taken anew would show."""
    item = tree.insights(kind)[name]
    for one in item["status"]["conditions"]:
        one["lastTransitionTime"] = LONG_AGO
    tree.server.kube.replace(kind, item, sub="status")


def backdate_all(tree):
    for kind in INSIGHTS:
        for name in tree.insights(kind):
            backdate(tree, kind, name)


# ---- Writes ----

@case
def B5_created_empty_then_given_its_status_and_then_left_alone(server):
    small(server)
    with NodesTree(server) as tree:
        tree.wait_settled()
        tree.wait_writes(14)
        fence(server, tree)
        seen = written(tree)
        for kind, names in ((NODE_INSIGHTS, ("m1", "w1", "w2")), (POOL_INSIGHTS, ("master", "worker"))):
            for name in names:
                mine = [row[:2] for row in seen if row[2] in (name, "") and row[1].startswith(kind)
                        and (row[2] == name or row[0] != "create")]
                assert mine[-1:] == [("update", f"{kind}/status")], (name, mine)
                assert mine.count(("update", f"{kind}/status")) == 1, (name, mine)
        creates = [row for row in seen if row[0] == "create"]
        assert not [row for row in seen if row[0] == "delete"], seen
        assert len(creates) in (5, 7), creates         # a server may not note the name of what is created
        kubesuite.pause(2)
        before = tree.writes()
        server.kube.merge("nodes", "w1", {"metadata": {"labels": {"x": "y"}}})
        world.set_conditions(server, "w1", condition("Ready", "True", LATER))
        fence(server, tree)
        after = [row for row in tree.writes()[len(before):] if row["name"] != "fence"]
        assert after == [], f"written when nothing changed: {after}"


@case
def B5_one_status_write_per_change(server):
    small(server)
    with NodesTree(server) as tree:
        tree.wait_settled()
        fence(server, tree)
        for state in ("Working", "Rebooting", "Working", "Degraded"):
            before = len(written(tree))
            world.annotate(server, "w1", desiredConfig=rendered("worker", NEW), state=state, reason="why")
            tree.wait_settled()
            fence(server, tree)
            fresh = written(tree)[before:]
            nodes = [row for row in fresh if row[1].startswith(NODE_INSIGHTS)]
            pools = [row for row in fresh if row[1].startswith(POOL_INSIGHTS)]
            assert nodes == [("update", f"{NODE_INSIGHTS}/status", "w1")], nodes
            assert len(pools) <= 1 and all(row[2] == "worker" for row in pools), pools


@case
def B5_removed_with_its_node_and_when_no_pool_owns_it(server):
    small(server, node("w3"), node("w4"))
    with NodesTree(server) as tree:
        tree.wait_settled()
        server.kube.delete("nodes", "w1")
        world.relabel(server, "w2", worker=None)
        world.relabel(server, "w3", worker=None, master="")
        tree.wait_settled()
        assert set(tree.insights()) == {"m1", "w3", "w4", "fence"}
        assert tree.insights()["w3"]["status"]["scopeType"] == "ControlPlane"
        server.kube.delete("machineconfigpools", "worker")
        tree.wait_settled()
        assert set(tree.insights()) == {"m1", "w3", "fence"}
        assert set(tree.insights(POOL_INSIGHTS)) == {"master", "fence"}
        fence(server, tree)
        gone = sorted(row[2] for row in written(tree) if row[0] == "delete")
        assert gone == ["w1", "w2", "w4", "worker"], gone
        server.kube.create("nodes", node("w1", "master"))
        tree.wait_settled()


@case
def B5_a_long_message_is_cut_DEFECT_overlong_message(server):
    small(server)
    with NodesTree(server) as tree:
        tree.wait_settled()
        world.annotate(server, "w1", desiredConfig=rendered("worker", NEW), state="Degraded")
        for reason in ("x" * 5000, "ü" * 99 + "€uro\nline two\n" + "𝄞" * 4000, "y" * 40000, "z" * 100,
                       "q" * 101):
            world.annotate(server, "w1", reason=reason)
            tree.wait_settled()
            status = tree.insights()["w1"]["status"]
            assert status["message"] == reason[:100], status["message"]
            text = {c["type"]: c["message"] for c in status["conditions"]}["Degraded"]
            assert text == reason[:32768]
        bad = [condition("Ready", "False"), condition("DiskPressure", "True"),
               condition("NetworkUnavailable", "True")]
        world.set_conditions(server, "w2", *bad)
        server.kube.merge("nodes", "w2", {"spec": {"unschedulable": True}})
        tree.wait_settled()
        assert len(tree.insights()["w2"]["status"]["message"]) == 100, "four causes do not fit either"
        assert not [row for row in tree.writes() if row["code"] == 422], "the server refused a status"


# ---- Times ----

@case
def B5_times_move_only_when_a_condition_turns(server):
    small(server)
    with NodesTree(server) as tree:
        tree.wait_settled()
        began = server.kube.get("nodes", "w1")["metadata"]["creationTimestamp"]
        backdate(tree, NODE_INSIGHTS, "w1")
        fence(server, tree)
        before = tree.insights()["w1"]["status"]
        world.annotate(server, "w1", desiredConfig=rendered("worker", NEW), state="Working")
        tree.wait_settled()
        after = tree.insights()["w1"]["status"]
        wrong = [*oracle.late_or_kept(before, after, earliest=began)]
        assert not wrong, wrong
        assert oracle.times(after)["Available"][1] == oracle.times(after)["Degraded"][1] == LONG_AGO, after
        world.annotate(server, "w1", state="Rebooting")
        tree.wait_settled()
        third = tree.insights()["w1"]["status"]
        assert oracle.times(third) == oracle.times(after), "another reason is no other status"
        world.set_conditions(server, "w2", condition("Ready", "False", LATER),
                             condition("DiskPressure", "True", EARLY))
        tree.wait_settled()
        times = oracle.times(tree.insights()["w2"]["status"])
        assert times["Available"] == ("False", EARLY), "not its causes' time"
        world.set_conditions(server, "w2", condition("Ready", "False", LATER))
        tree.wait_settled()
        times = oracle.times(tree.insights()["w2"]["status"])
        assert times["Available"] == ("False", EARLY), "it did not turn"


@case
def B5_restarts_keep_objects_and_times_DEFECT_lost_condition_times_DEFECT_deletion_at_restart(server):
    small(server, *(node(f"x{number}") for number in range(100)))
    with NodesTree(server) as tree:
        tree.wait_settled()
        backdate_all(tree)
        fence(server, tree)
        backdate_all(tree)
        before = identities(tree)
        server.forget_audit()
        for victims in ((STATE,), (INSIGHT,), (WATCHER,), (STATE, INSIGHT), (WATCHER, STATE, INSIGHT)):
            tree.revive(*victims)
            tree.wait_running()
            tree.wait(lambda: tree.dump()["fresh"], "it is fresh again")
            seen = written(tree)
            assert seen == [], f"after the death of {victims}: {seen}"
        assert tree.stop() == 0
        tree.start()
        tree.wait_up()
        fence(server, tree)
        tree.wait_settled()
        assert written(tree) == [], f"after a new start: {written(tree)}"
        now = identities(tree)
        ours = {key: value for key, value in now.items() if key[1] != "fence"}
        assert ours == {key: before[key] for key in ours} and now.keys() == before.keys()
        for kind in INSIGHTS:
            assert now[kind, "fence"][0] == before[kind, "fence"][0], "re-created"


@case
def B5_changes_during_an_outage_are_reconciled(server):
    small(server, *(node(f"x{number}") for number in range(20)))
    with NodesTree(server) as tree:
        tree.wait_settled()
        backdate_all(tree)
        before = identities(tree)
        assert tree.stop() == 0
        server.kube.delete("nodes", "x0")
        world.annotate(server, "x1", desiredConfig=rendered("worker", NEW), state="Working")
        server.kube.create("nodes", node("x20"))
        server.kube.delete(NODE_INSIGHTS, "x2")
        server.forget_audit()
        tree.start()
        tree.wait_up()
        tree.wait_settled()
        fence(server, tree)
        nodes = [row for row in written(tree) if row[1].startswith(NODE_INSIGHTS)]
        assert sorted(row[2] for row in nodes if row[0] == "update") == ["x1", "x2", "x20"], nodes
        assert [row[2] for row in nodes if row[0] == "delete"] == ["x0"], nodes
        now = identities(tree)
        other = ("x0", "x1", "x2", "fence")
        kept = [key for key in before if key[0] == NODE_INSIGHTS and key[1] not in other]
        assert all(now[key] == before[key] for key in kept)
        times = now[NODE_INSIGHTS, "x1"][2]
        assert now[NODE_INSIGHTS, "x1"][0] == before[NODE_INSIGHTS, "x1"][0]
        assert times["Updating"][1] > LONG_AGO and times["Available"][1] == LONG_AGO, times


# ---- Others ----

@case
def B5_an_insight_changed_by_another_client_is_restored(server):
    small(server)
    with NodesTree(server) as tree:
        tree.wait_settled()
        backdate(tree, NODE_INSIGHTS, "w1")
        item = tree.insights()["w1"]
        item["status"]["message"] = "made up"
        item["status"]["version"] = "9.9.9"
        item["status"]["conditions"].append(dict(item["status"]["conditions"][0], type="Foreign"))
        server.kube.replace(NODE_INSIGHTS, item, sub="status")
        tree.wait_settled()
        times = oracle.times(tree.insights()["w1"]["status"])
        assert {when for _, when in times.values()} == {LONG_AGO}, times
        server.kube.delete(NODE_INSIGHTS, "w2")
        server.kube.delete(POOL_INSIGHTS, "worker")
        tree.wait_settled()
        server.kube.create(NODE_INSIGHTS, {"metadata": {"name": "nobody"}, "spec": {}})
        server.kube.create(POOL_INSIGHTS, {"metadata": {"name": "nobody"}, "spec": {}})
        tree.wait_settled()
        fence(server, tree)
        count = len(written(tree))
        fence(server, tree)
        assert len(written(tree)) == count, "repaired twice"


@case
def B5_either_kind_can_be_left_out(server):
    small(server)
    for wanted, other, setting in ((NODE_INSIGHTS, POOL_INSIGHTS, "pools"),
                                   (POOL_INSIGHTS, NODE_INSIGHTS, "nodes")):
        for kind in INSIGHTS:
            server.kube.delete_all(kind)
        with NodesTree(server, settings={INSIGHT: {setting: False}}) as tree:
            tree.wait_settled(kinds=(wanted,))
            world.annotate(server, "w1", state="Working" if setting == "pools" else "Done")
            tree.wait_settled(kinds=(wanted,))
            assert tree.insights(other) == {}


def run(make):
    rolloutsuite.run(make)
