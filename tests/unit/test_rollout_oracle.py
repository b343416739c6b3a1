"""tests/unit/test_rollout_oracle.py - the oracle itself: every line of the tables it was written from.

muster-test: parallel
muster-test: no-valgrind=a script
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import oracle
import tap

ROLE = "node-role.kubernetes.io/"
OLD, NEW = "rendered-worker-old", "rendered-worker-new"
CONFIGS = [{"metadata": {"name": name, "annotations": {oracle.MCO + "release-image-version": version}}}
           for name, version in ((OLD, "4.20.2"), (NEW, "4.20.3"), ("odd", "not a version"), ("none", ""))]
VERSION = {"status": {"history": [{"version": "4.20.3"}, {"version": "4.20.2"}]}}
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def node(name="n1", roles=("worker",), labels=None, conditions=(), unschedulable=False, **notes):
    """Annotations by keyword; without any, a node that is up to date."""
    notes = notes or {"currentConfig": NEW, "desiredConfig": NEW, "state": "Done"}
    return {"metadata": {"name": name, "labels": {**{ROLE + role: "" for role in roles}, **(labels or {})},
                         "annotations": {oracle.MCO + key: value for key, value in notes.items()}},
            "spec": {"unschedulable": unschedulable}, "status": {"conditions": list(conditions)}}


def pool(name, selector=None, paused=False, labels=None, annotations=None):
    selector = {"matchLabels": {ROLE + name: ""}} if selector is None else selector
    return {"metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
            "spec": {"nodeSelector": selector, "paused": paused}}


def world(*nodes, pools=None):
    return oracle.World(nodes, pools or [pool("master"), pool("worker")], CONFIGS, VERSION)


def condition(kind, status, when=EARLY):
    return {"type": kind, "status": status, "lastTransitionTime": when}


def going(state, **notes):
    return node(currentConfig=OLD, desiredConfig=NEW, state=state, **notes)


@tap.case
def a_pool_is_chosen_by_the_rule_of_MCO():
    pools = {p["metadata"]["name"]: p for p in (
        pool("master"), pool("worker"), pool("infra"), pool("gpu"), pool("empty", {}))}
    for roles, owner in (
            ((), None), (("worker",), "worker"), (("master",), "master"), (("master", "worker"), "master"),
            (("worker", "infra"), "infra"), (("infra",), "infra"), (("master", "infra"), "master"),
            (("worker", "infra", "gpu"), None), (("master", "infra", "gpu"), None)):
        assert oracle.choose({ROLE + role: "" for role in roles}, pools) == owner, (roles, owner)
    assert oracle.choose({ROLE + "worker": "", "kubernetes.io/os": "windows"}, pools) is None


@tap.case
def selectors_match_as_they_must():
    has, lacks = {"a": "x"}, {"b": "y"}
    for operator, values, on_has, on_lacks in (
            ("In", ["x"], True, False), ("In", ["z"], False, False), ("NotIn", ["x"], False, True),
            ("NotIn", ["z"], True, True), ("Exists", [], True, False), ("DoesNotExist", [], False, True),
            ("In", [], False, False), ("Exists", ["x"], False, False), ("Like", ["x"], False, False)):
        selector = {"matchExpressions": [{"key": "a", "operator": operator, "values": values}]}
        got = oracle.selects(selector, has), oracle.selects(selector, lacks)
        assert got == (on_has, on_lacks), (operator, values, got)
    for nothing in (None, {}, {"matchLabels": {}}, {"matchExpressions": []}):
        assert not oracle.selects(nothing, has), nothing


@tap.case
def every_line_of_the_assessment_decides_its_case():
    drain = {"desiredDrain": "drain-x", "lastAppliedDrain": "uncordon-w"}
    caught_up = {"desiredDrain": "drain-x", "lastAppliedDrain": "drain-x"}
    freed = {"desiredDrain": "uncordon-x", "lastAppliedDrain": "drain-x"}
    for what, phase in (
            (going("Working", **drain), "Draining"), (going("Done", **caught_up), "Draining"),
            (going("Done", **freed), "Draining"), (going("Rebooting", **caught_up), "Rebooting"),
            (going("Rebooting", **freed), "Rebooting"), (going("Done"), "Completed"),
            (going("Working", **caught_up), "Updating"), (going("Degraded"), "Updating"),
            (going(""), "Updating"),
            (going("Working", desiredDrain="drain", lastAppliedDrain="x"), "Draining"),
            (going("Working", desiredDrain="drain-x", lastAppliedDrain=""), "Updating"),
            (node(), "Completed"), (node(currentConfig=NEW, state="Done"), "Completed"),
            (node(currentConfig=NEW, desiredConfig="", state="Done"), "Pending"),
            (node(currentConfig=OLD, desiredConfig=OLD, state="Done"), "Pending"),
            (node(currentConfig="unknown", desiredConfig=NEW, state="Working"), "Pending")):
        status = world(what).nodes()["n1"]
        assert status["conditions"]["Updating"][1] == phase, (what["metadata"], status, phase)
    paused = [pool("worker", paused=True)]
    assert world(node(currentConfig=OLD, desiredConfig=OLD), pools=paused).nodes()["n1"]["conditions"][
        "Updating"] == ("False", "Paused", "The update of the node is paused")
    assert world(node(), pools=paused).nodes()["n1"]["conditions"]["Updating"][1] == "Completed"


@tap.case
def every_cause_of_unavailability_counts():
    rows = (([], {}, ""), ([condition("Ready", "Unknown")], {}, "Node is not ready"),
            ([condition("Ready", "True"), condition("DiskPressure", "True")], {}, "Node has disk pressure"),
            ([condition("NetworkUnavailable", "True")], {}, "Node has unavailable network"),
            ([condition("MemoryPressure", "True")], {}, ""),
            ([], {"unschedulable": True}, "Node is marked unschedulable"),
            ([condition("Ready", "False", LATE), condition("DiskPressure", "True", EARLY)],
             {"unschedulable": True},
             "Node is not ready | Node has disk pressure | Node is marked unschedulable"),
            ([], {"currentConfig": NEW, "desiredConfig": NEW, "state": "Working"},
             "Machine Config Daemon is processing the node"),
            ([], {"currentConfig": NEW, "desiredConfig": NEW, "state": "Unreconcilable"}, ""),
            ([], {"currentConfig": NEW, "desiredConfig": NEW, "state": "Done", "currentImage": "i"},
             "Machine Config Daemon is processing the node"))
    for conditions, more, text in rows:
        status = world(node(conditions=conditions, **more)).nodes()["n1"]
        wanted = ("False", "Unavailable", text) if text else ("True", "AsExpected", "The node is available")
        assert status["conditions"]["Available"] == wanted, (conditions, more, status)
    both = world(node(conditions=rows[6][0]))
    assert both.since("n1") == EARLY and world(node(unschedulable=True)).since("n1") is None
    moving = node(conditions=[condition("Ready", "False")], currentConfig=OLD, desiredConfig=NEW,
                  state="Rebooting")
    assert world(moving).nodes()["n1"]["conditions"]["Available"][0] == "True", "unavailable and updating"


@tap.case
def an_image_must_fit_the_pool():
    layered = [pool("worker", labels={oracle.MCO + "layering-enabled": ""},
                    annotations={oracle.MCO + "newestImageEquivalentConfig": "img"})]
    carrying = node(conditions=[condition("Ready", "False")], currentConfig=NEW, desiredConfig=NEW,
                    state="Done", currentImage="img", desiredImage="img")
    assert world(carrying).nodes()["n1"]["conditions"]["Available"][0] == "True"
    assert world(carrying, pools=layered).nodes()["n1"]["conditions"]["Available"][0] == "False"


@tap.case
def texts_versions_and_estimates_are_cut_or_left_out():
    broken = world(going("Degraded", reason="ü" * 40000)).nodes()["n1"]
    assert broken["message"] == "ü" * 100 and broken["conditions"]["Degraded"][2] == "ü" * 32768
    assert "estimatedToComplete" not in broken and broken["version"] == "4.20.2"
    assert "version" not in world(node(currentConfig="odd", desiredConfig="odd")).nodes()["n1"]
    assert world(going("Working")).nodes()["n1"]["estimatedToComplete"] == "10m0s"
    assert world(node()).nodes()["n1"]["estimatedToComplete"] == "0s"
    assert "estimatedToComplete" not in world(node(unschedulable=True)).nodes()["n1"]


@tap.case
def pools_are_summed_up():
    old = {"currentConfig": OLD, "desiredConfig": OLD, "state": "Done"}
    for nodes, paused, assessment, percent, updating, healthy in (
            ((), False, "Pending", 0, ("False", "Pending"), ("True", "NoNodes")),
            ((node("a"), node("b")), False, "Completed", 100, ("False", "Updated"),
             ("True", "AllNodesUpdated")),
            ((node("a"), node("b", **old), node("c", **old)), False, "Pending", 33, ("False", "Pending"),
             ("True", "NoProblems")),
            ((node("a"), node("b", **old)), True, "Excluded", 50, ("False", "Paused"), ("True", "Paused")),
            ((node("a"), going("Working")), False, "Progressing", 50, ("True", "Progressing"),
             ("True", "NoProblems")),
            ((node("a"), going("Degraded")), True, "Degraded", 50, ("True", "Progressing"),
             ("False", "NodesDegraded"))):
        status = world(*nodes, pools=[pool("worker", paused=paused)]).pools()["worker"]
        got = (status["assessment"], status["completionPercent"], status["conditions"])
        assert got == (assessment, percent, {"Updating": updating, "Healthy": healthy}), got
        assert status["summaries"]["Total"] == len(nodes)


@tap.case
def times_are_kept_until_a_condition_turns():
    def stored(status, when):
        return {"conditions": [{"type": "Available", "status": status, "lastTransitionTime": when}]}
    assert not [*oracle.late_or_kept(stored("True", EARLY), stored("True", EARLY))]
    assert [*oracle.late_or_kept(stored("True", EARLY), stored("True", LATE))]
    assert not [*oracle.late_or_kept(stored("True", LATE), stored("False", EARLY), EARLY, LATE)]
    assert [*oracle.late_or_kept(stored("True", EARLY), stored("False", LATE), since=EARLY)]
    assert [*oracle.late_or_kept(None, stored("True", EARLY), earliest=LATE)]


tap.main()
