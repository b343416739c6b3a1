"""tests/lib/kubecases_server.py - what an API server must do for any client: one list of cases, two servers.

tests/real/test_server.py and tests/sim/test_server.py run it. It proves the harness on the real server, and
the simulator by the same assertions.
"""
import json
import re

import kube
import kubecrds
import kubesuite
from kube import KubeError, rv
from kubesuite import case, expect_error
from muster import wait_for

SOME = 20


def node(name, **labels):
    return {"metadata": {"name": name, "labels": labels}}


def widget(name, **spec):
    return {"metadata": {"name": name}, "spec": spec}


def events(stream, count):
    """The next so many events, bookmarks left out."""
    found = []
    for event in stream:
        if event["type"] != "BOOKMARK":
            found.append((event["type"], event["object"]["metadata"]["name"]))
        if len(found) == count:
            return found
    raise AssertionError(f"the watch ended after {found}")


@case
def a_watch_from_before_the_kind_was_served_is_410(server):
    """The history of a kind begins with it (issue 10.16)."""
    server.kube.create("widgets", widget("young", size=1))
    answer = server.kube.raw("GET", "apis/test.muster.dev/v1/widgets",
                             query={"watch": "1", "resourceVersion": "1", "timeoutSeconds": "5"})
    event = json.loads(answer.body.splitlines()[0])
    assert event["type"] == "ERROR", event
    status = event["object"]
    assert (status["code"], status["reason"]) == (410, "Expired"), status
    assert re.fullmatch(r"too old resource version: 1 \(\d+\)", status["message"]), status


@case
def objects_are_created_read_changed_and_deleted(server):
    created = server.kube.create("nodes", node("crud", color="red"))
    assert created["metadata"]["uid"] and rv(created) > 0
    assert server.kube.get("nodes", "crud") == created
    created["metadata"]["labels"]["color"] = "blue"
    replaced = server.kube.replace("nodes", created)
    assert rv(replaced) > rv(created) and replaced["metadata"]["uid"] == created["metadata"]["uid"]
    merged = server.kube.merge("nodes", "crud", {"metadata": {"labels": {"color": None}}})
    assert "labels" not in merged["metadata"]
    server.kube.delete("nodes", "crud")
    assert server.kube.find("nodes", "crud") is None


@case
def bytes_that_are_no_UTF_8_name_nothing(server):
    name, refused = (404, "NotFound", "\ufffd"), (400, "BadRequest", None)
    rows = (
        ("GET", "nodes/%ff", *name), ("DELETE", "nodes/%ff", *name), ("GET", "nodes/%ff/status", *name),
        ("PATCH", "nodes/%ff", *name), ("GET", "namespaces/%ff", *name),
        ("GET", "namespaces/a/pods/%ff", *name), ("POST", "namespaces/%ff/configmaps", *name),
        ("PUT", "nodes/%ff", *refused),
        ("GET", "nodes?labelSelector=%ff", *refused), ("GET", "nodes?fieldSelector=%ff", *refused),
        ("GET", "nodes?fieldSelector=%ff%3D1", *refused), ("GET", "nodes?continue=%ff", *refused),
        ("GET", "nodes?limit=%ff", *refused))
    for method, path, code, reason, called in rows:
        body = None if method in ("GET", "DELETE") else {"metadata": {"name": "x"}}
        answer = server.kube.raw(method, f"api/v1/{path}", body=body,
                                 content=kube.MERGE if method == "PATCH" else None)
        status = answer.json()
        assert (answer.code, status.get("reason")) == (code, reason), (method, path, answer)
        assert status.get("details", {}).get("name") == called, (method, path, status)
        assert code != 404 or '"\\xff" not found' in status["message"], (method, path, status)
    for query in ("resourceVersionMatch=%ff&resourceVersion=1", "watch=1&resourceVersion=%ff",
                  "resourceVersion=%ff", "%ff=1", "fieldSelector=metadata.name%3D%ff"):
        assert server.kube.raw("GET", f"api/v1/nodes?{query}").code in (200, 400, 422, 500), query
    made = server.kube.raw("POST", "api/v1/namespaces/default/configmaps?fieldManager=%ff",
                           body={"metadata": {"name": "by-no-utf-8"}})
    assert made.code == 201, made
    server.kube.call("DELETE", "api/v1/namespaces/default/configmaps/by-no-utf-8")
    assert server.kube.names("nodes") == []


def unsorted(value, path="$"):
    """The paths of objects whose keys are not sorted."""
    if isinstance(value, dict):
        if list(value) != sorted(value):
            yield path, list(value)
        for key, below in value.items():
            yield from unsorted(below, f"{path}.{key}")
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from unsorted(below, f"{path}[{index}]")


@case
def keys_come_sorted_in_custom_resources_and_as_in_go_elsewhere(server):
    """Labels come before the name, items before metadata: a reader of a stream depends on it (issue 10.9)."""
    made = server.kube.create("widgets", {"metadata": {"name": "order", "labels": {"b": "", "a": ""}},
                                          "spec": {"size": 1, "color": "red"}})
    begin = str(rv(made) - 1)
    listed = server.kube.list("widgets")
    assert list(listed) == ["apiVersion", "items", "kind", "metadata"]
    assert listed["items"][0] == made
    for document in (made, listed, server.kube.list("widgets.v1beta1"), server.kube.get("widgets", "order"),
                     server.kube.merge("widgets", "order", {"spec": {"color": "blue"}}),
                     next(server.kube.watch("widgets", begin))["object"]):
        assert not list(unsorted(document)), list(unsorted(document))
    end = next(event for event in server.kube.watch_list("widgets") if kube.is_initial_end(event))
    assert not list(unsorted(end["object"])), end
    partial = server.kube.get("widgets", "order", accept=kube.METADATA_ONLY)
    assert list(partial) == ["kind", "apiVersion", "metadata"]
    assert [key for key in partial["metadata"] if key != "managedFields"] == [
        "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "labels"]
    made = server.kube.create("nodes", {"metadata": {
        "annotations": {"b": "", "a": ""}, "labels": {"b": "", "a": ""}, "name": "order",
        "finalizers": ["x.y/z"]},
        "spec": {"taints": [{"effect": "NoSchedule", "key": "k", "value": "v"}], "podCIDR": "10.1.0.0/24"}})
    assert list(made) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert [key for key in made["metadata"] if key != "managedFields"] == [
        "name", "uid", "resourceVersion", "creationTimestamp", "labels", "annotations", "finalizers"]
    assert list(made["metadata"]["labels"]) == list(made["metadata"]["annotations"]) == ["a", "b"]
    assert list(made["spec"]) == ["podCIDR", "podCIDRs", "taints"]
    assert ["key", "value", "effect"] in map(list, made["spec"]["taints"])
    assert list(server.kube.list("nodes")) == ["kind", "apiVersion", "metadata", "items"]
    server.kube.merge("nodes", "order", {"metadata": {"finalizers": None}})


@case
def refusals_have_a_reason(server):
    server.kube.create("nodes", node("twice"))
    expect_error(409, "AlreadyExists", server.kube.create, "nodes", node("twice"))
    expect_error(404, "NotFound", server.kube.get, "nodes", "nobody")
    stale = server.kube.get("nodes", "twice")
    server.kube.merge("nodes", "twice", {"metadata": {"labels": {"a": "b"}}})
    expect_error(409, "Conflict", server.kube.replace, "nodes", stale)
    expect_error(409, "Conflict", server.kube.delete, "nodes", "twice", uid="not-that-one")
    expect_error(422, "Invalid", server.kube.create, "nodes", node("Not A Name"))
    wrong = widget("bad", size=-1, mode="sideways")
    refused = expect_error(422, "Invalid", server.kube.create, "widgets", wrong)
    assert {cause["field"] for cause in refused.causes} == {"spec.size", "spec.mode"}
    unknown = server.kube.raw("GET", "apis/test.muster.dev/v1/gadgets")
    assert (unknown.code, unknown.body) == (404, b"404 page not found\n")
    expect_error(404, "NotFound", server.kube.create, "widgets", widget("w"), "no-such-namespace")


@case
def a_watch_sends_every_change_after_its_version(server):
    begin = server.kube.list("nodes")["metadata"]["resourceVersion"]
    server.kube.create("nodes", node("seen"))
    server.kube.merge("nodes", "seen", {"metadata": {"labels": {"a": "b"}}})
    server.kube.delete("nodes", "seen")
    wanted = [("ADDED", "seen"), ("MODIFIED", "seen"), ("DELETED", "seen")]
    assert events(server.kube.watch("nodes", begin), 3) == wanted
    assert events(server.kube.watch("nodes", begin), 3) == wanted, "the same watch again"


@case
def a_watch_with_a_selector_sees_entering_and_leaving(server):
    begin = server.kube.list("nodes")["metadata"]["resourceVersion"]
    server.kube.create("nodes", node("sel", color="red"))
    server.kube.create("nodes", node("other", color="blue"))
    server.kube.merge("nodes", "sel", {"metadata": {"labels": {"color": "blue"}}})
    server.kube.merge("nodes", "other", {"metadata": {"labels": {"color": "red"}}})
    assert events(server.kube.watch("nodes", begin, labelSelector="color=red"), 3) == [
        ("ADDED", "sel"), ("DELETED", "sel"), ("ADDED", "other")]
    assert events(server.kube.watch("nodes", begin, fieldSelector="metadata.name=other"), 2) == [
        ("ADDED", "other"), ("MODIFIED", "other")]


@case
def a_watch_list_begins_with_everything_and_marks_its_end(server):
    for number in range(SOME):
        server.kube.create("widgets", widget(f"wl-{number}", size=number))
    names, live = set(), None
    for event in server.kube.watch_list("widgets"):
        if event["type"] == "BOOKMARK":
            if kube.is_initial_end(event):
                live = rv(event["object"])
                assert {f"wl-{n}" for n in range(SOME)} <= names
                server.kube.delete("widgets", "wl-0")
        elif live is None:
            assert event["type"] == "ADDED"
            names.add(event["object"]["metadata"]["name"])
        else:
            assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "wl-0")
            assert rv(event["object"]) > live, "the version of a deletion is its own"
            break


@case
def bookmarks_carry_a_version_and_nothing_else(server):
    server.kube.create("widgets", widget("mark", size=1))
    begin = server.kube.list("widgets")["metadata"]["resourceVersion"]
    server.kube.create("nodes", node("elsewhere"))
    server.kube.list("widgets")         # a consistent list brings the cache of the real server up to now
    found = [event for event in server.kube.watch("widgets", begin, seconds=5, allowWatchBookmarks="true")]
    assert found and all(event["type"] == "BOOKMARK" for event in found), found
    last = found[-1]["object"]
    assert last["kind"] == "Widget" and rv(last) > int(begin) and "spec" not in last


@case
def a_list_in_pages_is_of_one_version(server):
    for number in range(SOME):
        server.kube.create("widgets", widget(f"page-{number:02}", size=1))
    names, versions, token = [], set(), None
    while True:
        query = {"limit": "7", "continue": token} if token else {"limit": "7"}
        page = server.kube.list("widgets", "default", **query)
        names += [item["metadata"]["name"] for item in page["items"]]
        versions.add(page["metadata"]["resourceVersion"])
        token = page["metadata"].get("continue")
        if not token:
            break
        server.kube.create("widgets", widget(f"page-late-{len(names)}", size=1))
    assert len(versions) == 1 and len(set(names)) == len(names)
    assert [n for n in names if n.startswith("page-")] == [f"page-{n:02}" for n in range(SOME)]


@case
def versions_that_are_gone_are_410(server):
    server.kube.create("widgets", widget("old", size=1))
    begin = server.kube.list("widgets")["metadata"]["resourceVersion"]
    page = server.kube.list("widgets", limit="1")
    token = page["metadata"].get("continue")
    server.kube.merge("widgets", "old", {"spec": {"size": 2}})
    server.expire()
    refused = expect_gone(lambda: next(server.kube.watch("widgets", begin)))
    assert refused == "Expired", refused
    if token:
        expect_error(410, "Expired", server.kube.list, "widgets", **{"limit": "1", "continue": token})
    fresh = server.kube.list("widgets")["metadata"]["resourceVersion"]
    server.kube.merge("widgets", "old", {"spec": {"size": 3}})
    assert events(server.kube.watch("widgets", fresh), 1) == [("MODIFIED", "old")]


def expect_gone(begin):
    """The reason of a 410, be it the answer or the first event."""
    try:
        event = begin()
    except KubeError as error:
        assert error.code == 410, error
        return error.reason
    assert event["type"] == "ERROR" and event["object"]["code"] == 410, event
    return event["object"]["reason"]


@case
def a_delete_with_dry_run_deletes_nothing(server):
    """By the body, or by the query where there is no body (issue 10.16)."""
    path = "apis/test.muster.dev/v1/namespaces/default/widgets"
    made = server.kube.create("widgets", widget("dry", size=1))
    for body, query in (({"dryRun": ["All"]}, {}), (None, {"dryRun": "All"}),
                        ({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}, {})):
        done = server.kube.call("DELETE", f"{path}/dry", body=body, query=query)
        assert done["status"] == "Success" and done["details"]["uid"] == made["metadata"]["uid"], done
        assert server.kube.get("widgets", "dry") == made
        every = server.kube.call("DELETE", path, body=body, query=query)
        assert every["kind"] == "WidgetList", every
        assert server.kube.get("widgets", "dry") == made
    for body, query in (({"dryRun": ["Some"]}, {}), (None, {"dryRun": "Some"})):
        refused = expect_error(422, "Invalid", server.kube.call, "DELETE", f"{path}/dry", body=body,
                               query=query)
        assert refused.message == ('DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: '
                                   '["Some"]: supported values: "All"'), refused.message
    server.kube.call("DELETE", f"{path}/dry", body={}, query={"dryRun": "All"})
    assert server.kube.find("widgets", "dry") is None, "with a body, the query does not count"


@case
def an_eviction_that_names_another_pod_is_400(server):
    """Whether the Pod of the path is there or not (issue 10.16)."""
    server.kube.create("pods", {"metadata": {"name": "one"},
                                "spec": {"containers": [{"name": "c", "image": "i"}]}})
    path = "api/v1/namespaces/default/pods"

    def evict(pod, named, **more):
        server.kube.call("POST", f"{path}/{pod}/eviction", body={
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": named}, **more})
    for pod, named in (("nobody", "one"), ("one", "nobody"), ("nobody", "")):
        refused = expect_error(400, "BadRequest", evict, pod, named)
        assert refused.message == "name in URL does not match name in Eviction object", refused.message
    expect_error(404, "NotFound", evict, "nobody", "nobody")
    evict("one", "one", deleteOptions={"dryRun": ["All"]})
    assert "deletionTimestamp" not in server.kube.get("pods", "one")["metadata"]
    evict("one", "one")
    assert server.kube.find("pods", "one") is None


@case
def what_cannot_be_served_is_406(server):
    """A type that no server writes (issue 10.16)."""
    for resource in ("widgets", "widgets.v1beta1"):
        refused = expect_error(406, "NotAcceptable", server.kube.list, resource, accept="text/plain")
        assert refused.message.startswith("only the following media types are accepted: application/json")


@case
def what_happens_behind_a_client_is_found_by_a_list_only(server):
    server.kube.create("nodes", node("before"))
    begin = server.kube.list("nodes")["metadata"]["resourceVersion"]
    server.behind(lambda kube: (kube.delete("nodes", "before"), kube.create("nodes", node("after"))))
    assert expect_gone(lambda: next(server.kube.watch("nodes", begin))) == "Expired"
    assert server.kube.names("nodes") == ["after"]


@case
def definitions_of_the_peers_are_accepted(server):
    files = [*kubecrds.from_module(kubecrds.CAPI, "clusters", "machinedeployments", "machines"),
             *kubecrds.from_module(kubecrds.KARPENTER, "nodeclaims", "nodepools")]
    server.install(*files)
    machine = {"clusterName": "c", "bootstrap": {"dataSecretName": "x"},
               "infrastructureRef": {"apiGroup": "x.y", "kind": "X", "name": "x"}}
    spec = {"clusterName": "c", "replicas": 2, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": machine}}
    made = server.kube.create("machinedeployments", {"metadata": {"name": "md"}, "spec": spec})
    assert made["spec"]["replicas"] == 2
    assert server.kube.get("machinedeployments.v1beta1", "md")["apiVersion"] == "cluster.x-k8s.io/v1beta1"
    bad = {"metadata": {"name": "bad"}, "spec": {}}
    expect_error(422, "Invalid", server.kube.create, "machinedeployments", bad)
    claim = {"nodeClassRef": {"group": "g.example", "kind": "K", "name": "n"},
             "requirements": [{"key": "a", "operator": "In", "values": ["b"]}]}
    server.kube.create("nodeclaims", {"metadata": {"name": "claim"}, "spec": claim})
    claim["requirements"][0]["operator"] = "Perhaps"
    expect_error(422, "Invalid", server.kube.create, "nodeclaims", {**bad, "spec": claim})


@case
def a_version_of_the_future_is_asked_for_later(server):
    future = str(rv(server.kube.list("nodes")) + 1_000_000)
    refused = expect_error(504, "Timeout", server.kube.list, "nodes", resourceVersion=future,
                           resourceVersionMatch="NotOlderThan")
    assert [cause["reason"] for cause in refused.causes] == ["ResourceVersionTooLarge"], refused.causes
    assert refused.status["details"]["retryAfterSeconds"] >= 1


@case
def metadata_alone_can_be_asked_for(server):
    server.kube.create("widgets", widget("partial", size=1, color="red"))
    one = server.kube.get("widgets", "partial", accept=kube.METADATA_ONLY)
    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert "spec" not in one
    listed = server.kube.list("widgets", accept=kube.METADATA_ONLY_LIST)
    assert listed["kind"] == "PartialObjectMetadataList" and all("spec" not in i for i in listed["items"])
    begin = listed["metadata"]["resourceVersion"]
    server.kube.merge("widgets", "partial", {"spec": {"size": 2}})
    event = next(server.kube.watch("widgets", begin, accept=kube.METADATA_ONLY))
    assert event["type"] == "MODIFIED" and event["object"]["kind"] == "PartialObjectMetadata"


@case
def both_versions_of_a_kind_show_one_object(server):
    server.kube.create("widgets", widget("both", size=1))
    old = server.kube.get("widgets.v1beta1", "both")
    assert old["apiVersion"] == "test.muster.dev/v1beta1" and old["spec"] == {"size": 1}
    begin = str(rv(old))
    server.kube.merge("widgets.v1beta1", "both", {"spec": {"size": 2}})
    event = next(server.kube.watch("widgets", begin))
    assert event["object"]["apiVersion"] == "test.muster.dev/v1" and event["object"]["spec"] == {"size": 2}


@case
def the_audit_log_has_every_request_and_its_client(server):
    robot = server.client(user_agent="robot/7")
    robot.create("nodes", node("audited"))
    expect_error(404, "NotFound", robot.get, "nodes", "unaudited")
    robot.merge("nodes", "audited", {"metadata": {"labels": {"a": "b"}}})
    next(robot.watch("nodes", "0"))
    robot.delete("nodes", "audited")

    def mine():
        rows = [row for row in server.audit() if row["user-agent"] == "robot/7"]
        return [(row["verb"], row["resource"], row["name"], row["code"]) for row in rows]
    wanted = [("create", "nodes", "audited", 201), ("get", "nodes", "unaudited", 404),
              ("patch", "nodes", "audited", 200), ("watch", "nodes", "", 200),
              ("delete", "nodes", "audited", 200)]
    wait_for(lambda: mine() == wanted, f"{wanted}, not {mine()}")


@case
def a_paused_server_answers_later(server):
    quick = server.client()
    quick.timeout = 1
    server.pause()
    try:
        quick.list("nodes")
        raise AssertionError("a paused server answered")
    except TimeoutError:
        pass
    finally:
        server.resume()
    server.kube.list("nodes")


def run(make, *more):
    """more: cases of one kind of server alone."""
    kubesuite.run(make, *more, prepare=lambda server: server.install(kubecrds.widgets()))
