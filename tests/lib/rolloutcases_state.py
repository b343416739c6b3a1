"""tests/lib/rolloutcases_state.py - node-state: states, consumers, and what causes an evaluation.

Cases carry the id of the contract that they prove; `defect` names one of those that the original has.
"""
import itertools
import os
import signal

import rolloutsuite
import rolloutworld as world
from muster import wait_for
from rolloutsuite import case
from rollouttree import INSIGHT, STATE, NodesTree, down
from rolloutworld import EARLY, LATER, NEW, OLD, ROLE, condition, node, pool, rendered

MANY = 1500         # more than the 1,024 slots of the original's channel


def quiet(server, **more):
    return NodesTree(server, insight=False, **more)


def fence(server, tree, name="fence", number=1):
    """A change of its own that the consumer has received: so it has received everything before it."""
    mark = os.urandom(4).hex()
    world.annotate(server, name, state="Degraded", reason=mark)

    def arrived():
        state = tree.state(name, number)
        return state and mark in state["message"]
    wait_for(arrived, f"{down(number)} receives {mark}")


def changes(tree, since, number=1):
    """[(kind, key)] of the states since, without the fence and its pool."""
    return [(row["kind"], row["key"]) for row in tree.received(since, number, "nodes")
            if row["key"] not in ("nodes/fence", "machineconfigpools/fence")]


# ---- What a state has ----

@case
def B1_a_state_has_what_a_consumer_needs(server):
    made = node("w1", labels={"zone": "a"}, spec={"providerID": "x://1", "unschedulable": True},
                conditions=[condition("Ready", "False", LATER), condition("DiskPressure", "True", EARLY)])
    made["spec"]["taints"] = [{"key": "t", "value": "v", "effect": "NoSchedule"}]
    made["status"]["addresses"] = [{"type": "InternalIP", "address": "10.0.0.1"},
                                   {"type": "Hostname", "address": "w1.example.com"}]
    world.populate(server, [made])
    with quiet(server) as tree:
        tree.wait_up()
        tree.wait_states()
        stored = server.kube.get("nodes", "w1")
        row = tree.states()["nodes/w1"]
        fields = row["fields"]
        assert row["rv"] == stored["metadata"]["resourceVersion"], row
        assert (fields["pool"], fields["scope"], fields["version"]) == ("worker", "WorkerPool", OLD), fields
        assert (fields["target"], fields["phase"]) == (NEW, "Pending"), fields
        assert fields["current"] == fields["desired"] == rendered("worker", OLD), fields
        assert fields["rule"].startswith("7") and fields["reason"] and fields["evaluated_us"] > 0, fields
        assert fields["evaluations"] >= 1
        since = {c[0]: c[4] for c in fields["conditions"]}
        assert since == {"Updating": "", "Available": EARLY, "Degraded": ""}, since
        row = tree.facts_held()["nodes/w1"]
        fact = row["fields"]
        assert row["uid"] == stored["metadata"]["uid"], row
        assert (fact["provider_id"], fact["hostname"]) == ("x://1", "w1.example.com"), fact
        assert ["InternalIP", "10.0.0.1"] in fact["addresses"], fact
        assert not fact["ready"] and fact["unschedulable"] and fact["labels"]["zone"] == "a", fact
        assert ["t", "v", "NoSchedule"] in fact["taints"], fact
        assert all(int(row["trace"], 16) for row in tree.received()), "a notification without a trace"


# ---- Which pool, which line ----

@case
def B2_pools_are_chosen_by_rule_whatever_their_order_DEFECT_map_order_pools(server):
    """Custom pools sort before and after the built-in ones, and the choice must not depend on it."""
    names = ("aaa", "master", "worker", "zzz")
    roles = [some for size in range(5) for some in itertools.combinations(names, size)]
    nodes = [node(f"n{number}", *(some or ("none",))) for number, some in enumerate(roles)]
    nodes.append(node("windows", "worker", labels={"kubernetes.io/os": "windows"}))
    pools = [pool(name) for name in names]
    pools.append(pool("empty", {}))
    pools.append({"metadata": {"name": "none-at-all"}, "spec": {}})
    pools.append(pool("wrong", {"matchExpressions": [{"key": "a", "operator": "Like", "values": ["b"]}]}))
    for operator, values in (("In", ["x"]), ("NotIn", ["x"]), ("Exists", []), ("DoesNotExist", [])):
        name = operator.lower()
        selector = {"matchLabels": {"for": name},
                    "matchExpressions": [{"key": "a", "operator": operator, "values": values}]}
        pools.append(pool(name, selector if values else {
            **selector, "matchExpressions": [{"key": "a", "operator": operator}]}))
        nodes.append(node(f"{name}-with", "other", labels={"for": name, "a": "x"}))
        nodes.append(node(f"{name}-without", "other", labels={"for": name}))
    world.populate(server, nodes, pools)
    with quiet(server) as tree:
        tree.wait_up()
        tree.wait_states()
        owners = owners_of(tree)
        both = roles.index(("aaa", "master"))
        assert owners[f"nodes/n{both}"] == "master" and f"nodes/n{roles.index(('aaa', 'zzz'))}" not in owners
        for _ in range(2):
            tree.revive(STATE)
            tree.wait_states()
        assert owners == owners_of(tree) and not tree.gone(), tree.gone()


def owners_of(tree):
    return {key: row["fields"]["pool"] for key, row in tree.states().items() if key.startswith("nodes/")}


def every_kind_of_node():
    """Each combination of the inputs of the assessment."""
    configs = {"old": OLD, "new": NEW}
    drains = ({}, {"desiredDrain": "drain-x", "lastAppliedDrain": "uncordon-w"},
              {"desiredDrain": "drain-x", "lastAppliedDrain": "drain-x"},
              {"desiredDrain": "uncordon-x", "lastAppliedDrain": "drain-x"})
    for (has, current), (wants, desired), (at, state), (way, drain) in itertools.product(
            [*configs.items(), ("unknown", None)], [*configs.items(), ("absent", None)],
            enumerate(("Done", "Working", "Rebooting", "Degraded", "Unreconcilable", None)),
            enumerate(drains)):
        yield node(f"{has}-{wants}-{at}-{way}",
                   currentConfig=rendered("worker", current) if current else "rendered-unknown",
                   desiredConfig=rendered("worker", desired) if desired else None, state=state,
                   reason="it failed" if state in ("Degraded", "Unreconcilable") else "", **drain)
    yield node("desired-empty", version=NEW, desiredConfig="")
    yield node("nothing", currentConfig=None, desiredConfig=None, state=None)
    bad = (condition("Ready", "False", LATER), condition("DiskPressure", "True", EARLY),
           condition("NetworkUnavailable", "True", LATER))
    for size in range(4):
        for number, some in enumerate(itertools.combinations(bad, size)):
            for cordoned in (False, True):
                yield node(f"ill-{size}-{number}-{'cordoned' if cordoned else 'free'}", version=NEW,
                           conditions=list(some), spec={"unschedulable": cordoned})
    for number, images in enumerate(({"currentImage": "a", "desiredImage": "a"}, {"currentImage": "a"},
                                     {"currentImage": "a", "desiredImage": "b"}, {"desiredImage": ""})):
        yield node(f"image-{number}", version=NEW, state="Working", **images)
        yield node(f"layered-{number}", "layered", version=NEW, **images)
    yield node("odd-version", "worker", currentConfig="odd", desiredConfig="odd")
    yield node("long-version", "worker", currentConfig="long", desiredConfig="long")
    yield node("empty-version", "worker", currentConfig="empty", desiredConfig="empty")


@case
def B2_every_line_of_the_assessment_as_the_oracle_has_it(server):
    layered = pool("layered", labels=world.notes(**{"layering-enabled": ""}),
                   annotations=world.notes(newestImageEquivalentConfig="a"))
    pools = [pool("master"), pool("worker"), layered]
    odd = [world.config("odd", "four.twenty"), world.config("long", "4.20.3-" + "x" * 80),
           world.config("empty", "")]
    world.populate(server, list(every_kind_of_node()), pools,
                   world.configs_of("master", "worker", "layered") + odd)
    with NodesTree(server) as tree:
        tree.wait_up()
        tree.wait_states()
        tree.wait_settled()
        world.set_pool(server, "worker", paused=True)
        tree.wait_settled()
        world.aim(server, OLD)
        tree.wait_settled()
        world.aim(server, "4.20.3-" + "x" * 80)
        tree.wait_settled()
        tree.wait_states()
        assert not tree.gone()


@case
def B2_caches_are_warm_before_the_first_evaluation(server):
    """No state is first unmanaged, pending or of unknown version, and right a moment later."""
    world.populate(server, [node(f"w{number}") for number in range(200)], target=OLD)
    with NodesTree(server) as tree:
        tree.wait_up()
        tree.wait_settled()
        for _ in range(2):
            rows = tree.received(link="nodes")
            assert {row["kind"] for row in rows} == {"added"}, "a state was published twice"
            phases = {row["fields"]["phase"] for row in rows if row["type"] == "NODE_STATE"}
            assert phases == {"Completed"}, phases
            tree.revive(STATE, down(1))
            tree.wait(lambda: tree.dump()["fresh"], "it is fresh again")
            tree.wait_states()
        assert [row["verb"] for row in tree.writes()].count("delete") == 0


# ---- What is evaluated again ----

class Counted:
    """Which nodes were evaluated since: from the metrics, which are delayed; a fence ends the delay."""

    def __init__(self, server, tree):
        self.server, self.tree = server, tree
        self.settle()

    def settle(self):
        """A fence that the counters have seen, twice: what was counted before it is in them."""
        for _ in range(2):
            before = self.tree.evaluations().get("fence", 0)
            world.annotate(self.server, "fence", reason=os.urandom(4).hex(), state="Degraded")
            wait_for(lambda: self.tree.evaluations().get("fence", 0) > before, "the fence was evaluated")
        self.before = self.tree.evaluations()

    def expect(self, what, names, also=()):
        """All of names, and none but them and `also`."""
        before = self.before

        def counted():
            now = self.tree.evaluations()
            seen[:] = [name for name in now if name != "fence" and now[name] > before.get(name, 0)]
            return set(names) <= set(seen)
        seen = []
        try:
            wait_for(counted, what)
        except AssertionError as late:
            raise AssertionError(f"{late}: evaluated {sorted(seen)}, not {sorted(names)}") from None
        self.settle()
        now = self.before
        seen = {name for name in now if name != "fence" and now[name] > before.get(name, 0)}
        assert set(names) <= seen <= {*names, *also}, f"{what}: evaluated {sorted(seen)}, not {sorted(names)}"


@case
def B3_a_change_touches_only_what_it_must_DEFECT_paused_flip_ignored(server):
    nodes = [node("m1", "master"), node("w1"), node("w2"), node("i1", "worker", "infra"),
             node("bare", "none"), node("fence", "fence")]
    world.populate(server, nodes, [pool(name) for name in ("master", "worker", "infra", "fence")])
    with quiet(server, metrics=True, settings={STATE: {"metrics-node-label": "on"}}) as tree:
        tree.wait_up()
        tree.wait_states()
        wait_for(lambda: "w1" in tree.evaluations(), "the counters are there")
        counted = Counted(server, tree)
        world.annotate(server, "w1", state="Working")
        counted.expect("a node", ["w1"])
        world.set_pool(server, "worker", paused=True)
        counted.expect("a pause", ["w1", "w2"], also=["i1"])        # it matches, but belongs to infra
        tree.wait_states()
        assert tree.state("w2")["phase"] == "Paused", "the flip was ignored"
        world.set_pool(server, "master", nodeSelector={"matchLabels": {ROLE + "master": None, "new": "x"}})
        counted.expect("a selector", ["m1"])
        tree.wait_states()
        world.set_pool(server, "master", nodeSelector={"matchLabels": {ROLE + "master": "", "new": None}})
        counted.expect("a selector back", ["m1"])
        server.kube.delete("machineconfigpools", "infra")
        counted.expect("a pool less", ["i1"])
        tree.wait_states()
        server.kube.create("machineconfigpools", pool("infra"))
        counted.expect("a pool more", ["i1"])
        server.kube.merge("machineconfigs", rendered("infra", OLD),
                          {"metadata": {"annotations": world.notes(**{"release-image-version": NEW})}})
        counted.expect("a config", ["i1"])
        server.kube.delete("machineconfigs", rendered("master", OLD))
        counted.expect("a config less", ["m1"])
        tree.wait_states()
        world.aim(server, OLD)
        counted.expect("the cluster's version", ["m1", "w1", "w2", "i1"], also=["bare"])
        tree.wait_states()
        assert tree.state("w1")["target"] == OLD


@case
def B3_an_unchanged_state_is_not_published(server):
    world.populate(server, [node("w1"), node("w2"), node("fence", "fence")],
                   [pool("worker"), pool("fence")])
    with quiet(server, downs=2) as tree:
        tree.wait_up()
        tree.wait_states()
        fence(server, tree)
        marks = [tree.mark(number) for number in (1, 2)]
        server.kube.merge("nodes", "w1", {"metadata": {"labels": {"x": "y"}, "annotations": {"a": "b"}}})
        world.set_conditions(server, "w1", condition("Ready", "True", LATER),
                             condition("MemoryPressure", "False"))
        world.annotate(server, "w1", lastObservedServerCAAnnotation="x")
        world.set_pool(server, "worker", maxUnavailable=2)
        server.kube.merge("machineconfigpools", "worker", {"status": {"machineCount": 2}}, sub="status")
        server.kube.merge("machineconfigs", rendered("worker", OLD), {"metadata": {"labels": {"x": "y"}}})
        world.aim(server, NEW, OLD)
        server.kube.create("machineconfigs", world.config("rendered-nobody", "4.20.9"))
        for number in (1, 2):
            fence(server, tree, number=number)
            assert changes(tree, marks[number - 1], number) == [], changes(tree, marks[number - 1], number)
        facts = [row for row in tree.received(marks[0], link="facts") if row["key"] != "nodes/fence"]
        assert {row["key"] for row in facts} == {"nodes/w1"}, "its label is a fact, and nothing else"


# ---- Consumers ----

@case
def B4_added_changed_and_removed_nodes_are_published_DEFECT_silent_removal(server):
    world.populate(server, [node("w1"), node("w2"), node("w3"), node("fence", "fence")],
                   [pool("worker"), pool("fence")])
    with quiet(server, downs=2) as tree:
        tree.wait_up()
        tree.wait_states()

        def steps(*wanted):
            for number in (1, 2):
                fence(server, tree, number=number)
                seen = changes(tree, marks[number - 1], number)
                assert [row for row in seen if row[1].startswith("nodes/")] == list(wanted), (seen, wanted)
            marks[:] = [tree.mark(number) for number in (1, 2)]
        marks = [tree.mark(number) for number in (1, 2)]
        server.kube.create("nodes", node("w4"))
        steps(("added", "nodes/w4"))
        world.annotate(server, "w1", desiredConfig=rendered("worker", NEW), state="Rebooting")
        steps(("updated", "nodes/w1"))
        server.kube.delete("nodes", "w2")
        steps(("gone", "nodes/w2"))
        world.relabel(server, "w3", worker=None)
        steps(("gone", "nodes/w3"))
        world.relabel(server, "w3", worker="")
        steps(("added", "nodes/w3"))
        server.kube.delete("machineconfigpools", "worker")
        for number in (1, 2):
            fence(server, tree, number=number)
            gone = {key for kind, key in changes(tree, marks[number - 1], number) if kind == "gone"}
            assert gone == {"nodes/w1", "nodes/w3", "nodes/w4", "machineconfigpools/worker"}, gone
        assert all(row["trace"] != "0" * 16 for row in tree.received(link="nodes"))
        facts = {row["key"] for row in tree.received(link="facts") if row["kind"] == "gone"}
        assert facts == {"nodes/w2"}, f"only a deleted node is no fact any more: {facts}"


def turn(server, version):
    """One write after which every worker is another."""
    server.kube.merge("machineconfigs", rendered("worker", OLD),
                      {"metadata": {"annotations": world.notes(**{"release-image-version": version})}})


def holds(tree, number, version):
    rows = tree.states(number)
    return sum(row["fields"].get("version") == version for row in rows.values())


@case
def B4_a_stopped_consumer_delays_no_other_and_misses_nothing_DEFECT_dropped_notifications(server):
    world.populate(server, [node(f"w{number}") for number in range(MANY)])
    with quiet(server, downs=2) as tree:
        tree.wait_up()
        wait_for(lambda: all(holds(tree, number, OLD) == MANY for number in (1, 2)), "both hold all of them")
        mark = tree.mark()
        frozen = tree.freeze(down(2))
        try:
            for version in ("4.20.7", "4.20.8", "4.20.9"):
                turn(server, version)
                wait_for(lambda: holds(tree, 1, version) == MANY, f"the first has {version} everywhere")
            server.kube.delete("nodes", "w0")
            wait_for(lambda: "nodes/w0" in tree.gone(since=mark), "the first receives a removal")
        finally:
            if tree.pid(down(2)) == frozen:
                os.kill(frozen, signal.SIGCONT)
        tree.wait(lambda: holds(tree, 2, "4.20.9") == MANY - 1 and "nodes/w0" not in tree.states(2),
                  "the second has the last of each, and the removal")
        assert tree.gone() == {"nodes/w0"} and tree.gone(2) <= {"nodes/w0"}, (tree.gone(), tree.gone(2))
        assert [tree.actor(name)["restarts"] for name in (STATE, down(1))] == [0, 0]


@case
def B4_a_restarted_consumer_receives_everything_again(server):
    world.populate(server, [node(f"w{number}") for number in range(300)])
    with quiet(server, downs=2) as tree:
        tree.wait_up()
        tree.wait_states(2)
        dead = tree.kill(down(2))
        turn(server, "4.20.9")
        server.kube.delete("nodes", "w0")
        wait_for(lambda: holds(tree, 1, "4.20.9") == 299, "the first has it all the same")
        tree.wait_back(down(2), dead)
        tree.wait(lambda: holds(tree, 2, "4.20.9") == 299, "the second has it as well")
        tree.wait_states(2)
        assert tree.gone() == {"nodes/w0"} and tree.gone(2) == set(), (tree.gone(), tree.gone(2))


@case
def B4_a_restart_of_node_state_makes_nothing_gone(server):
    world.populate(server, [node(f"w{number}") for number in range(200)] + [node("fence", "fence")],
                   [pool("worker"), pool("fence")])
    with quiet(server) as tree:
        tree.wait_up()
        tree.wait_states()
        fence(server, tree)
        mark = tree.mark()
        for name in (STATE, "kube-watcher"):
            tree.revive(name)
            tree.wait(lambda: tree.dump()["fresh"], "it is fresh again")
            fence(server, tree)
        lost = [(row["link"], row["key"]) for row in tree.received() if row["kind"] == "gone"]
        assert not lost, lost
        rows = {key for kind, key in changes(tree, mark)}
        # evaluated_us of a new incarnation differs: a state may be published again, its content is the same
        states = tree.states()
        assert all(states[key]["fields"]["phase"] == "Pending" for key in rows if key.startswith("nodes/"))


# ---- Figures ----

FAMILIES = ("oue_node_state_evaluation_duration_seconds_count", "oue_node_state_evaluation_total",
            "oue_downstream_notification_duration_seconds_count", "oue_active_node_states")


@case
def B6_metrics_have_the_names_of_the_original(server):
    world.populate(server, [node("w1"), node("w2"), node("bare", "none")])
    for label in ("on", "off"):
        with NodesTree(server, metrics=True, settings={STATE: {"metrics-node-label": label}}) as tree:
            tree.wait_up()
            tree.wait_settled()
            world.annotate(server, "w1", state="Working" if label == "on" else "Done")
            tree.wait_settled()

            def families():
                page.clear()
                page.update(tree.scrape())
                return {series.split("{")[0] for series in page} >= set(FAMILIES)
            page = {}
            wait_for(families, f"all of {FAMILIES}")
            of = {name: [series for series in page if series.split("{")[0] == name] for name in FAMILIES}
            evaluations = of[FAMILIES[0]] + of[FAMILIES[1]]
            labelled = {'node="' in series for series in evaluations}
            assert labelled == {label == "on"}, (label, evaluations)
            assert all('result="' in series for series in of[FAMILIES[1]]), of
            kinds = {series.split('controller_type="')[1].split('"')[0] for series in of[FAMILIES[2]]}
            assert kinds, of
            wait_for(lambda: sum(v for s, v in tree.scrape().items() if s.split("{")[0] == FAMILIES[3]) == 2,
                     "two nodes have a state")
            # Whatever an actor counts is served: a label of the metrics actor's own would be refused.
            wait_for(lambda: any(series.startswith("muster_writes_total{") and 'sender="insight"' in series
                                 for series in tree.scrape()), "the writes of insight are counted")
            assert tree.facts(msg="series rejected") == []


EVALUATED = "node evaluated"


# (issue 10.18)
@case
def each_evaluation_is_logged_at_debug_with_node_version_duration_and_trace(server):
    world.populate(server, [node("w1"), node("w2")])
    with quiet(server) as tree:
        tree.wait_up()
        tree.wait_states()
        assert tree.facts(msg=EVALUATED) == [], "a debug line at level info"
        assert tree.cli("level", STATE, "debug").returncode == 0
        wait_for(lambda: tree.actor(STATE)["level"] == "debug", "the level of node-state is debug")
        world.annotate(server, "w1", state="Working")
        line = wait_for(lambda: tree.facts(msg=EVALUATED, node="w1"), "the line of w1")[0]
        tree.wait_states()
        stored = server.kube.get("nodes", "w1")["metadata"]
        assert tree.facts(msg=EVALUATED) == [line], "w1 alone, once"
        assert (line["level"], line["actor"]) == ("debug", STATE), line
        assert line["resource_version"] == stored["resourceVersion"], (line, stored)
        assert isinstance(line["duration_us"], int) and line["duration_us"] >= 0, line
        received = [row for row in tree.received(link="nodes") if row["key"] == "nodes/w1"][-1]
        assert int(line["trace"], 16) and line["trace"] == received["trace"], (line, received)
        # The first full evaluation does not come from the work queue: its lines have traces, too.
        tree.revive(STATE)
        first = wait_for(lambda: [row for row in tree.facts(msg=EVALUATED, node="w2") if row != line],
                         "the line of w2 after the restart")
        assert int(first[0]["trace"], 16) and first[0]["resource_version"], first


# ---- Dependencies ----

@case
def B7_insight_enables_node_state_and_logs_the_reason(server):
    world.populate(server, [node("w1")])
    with NodesTree(server, downs=0) as tree:
        tree.wait_settled()
        assert STATE not in tree.settings and tree.actor(STATE)["state"] == "running"
        rows = tree.facts(msg="actor enabled, because another needs it", actor=STATE)
        assert len(rows) == 1 and rows[0]["needs"] == INSIGHT and rows[0]["why"], rows


@case
def B7_a_dependency_that_is_switched_off_stops_the_start_naming_both(server):
    tree = NodesTree(server, downs=0, settings={STATE: {"enabled": False}})
    try:
        tree.start()
        assert tree.wait_exit() == 100, tree.log()
        assert INSIGHT in tree.log() and STATE in tree.log() and "needs" in tree.log(), tree.log()
    finally:
        tree.end()


def run(make):
    rolloutsuite.run(make)
