"""tests/sim/test_kube_faults_write.py - writes that fail or are interrupted: faults 3, 7, 8, 32.

The rule of all cases: an outcome is true. "ok" was done, "unknown" was done or not, anything else was not.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from kubefaults import (ReceivedChanges, arm, asked, asked_at, assert_rests, case, disarm, hits, node, nodes,
                        see, steady, wait_hits)
from kubeservers import SimServer
from kubetree import WATCHER, KubeTree
from muster import wait_for

WRITES = "create,update,patch,delete"
HOLD = "test.muster.dev/hold"
HANG_MS = 60000         # longer than any write waits
WHILE_MS = 3000         # for what is to happen while the server delays a write


def whole(resource, body):
    kinds = {"nodes": ("v1", "Node"), "pods": ("v1", "Pod"), "widgets": ("test.muster.dev/v1", "Widget")}
    version, kind = kinds[resource]
    return {"apiVersion": version, "kind": kind, **body}


def labelled(value):
    return {"metadata": {"labels": {"value": value}}}


# -- fault 3: a workload of every kind of write, each with a check whether it has happened

def uid_of(server, resource, name):
    found = server.kube.find(resource, name)
    return found["metadata"]["uid"] if found else "00000000-0000-0000-0000-000000000000"


def spec_of(server, name):
    return (server.kube.find("widgets", name) or {}).get("spec", {})


def meta_of(server, resource, name):
    return (server.kube.find(resource, name) or {"metadata": {}})["metadata"]


POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "nothing"}]}}
# (verb, resource, name, its other arguments, has it happened?), in order.
STEPS = [
    ("create", "nodes", "a", lambda s: {"body": whole("nodes", node("a", made="here"))},
     lambda s: s.kube.find("nodes", "a")),
    ("merge", "nodes", "a", lambda s: {"body": labelled("merged")},
     lambda s: meta_of(s, "nodes", "a").get("labels", {}).get("value") == "merged"),
    ("strategic", "nodes", "a", lambda s: {"body": {"spec": {"unschedulable": True}}},
     lambda s: (s.kube.find("nodes", "a") or {"spec": {}})["spec"].get("unschedulable")),
    ("create", "widgets", "w", lambda s: {"body": whole("widgets", {
        "metadata": {"name": "w", "finalizers": [HOLD]}, "spec": {"size": 1}})},
     lambda s: s.kube.find("widgets", "w")),
    ("apply", "widgets", "w", lambda s: {"body": whole("widgets", {
        "metadata": {"name": "w"}, "spec": {"color": "red"}})},
     lambda s: spec_of(s, "w").get("color") == "red"),
    ("merge", "widgets", "w", lambda s: {"subresource": "status", "body": {"status": {"phase": "Done"}}},
     lambda s: (s.kube.find("widgets", "w") or {}).get("status") == {"phase": "Done"}),
    ("create", "pods", "p", lambda s: {"body": whole("pods", POD)}, lambda s: s.kube.find("pods", "p")),
    ("evict", "pods", "p", lambda s: {"uid": uid_of(s, "pods", "p")},
     lambda s: s.kube.find("pods", "p") is None),
    ("delete", "widgets", "w", lambda s: {"uid": uid_of(s, "widgets", "w")},
     lambda s: meta_of(s, "widgets", "w").get("deletionTimestamp")),
    ("create", "nodes", "b", lambda s: {"body": whole("nodes", node("b"))},
     lambda s: s.kube.find("nodes", "b")),
    ("delete", "nodes", "b", lambda s: {"uid": uid_of(s, "nodes", "b")},
     lambda s: s.kube.find("nodes", "b") is None),
]


def final_state(server):
    """What there is in the end, without what differs from run to run."""
    def plain(item):
        meta = item["metadata"]
        return (meta["name"], meta.get("labels"), meta.get("finalizers"), "deletionTimestamp" in meta,
                item.get("spec"), item.get("status"))
    return [plain(item) for resource in ("nodes", "pods", "widgets")
            for item in server.kube.list(resource)["items"]]


def perform(server, tree, step):
    """As an actor does it: again until it has happened. Returns the outcomes, each of which was true."""
    verb, resource, name, arguments, happened = step
    outcomes = []
    while len(outcomes) < 20:
        before = bool(happened(server))
        if before and outcomes:
            return outcomes
        question = tree.begin_write(verb, resource, name, **arguments(server))
        yield question
        outcome = question.answer()["outcome"]
        outcomes.append(outcome)
        after = bool(happened(server))
        assert outcome != "ok" or after, f"{verb} {resource}/{name} was ok and did not happen"
        assert outcome in ("ok", "unknown") or after == before, (
            f"{verb} {resource}/{name} was {outcome}, and happened")
        if outcome == "ok":
            return outcomes
        time.sleep(0.05)
    raise AssertionError(f"{verb} {resource}/{name} never happened: {outcomes}")


def run_all(server, tree, disturb=lambda number, step: None):
    """The whole workload; disturb(number, step) is called during a write. Returns all outcomes."""
    everything = []
    for number, step in enumerate(STEPS):
        attempt = perform(server, tree, step)
        while True:
            try:
                next(attempt)
            except StopIteration as end:
                everything.append(end.value)
                break
            disturb(number, step)
    return everything


def check_end(server, tree, reference):
    assert final_state(server) == reference
    for resource in ("nodes", "pods", "widgets"):
        tree.wait_equal(resource)
    kubesuite.sweep(server.kube)
    disarm(server)


def undisturbed(server):
    with KubeTree(server) as tree:
        tree.wait_synced()
        assert run_all(server, tree) == [["ok"]] * len(STEPS)
        reference = final_state(server)
        check_end(server, tree, reference)
    return reference


def die_at(server, number, fault):
    """disturb(): kube-watcher is killed while the server holds the write of that number."""
    hanging = arm(server, fault, verb=WRITES, after=number, ms=HANG_MS)
    done = []

    def disturb(tree, now, step):
        if now == number and not done:
            wait_hits(server, hanging)
            if fault == "late_answer":
                wait_for(lambda: step[-1](server), "it has happened")
            done.append(tree.kill(WATCHER))
            server.interrupt()      # the server would execute the delayed write later
    return disturb


def killed(server, fault):
    reference = undisturbed(server)
    for number in range(len(STEPS)):
        with KubeTree(server) as tree:
            tree.wait_synced()
            disturb = die_at(server, number, fault)
            outcomes = run_all(server, tree, lambda now, step: disturb(tree, now, step))
            assert outcomes[number][0] == "unknown", f"killed in write {number}: {outcomes}"
            tree.wait(lambda: tree.dump()["fresh"], "the new kube-watcher is synced")
            check_end(server, tree, reference)
            assert tree.actor(WATCHER)["restarts"] == 1, tree.actor(WATCHER)


@case
def fault_3_kube_watcher_dies_before_the_server_acts_on_its_nth_write(server):
    killed(server, "latency")


@case
def fault_3_kube_watcher_dies_before_it_receives_the_answer_to_its_nth_write(server):
    killed(server, "late_answer")


@case
def fault_3_the_answer_to_every_write_is_lost(server):
    reference = undisturbed(server)
    for fault, done in (("lost", True), ("drop_connection", False)):
        with KubeTree(server) as tree:
            tree.wait_synced()
            server.forget_audit()
            for number in range(len(STEPS)):
                arm(server, fault, verb=WRITES, after=0 if done else number)
            outcomes = run_all(server, tree)
            # What happened is seen to have happened; what did not is sent a second time, by the actor.
            wanted = [["unknown"] if done else ["unknown", "ok"]] * len(STEPS)
            assert outcomes == wanted, outcomes
            sent = [row for row in asked(server) if row["verb"] in WRITES]
            assert len(sent) == len(STEPS) * (1 if done else 2), "nothing is sent twice by itself"
            check_end(server, tree, reference)


# -- fault 7 and 8: the server limits requests, or fails

@case
def fault_7_a_write_waits_for_retry_after(server):
    server.kube.create_many("nodes", nodes(5))
    with steady(server) as tree:
        rows = (("1", 1), ("0", 0), ("abc", 0), (None, 0), ("-5", 0))
        for number, (after, least_s) in enumerate(rows):
            arm(server, "status", verb="patch", code=429, **({"retry_after": after} if after else {}))
            tree.write("merge", "nodes", f"n{number}", body=labelled("written"))
            refused, taken = asked(server, "nodes", "patch")[-2:]
            assert (refused["code"], taken["code"]) == (429, 200), (refused, taken)
            assert_rests(asked_at([refused, taken]), f"after {after!r}", least_s)


@case
def fault_7_writes_that_the_server_limits_are_all_done_in_the_end(server):
    """Many at once: the first of them are refused, what follows leaves more slowly, a read at once."""
    server.kube.create_many("nodes", nodes(12))
    with steady(server) as tree:
        arm(server, "status", verb="patch", code=429, count=5)
        begun = [tree.begin_write("merge", "nodes", f"n{n}", body=labelled("written")) for n in range(12)]
        tree.write("get", "nodes", "n1")
        outcomes = [question.answer()["outcome"] for question in begun]
        assert outcomes == ["ok"] * 12, outcomes
        codes = sorted(row["code"] for row in asked(server, "nodes", "patch"))
        assert codes == [200] * 12 + [429] * 5, "what was done is not sent again"


@case
def fault_7_a_write_with_a_very_long_retry_after_is_returned_to_its_sender(server):
    server.kube.create_many("nodes", nodes(2))
    with steady(server) as tree:
        arm(server, "status", verb="patch", code=429, retry_after="99999")
        answer = tree.write("merge", "nodes", "n0", body=labelled("late"), expect="limited")
        assert answer["retry_after_ms"] == 60000, answer
        tree.write("merge", "nodes", "n1", body=labelled("late"), timeout_ms=1500, expect="expired")
        assert len(asked(server, "nodes", "patch")) == 1, "one for all: the others wait as well"
        see(server, tree, "n1")


@case
def fault_7_a_budget_that_forbids_an_eviction_is_no_reason_to_wait(server):
    server.kube.create("nodes", node("n1"))
    made = server.kube.create("pods", POD)
    with steady(server, ("nodes", "pods")) as tree:
        arm(server, "status", verb="create", resource="pods", code=429, retry_after="60")
        answer = tree.write("evict", "pods", "p", uid=made["metadata"]["uid"], expect="limited")
        assert answer["retry_after_ms"] == 60000, answer
        tree.write("merge", "nodes", "n1", body=labelled("at-once"))     # it would not wait for a minute


@case
def a_forbidden_write_is_logged_with_one_writer_and_one_sender(server):
    server.kube.create("nodes", node("n1"))
    with steady(server) as tree:
        arm(server, "status", verb="patch", code=403, reason="Forbidden")
        tree.write("merge", "nodes", "n1", body=labelled("late"), expect="forbidden")
        text = "the cluster does not allow a write"
        wait_for(lambda: tree.facts(msg=text), "the line is in the log")
        fact = tree.facts(msg=text)[0]
        assert (fact["actor"], fact["peer"]) == (WATCHER, "test-kube-1") and "by" not in fact, fact


@case
def fault_8_a_write_that_meets_a_server_error_may_have_happened(server):
    server.kube.create("nodes", node("n1"))
    with steady(server) as tree:
        for code, body in ((500, "status"), (502, "html"), (503, "html"), (504, "empty")):
            arm(server, "status", verb="patch", code=code, body=body)
            server.forget_audit()
            answer = tree.write("merge", "nodes", "n1", body=labelled(f"v{code}"), expect="unknown")
            assert answer["status"] == code and answer["message"] and "<" not in answer["message"], answer
            assert len(asked(server, "nodes", "patch")) == 1, "not sent again"
            arm(server, "status", verb="get", code=code, body=body, count=2)
            tree.write("get", "nodes", "n1")
            assert len(asked(server, "nodes", "get")) == 3, "a read is"


# -- the sender of a write dies

def queued(tree):
    """kube-watcher has received all earlier writes: the answer to this one comes at once, in their order."""
    answer = tree.ask("event", group="", version="v1", resource="nodes", namespace="a/b", name="n", uid="")
    assert answer["outcome"] == "invalid", answer


@case
def a_queued_write_ends_with_the_session_of_its_sender(server):
    """Issue 10.11: the next incarnation plans anew; queued writes of the last one are never sent."""
    first, second = server.kube.create("nodes", node("n1")), server.kube.create("nodes", node("n2"))
    with steady(server) as tree:
        limited = arm(server, "status", verb="patch", code=429, retry_after="5")
        tree.begin_write("merge", "nodes", "n2", body=labelled("limited"))
        wait_hits(server, limited)
        tree.begin_write("delete", "nodes", "n1", uid=first["metadata"]["uid"])
        queued(tree)
        before = tree.kill("test-kube-1")
        tree.wait_back("test-kube-1", before)
        tree.wait(lambda: tree.dump()["fresh"], "the new actor is fresh")
        # Slots are served in turn: what was still queued would go before the second of these.
        for name in ("n1", "n2", "n1", "n2"):
            tree.write("get", "nodes", name)
        assert server.kube.get("nodes", "n1")["metadata"]["uid"] == first["metadata"]["uid"]
        assert server.kube.get("nodes", "n2") == second
        assert not asked(server, "nodes", "delete") and len(asked(server, "nodes", "patch")) == 1
        dropped = [fact for fact in tree.facts(actor=WATCHER) if "dropped" in fact["msg"]]
        names = sorted((fact["verb"], fact["object"]) for fact in dropped)
        assert names == [("delete", "n1"), ("merge", "n2")], names
        tree.write("merge", "nodes", "n2", body=labelled("anew"))


@case
def a_write_in_flight_is_reported_when_its_sender_is_gone(server):
    """Issue 10.11: its result is logged, its object is not free before that, its answer is seen by all."""
    server.kube.create("nodes", node("n1"))
    with steady(server) as tree:
        arm(server, "late_answer", verb="patch", ms=WHILE_MS)
        tree.begin_write("merge", "nodes", "n1", body=labelled("done"))
        wait_for(lambda: meta_of(server, "nodes", "n1").get("labels"), "it is done")
        before = tree.kill("test-kube-1")
        tree.wait_back("test-kube-1", before)
        wait_for(lambda: [fact for fact in tree.facts(actor=WATCHER) if fact.get("outcome") == "ok"
                          and (fact["verb"], fact["object"]) == ("merge", "n1")], "its result is logged")
        assert [fact for fact in tree.facts(actor=WATCHER) if "in flight" in fact["msg"]]
        tree.wait(lambda: tree.fields("nodes/n1")["labels"]["value"] == "done", "and seen")
        tree.write("merge", "nodes", "n1", body=labelled("again"))


# -- fault 32: another client deletes the object of a write

@case
def fault_32_an_object_that_ends_during_a_write_stays_ended(server):
    server.kube.create_many("nodes", nodes(3))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        late = arm(server, "late_answer", verb="patch", ms=1000)
        question = tree.begin_write("merge", "nodes", "n1", body=labelled("done"))
        wait_for(lambda: meta_of(server, "nodes", "n1").get("labels"), "it is done")
        server.kube.delete("nodes", "n1")
        wait_for(lambda: tree.fields("nodes/n1") is None, "the end is seen before the answer")
        assert hits(server, late) == 1
        assert question.answer()["outcome"] == "ok", "it was done, once"
        see(server, tree, "n2")
        assert received.gone() == {"nodes/n1"} and received.so_far()[0] == 0, "it did not come back"

        arm(server, "latency", verb="patch", ms=WHILE_MS)
        question = tree.begin_write("merge", "nodes", "n0", body=labelled("too-late"))
        wait_for(lambda: asked(server, "nodes", "patch")[-1]["name"] == "n0", "the server has it")
        server.kube.delete("nodes", "n0")
        assert question.answer()["outcome"] == "not-found"
        wait_for(lambda: received.gone() == {"nodes/n0", "nodes/n1"}, "both are gone")
        assert received.so_far()[0] == 0


@case
def fault_32_the_answer_of_a_deletion_does_not_end_the_next_of_that_name(server):
    first = server.kube.create("nodes", node("n1"))
    server.kube.create("nodes", node("n2"))
    with steady(server) as tree:
        received = ReceivedChanges(tree)
        arm(server, "late_answer", verb="delete", ms=800)
        question = tree.begin_write("delete", "nodes", "n1", uid=first["metadata"]["uid"])
        wait_for(lambda: server.kube.find("nodes", "n1") is None, "it is done")
        second = server.kube.create("nodes", node("n1"))
        wait_for(lambda: tree.objects("nodes").get("nodes/n1", {}).get("uid") == second["metadata"]["uid"],
                 "the second is seen before the answer")
        assert question.answer()["outcome"] == "ok"
        see(server, tree, "n2")
        assert tree.objects("nodes")["nodes/n1"]["uid"] == second["metadata"]["uid"]
        assert received.gone() == {"nodes/n1"}, "once, for the first"


@case
def fault_32_a_finalizer_that_a_human_removed_is_not_put_back(server):
    with steady(server, ("widgets",)) as tree:
        tree.write("create", "widgets", "w", body=whole("widgets", {
            "metadata": {"name": "w", "finalizers": [HOLD]}, "spec": {"size": 1}}))
        uid = uid_of(server, "widgets", "w")
        server.kube.delete("widgets", "w")
        # It is being deleted, and our finalizer holds it: we still write it.
        ours = {"metadata": {"finalizers": [HOLD]}}
        tree.write("merge", "widgets", "w", uid=uid, subresource="status", body={"status": {"phase": "Ends"}})
        tree.write("merge", "widgets", "w", body={"metadata": {"finalizers": ["a/b", HOLD]}},
                   expect="invalid")
        server.kube.merge("widgets", "w", {"metadata": {"finalizers": None}})
        wait_for(lambda: tree.fields("widgets/default/w") is None, "it is gone")
        # Writes of an actor that has not received the deletion yet: none of these may bring it back.
        held = whole("widgets", {"metadata": {"name": "w", "finalizers": [HOLD]}, "spec": {"size": 1}})
        tree.write("json", "widgets", "w", body=[{"op": "remove", "path": "/metadata/finalizers/0"}], uid=uid,
                   expect="not-found")
        tree.write("merge", "widgets", "w", body=ours, uid=uid, expect="not-found")
        tree.write("apply", "widgets", "w", body=held, uid=uid, expect=("conflict", "not-found"))
        tree.write("delete", "widgets", "w", uid=uid, expect="not-found")
        assert server.kube.find("widgets", "w") is None
        # Another object of that name is not ours.
        second = server.kube.create("widgets", {"metadata": {"name": "w"}, "spec": {"size": 2}})
        wait_for(lambda: tree.fields("widgets/default/w"), "the second is seen")
        for verb, more in (("merge", {"body": labelled("ours")}), ("apply", {"body": held}), ("delete", {})):
            tree.write(verb, "widgets", "w", uid=uid, expect="conflict", **more)
        assert server.kube.get("widgets", "w") == second
        assert tree.counts()["gone_keys"] == ["widgets/default/w"]


@case
def fault_32_a_deletion_during_a_write_is_seen_with_it(server):
    server.kube.create("nodes", {"metadata": {"name": "n1", "finalizers": [HOLD]}})
    with steady(server) as tree:
        arm(server, "latency", verb="patch", ms=WHILE_MS)
        question = tree.begin_write("merge", "nodes", "n1", body=labelled("provisioned"))
        wait_for(lambda: asked(server, "nodes", "patch"), "the server has it")
        server.kube.delete("nodes", "n1")
        assert question.answer()["outcome"] == "ok"
        fields = tree.fields("nodes/n1")
        assert fields["labels"]["value"] == "provisioned" and fields["deleted"], fields
        tree.write("json", "nodes", "n1", body=[{"op": "remove", "path": "/metadata/finalizers/0"}])
        wait_for(lambda: tree.fields("nodes/n1") is None, "it is gone")
        assert tree.counts()["gone_keys"] == ["nodes/n1"]


kubesuite.run(SimServer, prepare=lambda server: server.install(kubecrds.widgets()))
