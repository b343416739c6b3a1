"""tests/lib/kubecases_write.py - kube-watcher writes for others: every verb, every outcome.

The rule of all cases: after the answer to a write, its sender never holds a state older than that write.
"""
import kubecrds
import kubesuite
from kube import rv
from kubesuite import case
from kubetree import WATCHER, KubeTree
from muster import wait_for

SENDER_MAX = 32         # WRITES_PER_SENDER of proto/writes.h
NOBODY = "00000000-0000-0000-0000-000000000000"


def node(name, **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def widget(name, **spec):
    return {"apiVersion": "test.muster.dev/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "nothing"}]}}


def held(body, *finalizers):
    return {**body, "metadata": {**body["metadata"], "finalizers": list(finalizers)}}


def labelled(value):
    return {"metadata": {"labels": {"value": value}}}


def uid_of(server, resource, name):
    return server.kube.get(resource, name)["metadata"]["uid"]


def check_rv(server, answer, resource, name):
    """The version that a write reports is the one that it made."""
    made = server.kube.get(resource, name)
    assert answer["rv"] == made["metadata"]["resourceVersion"], (answer, made["metadata"])
    return made


@case
def every_verb_has_its_effect(server):
    with KubeTree(server) as tree:
        tree.wait_synced()
        answer = tree.write("create", "nodes", "n1", body=node("n1", color="red"))
        made = check_rv(server, answer, "nodes", "n1")
        made["spec"] = {"unschedulable": True}
        answer = tree.write("update", "nodes", "n1", body=made, rv=answer["rv"])
        assert check_rv(server, answer, "nodes", "n1")["spec"]["unschedulable"]
        answer = tree.write("merge", "nodes", "n1", body={"metadata": {"labels": {"color": None, "a": "b"}}})
        assert check_rv(server, answer, "nodes", "n1")["metadata"]["labels"] == {"a": "b"}
        answer = tree.write("json", "nodes", "n1", body=[
            {"op": "test", "path": "/metadata/labels/a", "value": "b"},
            {"op": "replace", "path": "/metadata/labels/a", "value": "c"}])
        assert check_rv(server, answer, "nodes", "n1")["metadata"]["labels"] == {"a": "c"}
        taint = {"key": "t", "value": "1", "effect": "NoSchedule"}
        answer = tree.write("strategic", "nodes", "n1", body={"spec": {"taints": [taint]}})
        assert taint in check_rv(server, answer, "nodes", "n1")["spec"]["taints"]
        answer = tree.write("apply", "nodes", "n1", body=node("n1", d="e"))
        assert check_rv(server, answer, "nodes", "n1")["metadata"]["labels"] == {"a": "c", "d": "e"}
        answer = tree.write("get", "nodes", "n1")
        assert len(answer["objects"]) == 1 and answer["rv"] == str(rv(server.kube.get("nodes", "n1")))
        tree.write("create", "nodes", "n2", body=node("n2"))
        answer = tree.write("list", "nodes")
        assert len(answer["objects"]) == 2, answer
        tree.write("delete", "nodes", "n1", uid=made["metadata"]["uid"])
        assert server.kube.names("nodes") == ["n2"]
        tree.wait_equal("nodes")


@case
def refusals_have_an_outcome_each(server):
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()
        tree.write("create", "nodes", "n1", body=node("n1"))
        answer = tree.write("create", "nodes", "n1", body=node("n1"), expect="exists")
        assert (answer["status"], answer["reason"]) == (409, "AlreadyExists"), answer
        answer = tree.write("merge", "nodes", "nobody", body=labelled("x"), expect="not-found")
        assert answer["status"] == 404
        tree.write("get", "nodes", "nobody", expect="not-found")
        tree.write("delete", "nodes", "nobody", uid=NOBODY, expect="not-found")
        old = server.kube.get("nodes", "n1")
        server.kube.merge("nodes", "n1", labelled("moved"))
        before = {"rv": str(rv(old)), "expect": "conflict"}
        answer = tree.write("update", "nodes", "n1", body=old, **before)
        assert answer["status"] == 409
        tree.write("merge", "nodes", "n1", body=labelled("y"), **before)
        tree.write("delete", "nodes", "n1", uid=old["metadata"]["uid"], **before)
        tree.write("delete", "nodes", "n1", uid=NOBODY, expect="conflict")
        answer = tree.write("create", "widgets", "w1", body=widget("w1", size=-1), expect="invalid")
        assert answer["status"] == 422 and "spec.size" in answer["message"], answer
        tree.write("json", "nodes", "n1", body=[{"op": "test", "path": "/metadata/name", "value": "x"}],
                   expect="invalid")
        answer = tree.write("create", "nodes", "n3", body=node("n3"), number=2, expect="denied")
        assert answer["status"] == 0, "rights.h refuses before the server is asked"
        tree.write("merge", "nodes", "n1", body=labelled("second"), number=2)
        assert server.kube.get("nodes", "n1")["metadata"]["labels"]["value"] == "second"
        assert server.kube.find("nodes", "n3") is None
        asked = [row["code"] for row in server.audit() if row["user-agent"].startswith("muster")
                 and (row["verb"], row["resource"]) == ("create", "nodes")]
        assert asked == [201, 409], f"n1 and n1 again, and nothing of n3: {asked}"


@case
def a_write_that_could_change_another_object_is_not_sent(server):
    made = server.kube.create("nodes", node("n1"))
    server.kube.create("pods", pod("p1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        for verb, resource, name, more in (("delete", "nodes", "n1", {}), ("evict", "pods", "p1", {}),
                                           ("update", "nodes", "n1", {"body": made})):
            answer = tree.write(verb, resource, name, expect="invalid", **more)
            assert answer["status"] == 0 and answer["message"], answer
        assert server.kube.get("nodes", "n1") == made and server.kube.get("pods", "p1")


@case
def an_invalid_name_is_refused_without_effect(server):
    """Issue 10.3: none of these may end kube-watcher, reach the server, or lose a precondition."""
    made = server.kube.create("nodes", node("n1"))
    uid = made["metadata"]["uid"]
    event = {"group": "", "version": "v1", "resource": "nodes", "namespace": "", "name": "n1", "uid": uid,
             "type": "Normal", "reason": "Tested", "action": "Testing", "note": "x"}
    bad = [*b"n", 0xff]
    with KubeTree(server) as tree:
        tree.wait_synced()
        before = tree.actor(WATCHER)["incarnation"]
        for field, value in (("namespace", "a/b"), ("namespace", "a" * 64), ("name", bad), ("name", "a/b"),
                             ("uid", bad), ("resource", "nodes/status"), ("group", "a b"),
                             ("version", "../v1"), ("subresource", "status")):
            answer = tree.ask("event", **{**event, field: value})
            assert answer["outcome"] == "invalid" and answer["message"].startswith(f"{field}: "), answer
        for verb, field, value, more in (
                ("delete", "uid", bad, {}), ("delete", "rv", bad, {"uid": uid}),
                ("merge", "name", bad, {"body": labelled("x")}),
                ("merge", "name", "..", {"body": labelled("x")}),
                ("merge", "namespace", "a/b", {"body": labelled("x")}),
                ("merge", "subresource", "status/x", {"body": labelled("x")}),
                ("list", "labels", bad, {"name": ""}), ("merge", "labels", "a=b", {"body": labelled("x")})):
            answer = tree.ask("write", **{"verb": verb, "group": "", "version": "v1", "resource": "nodes",
                                          "namespace": "", "name": "n1", **more, field: value})
            assert answer["outcome"] == "invalid" and answer["message"].startswith(f"{field}: "), answer
        tree.write("merge", "nodes", "n1", body=labelled("still-here"))
        assert server.kube.get("nodes", "n1")["metadata"]["uid"] == uid
        assert tree.actor(WATCHER)["incarnation"] == before, "it was never restarted"


@case
def a_subresource_is_neither_created_nor_listed(server):
    """Issue 10.3: the right was checked on pods/eviction, and the request went to pods."""
    with KubeTree(server) as tree:
        tree.wait_synced()
        for verb, name, more in (("create", "p1", {"body": pod("p1")}), ("list", "", {}),
                                 ("evict", "p1", {"uid": NOBODY})):
            answer = tree.write(verb, "pods", name, subresource="eviction", expect="invalid", **more)
            assert answer["status"] == 0 and answer["message"].startswith("subresource: "), answer
        assert server.kube.find("pods", "p1") is None


@case
def a_reader_never_sees_a_state_older_than_its_own_write(server):
    server.kube.create("nodes", node("n1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        for number in range(100):
            answer = tree.write("merge", "nodes", "n1", body=labelled(str(number)))
            row = tree.dump()["objects"]["nodes/n1"]
            assert row["fields"]["labels"]["value"] == str(number), (number, row)
            assert int(row["rv"]) >= int(answer["rv"]), (answer, row)
        tree.write("create", "widgets", "w1", body=widget("w1", size=1))
        assert tree.fields("widgets/default/w1")["size"] == 1
        tree.write("delete", "widgets", "w1", uid=uid_of(server, "widgets", "w1"))
        assert tree.fields("widgets/default/w1") is None


@case
def many_writes_are_under_way_at_once_and_one_per_object(server):
    server.kube.create_many("nodes", [node(f"n{number}") for number in range(SENDER_MAX + 1)])
    with KubeTree(server) as tree:
        tree.wait_synced()

        def begin(number):
            return tree.begin_write("merge", "nodes", f"n{number}", body=labelled(f"v{number}"),
                                    timeout_ms=30000, tag=f"t{number}")
        server.pause()
        try:
            questions = [begin(number) for number in range(SENDER_MAX - 1)]
            second = begin(0).answer()
            assert second["outcome"] == "busy" and second["tag"] == "t0", second
            questions.append(begin(SENDER_MAX - 1))
            assert begin(SENDER_MAX).answer()["outcome"] == "busy"
        finally:
            server.resume()
        answers = [question.answer() for question in questions]
        assert [answer["outcome"] for answer in answers] == ["ok"] * SENDER_MAX, answers
        assert [answer["tag"] for answer in answers] == [f"t{number}" for number in range(SENDER_MAX)]
        assert len({answer["id"] for answer in answers}) == SENDER_MAX
        tree.wait_equal("nodes")
        assert "value" not in server.kube.get("nodes", f"n{SENDER_MAX}")["metadata"].get("labels", {})


@case
def a_finalizer_holds_an_object_until_it_is_removed(server):
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.write("create", "widgets", "w1", body=held(widget("w1", size=1), "test.muster.dev/hold"))
        tree.write("delete", "widgets", "w1", uid=uid_of(server, "widgets", "w1"))
        assert server.kube.get("widgets", "w1")["metadata"]["deletionTimestamp"]
        assert tree.fields("widgets/default/w1")["finalizers"] == [["test.muster.dev/hold"]]
        more = {"metadata": {"finalizers": ["a/b", "test.muster.dev/hold"]}}
        tree.write("merge", "widgets", "w1", body=more, expect="invalid")
        tree.write("json", "widgets", "w1", body=[
            {"op": "test", "path": "/metadata/finalizers/0", "value": "test.muster.dev/hold"},
            {"op": "remove", "path": "/metadata/finalizers/0"}])
        assert server.kube.find("widgets", "w1") is None
        wait_for(lambda: tree.fields("widgets/default/w1") is None, "the widget is gone")
        assert tree.counts()["gone_keys"] == ["widgets/default/w1"]


@case
def a_status_is_written_apart(server):
    server.kube.create("widgets", widget("w1", size=1))
    condition = {"type": "Ready", "status": "True", "reason": "Tested"}
    with KubeTree(server) as tree:
        tree.wait_synced()
        both = {"status": {"conditions": [condition]}, "spec": {"size": 9}}
        tree.write("merge", "widgets", "w1", subresource="status", body=both)
        row = server.kube.get("widgets", "w1")
        assert (row["spec"]["size"], row["status"]["conditions"], row["metadata"]["generation"]) == (
            1, [condition], 1)
        assert tree.fields("widgets/default/w1")["conditions"] == [["Ready", "True", "Tested"]]
        tree.write("merge", "widgets", "w1", body=both)
        assert server.kube.get("widgets", "w1")["metadata"]["generation"] == 2
        tree.write("apply", "widgets", "w1", subresource="status", body={
            **{key: value for key, value in widget("w1").items() if key != "spec"},
            "status": {"phase": "Applied"}})
        row = server.kube.get("widgets", "w1")
        assert row["status"] == {"conditions": [condition], "phase": "Applied"}, row["status"]


@case
def an_apply_owns_its_fields_and_wins(server):
    server.kube.apply("widgets", "w1", widget("w1", size=1, color="red"), "somebody")
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.write("apply", "widgets", "w1", body=widget("w1", size=2, mode="busy"))
        row = server.kube.get("widgets", "w1")
        assert row["spec"] == {"size": 2, "color": "red", "mode": "busy"}
        managers = {entry["manager"]: entry for entry in row["metadata"]["managedFields"]}
        ours, = managers.keys() - {"somebody"}
        assert ours.startswith("muster") and managers[ours]["operation"] == "Apply", managers.keys()
        first = row["metadata"]["resourceVersion"]
        again = tree.write("apply", "widgets", "w1", body=widget("w1", size=2, mode="busy"))
        assert again["rv"] == first, "the same again is no change"
        tree.write("apply", "widgets", "w1", body=widget("w1", size=2))
        assert server.kube.get("widgets", "w1")["spec"] == {"size": 2, "color": "red"}, "what we gave up"
        tree.write("apply", "widgets", "w2", body=widget("w2", size=3))
        assert server.kube.get("widgets", "w2")["spec"] == {"size": 3}, "what was absent is made"


@case
def a_pod_is_evicted(server):
    made = server.kube.create("pods", pod("p1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.wait_equal("pods")
        tree.write("evict", "pods", "p1", uid=made["metadata"]["uid"])
        assert server.kube.find("pods", "p1") is None
        tree.write("evict", "pods", "p1", uid=made["metadata"]["uid"], expect="not-found")
        evictions = [row for row in server.audit() if row["subresource"] == "eviction"]
        assert [row["code"] for row in evictions] == [201, 404], evictions


@case
def a_pod_leaves_with_the_grace_period_that_was_given(server):
    def placed(name):
        made = server.kube.create("pods", {**pod(name), "spec": {**pod(name)["spec"], "nodeName": "n1"}})
        assert made["spec"]["terminationGracePeriodSeconds"] == 30
        return made["metadata"]["uid"]

    def grace(name):
        return server.kube.get("pods", name)["metadata"].get("deletionGracePeriodSeconds")
    server.kube.create("nodes", node("n1"))
    uids = {name: placed(name) for name in ("p1", "p2", "p3", "p4")}
    with KubeTree(server) as tree:
        tree.wait_synced()
        # The real server tries an eviction whose uid does not match for 10 s before it answers 409.
        for verb, name, refused in (("evict", "p1", ("conflict", "unknown")), ("delete", "p2", "conflict")):
            tree.write(verb, "pods", name, uid=NOBODY, body={"gracePeriodSeconds": 20}, expect=refused)
            tree.write(verb, "pods", name, uid=uids[name], body={"gracePeriodSeconds": -1}, expect="invalid")
            assert grace(name) is None
            tree.write(verb, "pods", name, uid=uids[name], body={"gracePeriodSeconds": 20})
            assert grace(name) == 20
        tree.write("evict", "pods", "p3", uid=uids["p3"])
        assert grace("p3") == 30, "its own"
        tree.write("delete", "pods", "p4", uid=uids["p4"], body={"gracePeriodSeconds": 0})
        assert server.kube.find("pods", "p4") is None
        tree.wait_equal("pods")


@case
def a_live_kind_is_projected_for_its_reader_on_request(server):
    """The Pods of one node, as a drain reads them: the second test actor is the reader."""
    def placed(name, place, meta=None, **spec):
        body = pod(name)
        made = server.kube.create("pods", {**body, "metadata": {**body["metadata"], **(meta or {})},
                                           "spec": {**body["spec"], "nodeName": place, **spec}})
        return made["metadata"]["uid"]
    server.kube.create("nodes", node("n2"))
    uid = server.kube.create("nodes", node("n1"))["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": uid, "controller": True}
    uids = {"p1": placed("p1", "n1"), "p2": placed(
        "p2", "n1", {"annotations": {"karpenter.sh/do-not-disrupt": "true", "other": "x"},
                     "ownerReferences": [owner]},
        terminationGracePeriodSeconds=7, tolerations=[{"key": "t", "operator": "Exists"}])}
    placed("p3", "n2")
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()
        tree.write("delete", "pods", "p1", uid=uids["p1"], body={"gracePeriodSeconds": 25})
        answer = tree.write("list", "pods", namespace="", fields="spec.nodeName=n1", number=2)
        assert answer["skipped"] == 0 and answer["rv"], answer
        rows = {row["key"]: row for row in answer["objects"]}
        assert sorted(rows) == ["pods/default/p1", "pods/default/p2"], rows
        assert all(row["type"] == "NODE_POD" and row["uid"] == uids[row["fields"]["name"]]
                   for row in rows.values()), rows
        first, second = (rows[f"pods/default/{name}"]["fields"] for name in ("p1", "p2"))
        assert first["deleted"] and first["delete_s"] == 25 and first["grace_s"] == 30, first
        assert second["karpenter"] == {"do-not-disrupt": "true"} and not second["mirror"], second
        assert second["owners"] == [["Node", "true"]] and second["grace_s"] == 7, second
        assert ["t", "Exists", "", ""] in second["tolerations"] and not second["deleted"], second
        answer = tree.write("get", "pods", "p2", number=2)
        row, = answer["objects"]
        assert row["type"] == "NODE_POD" and row["fields"] == second and answer["rv"] == row["rv"], answer
        tree.write("get", "pods", "nobody", number=2, expect="not-found")
        # It may read them, and nothing else.
        tree.write("delete", "pods", "p2", uid=uids["p2"], number=2, expect="denied")
        # Who watches the kind and does not read the live one gets what it watches.
        row, = tree.write("get", "pods", "p2")["objects"]
        assert row["type"] == "POD", row


@case
def a_deletion_with_another_uid_is_a_conflict(server):
    first = server.kube.create("nodes", node("n1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        server.kube.delete("nodes", "n1")
        second = server.kube.create("nodes", node("n1"))
        tree.write("delete", "nodes", "n1", uid=first["metadata"]["uid"], expect="conflict")
        assert server.kube.get("nodes", "n1")["metadata"]["uid"] == second["metadata"]["uid"]
        tree.write("delete", "nodes", "n1", uid=second["metadata"]["uid"])
        assert server.kube.find("nodes", "n1") is None


@case
def a_write_without_an_answer_is_unknown(server):
    server.kube.create("nodes", node("n1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.write("merge", "nodes", "n1", body=labelled("known"))
        server.pause()
        try:
            tree.write("merge", "nodes", "n1", body=labelled("unknown"), timeout_ms=2000, expect="unknown")
        finally:
            server.resume()
        # It may have happened, or still happen; a live read shows it, and the next write is answered again.
        answer = tree.write("get", "nodes", "n1", timeout_ms=20000)
        assert len(answer["objects"]) == 1
        tree.write("merge", "nodes", "n1", body=labelled("after"), timeout_ms=20000)
        assert tree.fields("nodes/n1")["labels"]["value"] == "after"


@case
def a_write_that_never_left_did_not_happen(server):
    server.kube.create("nodes", node("n1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        with server.unreachable():
            tree.write("merge", "nodes", "n1", body=labelled("lost"), timeout_ms=2000,
                       expect=("failed", "expired", "unknown"))
            answer = tree.write("merge", "nodes", "n1", body=labelled("lost"), timeout_ms=2000,
                                expect=("failed", "expired"))
            assert answer["message"], "the answer has a reason"
        tree.write("merge", "nodes", "n1", body={"metadata": {"labels": {"other": "x"}}}, timeout_ms=20000)
        assert "value" not in server.kube.get("nodes", "n1")["metadata"]["labels"]


@case
def events_are_written_once_and_counted(server):
    made = server.kube.create("nodes", node("n1"))
    with KubeTree(server) as tree:
        tree.wait_synced()
        about = {"group": "", "resource": "nodes", "namespace": "", "name": "n1",
                 "uid": made["metadata"]["uid"], "action": "Testing"}
        for _ in range(5):
            tree.ask("event", type="Warning", reason="Tested", note="the same", **about)
        tree.ask("event", type="Normal", reason="Other", note="something else", **about)

        def ours(reason):
            return [event for event in server.kube.list("events", "default")["items"]
                    if event["regarding"].get("uid") == made["metadata"]["uid"] and event["reason"] == reason]
        wait_for(lambda: ours("Tested") and ours("Other"), "both events are there")
        # A series is written when it begins; what comes after is counted, and written when it ends.
        wait_for(lambda: ours("Tested")[0].get("series", {}).get("count", 0) >= 2, "the first is counted")
        event, = ours("Tested")
        assert event["series"]["count"] <= 5, event["series"]
        asked = [row["verb"] for row in server.audit()
                 if row["resource"] == "events" and row["verb"] in ("create", "patch")]
        assert sorted(asked) == ["create", "create", "patch"], asked
        assert (event["type"], event["action"], event["note"]) == ("Warning", "Testing", "the same")
        assert event["regarding"]["kind"] == "Node" and event["regarding"]["name"] == "n1", event["regarding"]
        assert event["reportingController"].startswith("muster") and event["reportingInstance"], event
        assert "series" not in ours("Other")[0]


def run(make):
    kubesuite.run(make, prepare=lambda server: server.install(kubecrds.widgets()))
