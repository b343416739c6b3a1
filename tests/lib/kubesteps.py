"""tests/lib/kubesteps.py - requests whose answers kube-apiserver and muster-sim must have in common.

A script is a list of steps, in order; each may build on what the ones before it left behind. KNOWN lists
what differs and is meant to (docs/simulator.md has the reasons).
"""
import dataclasses
import fnmatch
import typing


@dataclasses.dataclass
class Step:
    title: str
    method: str
    path: str
    body: typing.Any = None     # or a function of the last object that was answered
    patch: str = ""             # merge, json, strategic, apply
    agent: str = "tester"


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.test.muster.dev"},
    "spec": {
        "group": "test.muster.dev", "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
        "versions": [{
            "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "required": ["size"], "properties": {
                    "size": {"type": "integer", "minimum": 1, "maximum": 100},
                    "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
                    "name": {"type": "string", "pattern": r"^[a-z\d]+$", "maxLength": 8, "minLength": 2},
                    "port": {"x-kubernetes-int-or-string": True},
                    "note": {"type": "string", "nullable": True},
                    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                    "plain": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                    "rules": {
                        "type": "array", "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["id"],
                        "items": {"type": "object", "required": ["id"], "properties": {
                            "id": {"type": "string"}, "on": {"type": "boolean", "default": True},
                            "weight": {"type": "number"}}}},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"},
                               "maxProperties": 3},
                    "when": {"type": "string", "format": "date-time"},
                    "nested": {"type": "object", "default": {}, "properties": {
                        "a": {"type": "integer", "default": 7},
                        "b": {"type": "integer", "format": "int32", "multipleOf": 5}}}}},
                "status": {"type": "object", "properties": {
                    "phase": {"type": "string"}, "n": {"type": "integer"},
                    "conditions": {
                        "type": "array", "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                        "items": {"type": "object", "required": ["type"], "properties": {
                            "type": {"type": "string"}, "status": {"type": "string"}}}}}}}}},
        }, {
            "name": "v2", "served": True, "storage": False, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        }]}}

# Of the whole cluster, without a status subresource, with the rarer words of a schema.
PLAIN_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.test.muster.dev"},
    "spec": {
        "group": "test.muster.dev", "scope": "Cluster",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [{
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True,
                                           "properties": {
                "spec": {"type": "object", "properties": {
                    "any": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object",
                            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
                    "one": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object",
                            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
                    "not": {"type": "integer", "not": {"enum": [5]}},
                    "over": {"type": "number", "exclusiveMinimum": True, "minimum": 1,
                             "exclusiveMaximum": True,
                             "maximum": 2.5},
                    "few": {"type": "array", "minItems": 1, "items": {"type": "integer", "enum": [1, 2]}},
                    "most": {"type": "object", "minProperties": 1,
                             "additionalProperties": {"type": "integer"}},
                    "pods": {"type": "array", "x-kubernetes-list-type": "map",
                             "x-kubernetes-list-map-keys": ["port", "protocol"],
                             "items": {"type": "object", "required": ["port"], "properties": {
                                 "port": {"type": "integer"}, "protocol": {"type": "string",
                                                                           "default": "TCP"},
                                 "x": {"type": "string"}}}},
                    "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
                        "a": {"type": "integer"}, "b": {"type": "integer"}}},
                    "inner": {"type": "object", "x-kubernetes-embedded-resource": True,
                              "x-kubernetes-preserve-unknown-fields": True},
                    "ip": {"type": "string", "format": "ipv4"}, "on": {"type": "boolean"},
                    "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {
                        "a": {"type": "integer", "default": 1}}}}}}}}},
        }]}}

GADGETS = "/apis/test.muster.dev/v1/namespaces/default/gadgets"
THINGS = "/apis/test.muster.dev/v1/things"
NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
CORE_EVENTS = "/api/v1/namespaces/default/events"
SECRETS = "/api/v1/namespaces/default/secrets"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
NAMESPACES = "/api/v1/namespaces"
STRICT, DRY = "?fieldValidation=Strict", "?dryRun=All"


def gadget(called, meta=None, **spec):
    return {"apiVersion": "test.muster.dev/v1", "kind": "Gadget",
            "metadata": {"name": called, **(meta or {})},
            "spec": spec}


def post(title, path, body, **more):
    return Step(title, "POST", path, body, **more)


def put(title, path, body, **more):
    return Step(title, "PUT", path, body, **more)


def merge(title, path, body, **more):
    return Step(title, "PATCH", path, body, patch="merge", **more)


def json_patch(title, path, body, **more):
    return Step(title, "PATCH", path, body, patch="json", **more)


def strategic(title, path, body, **more):
    return Step(title, "PATCH", path, body, patch="strategic", **more)


def delete(title, path, body=None):
    return Step(title, "DELETE", path, body)


def apply(title, path, body, manager="alice", force=False, **more):
    query = f"?fieldManager={manager}" + ("&force=true" if force else "")
    return Step(title, "PATCH", path + query, body, patch="apply", **more)


def changed(*path, to):
    """The last object with one member changed (to None: removed)."""
    def change(last):
        at = last = __import__("copy").deepcopy(last)
        for key in path[:-1]:
            at = at.setdefault(key, {})
        at.pop(path[-1], None)
        if to is not None:
            at[path[-1]] = to
        return last
    return change


CREATE = [
    post("create", GADGETS, gadget("c1", size=3)),
    post("again", GADGETS, gadget("c1", size=3)),
    post("a text for a number", GADGETS, gadget("c2", size="x")),
    post("three flaws", GADGETS, gadget("c2", size=0, color="blue", name="A")),
    post("a pattern", GADGETS, gadget("c2", size=1, name="AB")),
    post("lists", GADGETS, gadget("c2", size=101, name="abcdefghijk", tags=["a", "a"], plain=[1, 2],
                                  rules=[{"id": "x"}, {"id": "x"}])),
    post("limits", GADGETS, gadget("c2", plain=list("abcd"), labels=dict.fromkeys("abcd", "1"), rules=[{}],
                                   when="yesterday", nested={"b": 3})),
    post("nulls and defaults", GADGETS + DRY, gadget("c2", size=1, note=None, color=None, name=None,
                                                     port="80%")),
    post("neither int nor text", GADGETS, gadget("c2", size=1, port=1.5)),
    post("a whole real for an int", GADGETS + DRY, gadget("c2", size=2.0)),
    post("unknown fields", GADGETS + DRY, {**gadget("c2", size=1, foo=1, nested={"zz": 1},
                                                    free={"x": {"y": 1}}),
                                           "bar": 2}),
    post("unknown fields, ignored", GADGETS + DRY + "&fieldValidation=Ignore", gadget("c2", size=1, foo=1)),
    post("unknown fields, strict", GADGETS + STRICT, gadget("c2", {"zork": 1}, size=1, foo=1)),
    post("no such validation", GADGETS + "?fieldValidation=Foo", gadget("c2", size=1)),
    post("a label that is a number", GADGETS, gadget("c2", {"labels": {"a": 1}}, size=1)),
    post("malformed metadata", GADGETS, gadget("c2", {"labels": {"a b": "x y"}, "annotations": {"A/B/c": "x"},
                                                      "finalizers": ["x y"]}, size=1)),
    post("owners", GADGETS, gadget("c2", {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "",
                                                               "uid": ""}]},
                                   size=1)),
    post("finalizers without a domain", GADGETS + DRY, gadget("c2",
                                                              {"finalizers": ["foo", "a.b/c", "foo.bar"]},
                                                              size=1)),
    post("a name", GADGETS, gadget("C_2", size=1)),
    post("a long name", GADGETS, gadget("c" * 254, size=1)),
    post("no name", GADGETS, gadget("", size=1)),
    post("a generated name", GADGETS + DRY, gadget("", {"generateName": "good-"}, size=1)),
    post("a malformed generated name", GADGETS, gadget("", {"generateName": "Bad-"}, size=1)),
    post("another namespace", GADGETS, gadget("c2", {"namespace": "other"}, size=1)),
    post("a version", GADGETS, gadget("c2", {"resourceVersion": "5"}, size=1)),
    post("a uid", GADGETS + DRY, gadget("c2", {"uid": "5", "generation": 7}, size=1)),
    post("another apiVersion", GADGETS, {**gadget("c2", size=1), "apiVersion": "test.muster.dev/v9"}),
    post("another kind", GADGETS, {**gadget("c2", size=1), "kind": "Foo"}),
    post("no kind", GADGETS, {k: v for k, v in gadget("c2", size=1).items() if k != "kind"}),
    post("no apiVersion", GADGETS, {k: v for k, v in gadget("c2", size=1).items() if k != "apiVersion"}),
    post("no such namespace", GADGETS.replace("default", "nope"), gadget("c2", size=1)),
    post("a status is not taken", GADGETS, {**gadget("c3", size=1), "status": {"phase": "x"}}),
]

UPDATE = [
    post("create", GADGETS, gadget("u1", size=3)),
    put("no version", GADGETS + "/u1", gadget("u1", size=4)),
    put("an old version", GADGETS + "/u1", changed("metadata", "resourceVersion", to="1")),
    put("another uid", GADGETS + "/u1", changed("metadata", "uid", to="abc")),
    put("another name", GADGETS + "/u1", changed("metadata", "name", to="zz")),
    put("no name", GADGETS + "/u1", changed("metadata", "name", to=None)),
    put("another namespace", GADGETS + "/u1", changed("metadata", "namespace", to="zz")),
    put("a missing one", GADGETS + "/nope", gadget("nope", size=1)),
    put("a change", GADGETS + "/u1", changed("spec", "size", to=5), agent="other"),
    put("no change", GADGETS + "/u1", changed("metadata", "generation", to=70), agent="third"),
    put("a status, by the main door", GADGETS + "/u1", changed("status", to={"phase": "x"}), agent="third"),
    put("a status", GADGETS + "/u1/status", changed("status", to={"phase": "x", "zz": 1}), agent="stat"),
    put("a spec, by the status door", GADGETS + "/u1/status", changed("spec", "size", to=99), agent="stat"),
    put("labels, by the status door", GADGETS + "/u1/status", changed("metadata", "labels", to={"a": "b"}),
        agent="stat"),
    merge("merge", GADGETS + "/u1", {"spec": {"size": 6}, "metadata": {"labels": {"x": "y"}}},
          agent="merger"),
    merge("merge, no change", GADGETS + "/u1", {"spec": {"size": 6}}, agent="merger2"),
    merge("merge, an old version", GADGETS + "/u1", {"metadata": {"resourceVersion": "3"}}),
    merge("merge, a uid", GADGETS + "/u1", {"metadata": {"uid": "3"}}),
    merge("merge, a name", GADGETS + "/u1", {"metadata": {"name": "3"}}),
    merge("merge, times", GADGETS + "/u1", {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z",
                                                         "generation": 50,
                                                         "deletionTimestamp": "2020-01-01T00:00:00Z"}}),
    merge("merge, a wrong type", GADGETS + "/u1", {"spec": {"size": "q"}}),
    merge("merge, unknown, strict", GADGETS + "/u1" + STRICT, {"spec": {"zork": "q"}}),
    merge("merge, unknown", GADGETS + "/u1", {"spec": {"zork": "q"}}),
    merge("merge, a label that is a number", GADGETS + "/u1", {"metadata": {"labels": {"a": 1}}}),
    merge("merge, a list", GADGETS + "/u1", []),
    merge("merge, null", GADGETS + "/u1", "null"),
    merge("merge, force", GADGETS + "/u1?force=true", {}),
    merge("merge, a required field goes", GADGETS + "/u1", {"spec": {"size": None}}),
    merge("merge, a missing one", GADGETS + "/nope", {"spec": {"size": 6}}),
    merge("merge, a status", GADGETS + "/u1/status", {"status": {"phase": "z", "conditions": [
        {"type": "Ready", "status": "True"}]}, "metadata": {"labels": {"q": "q"}}}, agent="stat"),
    merge("merge, a spec by the status door", GADGETS + "/u1/status", {"spec": {"size": 50}}, agent="stat2"),
    merge("merge, a wrong status", GADGETS + "/u1/status", {"status": {"phase": 3}}),
    json_patch("json, an object", GADGETS + "/u1", {}),
    json_patch("json, a test that fails", GADGETS + "/u1", [{"op": "test", "path": "/spec/size",
                                                             "value": 1}]),
    json_patch("json", GADGETS + "/u1", [
        {"op": "test", "path": "/spec/size", "value": 6}, {"op": "replace", "path": "/spec/size", "value": 7},
        {"op": "add", "path": "/metadata/annotations", "value": {"x/y": "z"}}], agent="jay"),
    json_patch("json, escaped", GADGETS + "/u1", [{"op": "replace", "path": "/metadata/annotations/x~1y",
                                                   "value": "w"}]),
    json_patch("json, an unknown word", GADGETS + "/u1", [{"op": "zap", "path": "/spec/size"}]),
    json_patch("json, another kind", GADGETS + "/u1", [{"op": "replace", "path": "/kind", "value": "Foo"}]),
    json_patch("json, another apiVersion", GADGETS + "/u1", [
        {"op": "replace", "path": "/apiVersion", "value": "test.muster.dev/v2"}]),
    json_patch("json, no metadata", GADGETS + "/u1", [{"op": "remove", "path": "/metadata"}]),
    strategic("strategic", GADGETS + "/u1", {"spec": {"size": 6}}),
    merge("managed fields are forgotten", GADGETS + "/u1", {"metadata": {"managedFields": [{}]}}),
    merge("and not kept any more", GADGETS + "/u1", {"spec": {"size": 8}}),
    Step("the other version", "GET", GADGETS.replace("/v1/", "/v2/") + "/u1"),
    merge("a change by the other version", GADGETS.replace("/v1/", "/v2/") + "/u1", {"spec": {"size": 9}}),
    Step("the first version", "GET", GADGETS + "/u1"),
]

DELETE = [
    post("create", GADGETS, gadget("d1", {"finalizers": ["a.b/c"]}, size=3)),
    delete("another uid", GADGETS + "/d1", {"preconditions": {"uid": "x"}}),
    delete("another version", GADGETS + "/d1", {"preconditions": {"resourceVersion": "1"}}),
    delete("no such policy", GADGETS + "/d1", {"propagationPolicy": "Foo"}),
    delete("two policies", GADGETS + "/d1", {"propagationPolicy": "Foreground", "orphanDependents": True}),
    delete("it is held", GADGETS + "/d1"),
    delete("it still is", GADGETS + "/d1"),
    merge("a new finalizer", GADGETS + "/d1", {"metadata": {"finalizers": ["a.b/c", "z.b/c", "d.e/f"]}}),
    merge("its spec can change", GADGETS + "/d1", {"spec": {"size": 4}}),
    merge("its time cannot", GADGETS + "/d1", {"metadata": {"deletionTimestamp": None}}),
    merge("the last finalizer", GADGETS + "/d1", {"metadata": {"finalizers": None}}),
    Step("it is gone", "GET", GADGETS + "/d1"),
    post("create", GADGETS, gadget("d2", size=3)),
    delete("at once", GADGETS + "/d2"),
    delete("gone", GADGETS + "/d2"),
    post("create", GADGETS, gadget("d3", size=3)),
    delete("not really", GADGETS + "/d3" + DRY),
    Step("still there", "GET", GADGETS + "/d3"),
]


def config(called, meta=None, **spec):
    return gadget(called, meta, **spec)


APPLY_STEPS = [
    apply("create", GADGETS + "/s1", config("s1", size=3, rules=[{"id": "a", "on": False}, {"id": "b"}],
                                            tags=["x", "y"], free={"p": {"q": 1}}, plain=["1"])),
    apply("the same", GADGETS + "/s1", config("s1", size=3, rules=[{"id": "a", "on": False}, {"id": "b"}],
                                              tags=["x", "y"], free={"p": {"q": 1}}, plain=["1"])),
    apply("shared", GADGETS + "/s1", config("s1", size=3), "bob"),
    apply("conflicts", GADGETS + "/s1", config("s1", size=4, rules=[{"id": "a", "on": True}]), "bob"),
    apply("forced", GADGETS + "/s1", config("s1", size=4, rules=[{"id": "c", "weight": 1.5},
                                                                 {"id": "a", "on": True}]),
          "bob", True),
    apply("a conflict", GADGETS + "/s1", config("s1", size=3, rules=[{"id": "b"}], tags=["z"])),
    apply("no longer applied", GADGETS + "/s1", config("s1", rules=[{"id": "b"}], tags=["z"])),
    apply("nothing applied", GADGETS + "/s1", {"apiVersion": "test.muster.dev/v1", "kind": "Gadget",
                                               "metadata": {"name": "s1"}}),
    apply("an unknown field", GADGETS + "/s1", config("s1", size=4, zork=1), "bob", True),
    apply("a wrong type", GADGETS + "/s1", config("s1", size="x"), "bob", True),
    apply("two of one key", GADGETS + "/s1", config("s1", size=4, rules=[{"id": "a"}, {"id": "a"}]), "bob",
          True),
    apply("no key", GADGETS + "/s1", config("s1", size=4, rules=[{"on": True}]), "bob", True),
    apply("two of one value", GADGETS + "/s1", config("s1", size=4, tags=["a", "a"]), "bob", True),
    apply("managed fields", GADGETS + "/s1", config("s1", {"managedFields": []}, size=4), "bob", True),
    apply("another version", GADGETS + "/s1", {**config("s1", size=4), "apiVersion": "test.muster.dev/v2"},
          "bob", True),
    apply("another kind", GADGETS + "/s1", {**config("s1", size=4), "kind": "Foo"}, "bob", True),
    apply("an old version", GADGETS + "/s1", config("s1", {"resourceVersion": "1"}, size=4), "bob", True),
    apply("a uid", GADGETS + "/s1", config("s1", {"uid": "1"}, size=4), "bob", True),
    apply("no name", GADGETS + "/s1", {**config("s1", size=4), "metadata": {}}, "bob", True),
    apply("no manager", GADGETS + "/s1", config("s1", size=4), ""),
    apply("a long manager", GADGETS + "/s1", config("s1", size=4), "x" * 129),
    merge("somebody else", GADGETS + "/s1", {"spec": {"size": 9}}, agent="carol"),
    apply("a conflict with him", GADGETS + "/s1", config("s1", size=4, rules=[{"id": "a", "on": False}]),
          "bob"),
    apply("a status", GADGETS + "/s1/status", {**config("s1"), "status": {
        "phase": "ok", "conditions": [{"type": "Ready", "status": "True"}]}}, "stat"),
    apply("less status", GADGETS + "/s1/status", {**config("s1"), "status": {"phase": "ok2"}}, "stat"),
    apply("a status by the main door", GADGETS + "/s1", {**config("s1", size=1), "status": {"phase": "x"}},
          "stat", True),
    apply("labels", GADGETS + "/s1", config("s1", {"labels": {"a": "b", "c": "d"}}, size=1), "stat", True),
    apply("fewer labels", GADGETS + "/s1", config("s1", {"labels": {"c": "d"}}, size=1), "stat", True),
    apply("no labels", GADGETS + "/s1", config("s1", {"labels": {}}, size=1), "stat", True),
    apply("finalizers", GADGETS + "/s1", config("s1", {"finalizers": ["a.b/c"]}, size=1), "stat", True),
    merge("and another", GADGETS + "/s1", {"metadata": {"finalizers": ["a.b/c", "d.e/f"]}}, agent="carol"),
    apply("its own goes", GADGETS + "/s1", config("s1", size=1), "stat", True),
    merge("and the other", GADGETS + "/s1", {"metadata": {"finalizers": None}}, agent="carol"),
    apply("a missing status", GADGETS + "/nope/status", {**config("nope"), "status": {"phase": "ok"}},
          "stat"),
    apply("a uid of nothing", GADGETS + "/nope", config("nope", {"uid": "7"}, size=1)),
    merge("managed fields are forgotten", GADGETS + "/s1", {"metadata": {"managedFields": [{}]}}),
    apply("before the first apply", GADGETS + "/s1", config("s1", size=1)),
]

NODE = [
    post("bare", NODES, {"metadata": {"name": "n1"}}),
    post("full", NODES, {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "labels": {},
                                                         "annotations": {"a": ""}},
        "spec": {"unschedulable": False, "taints": [{"key": "a", "effect": "NoSchedule"}],
                 "podCIDR": "10.0.0.0/24"},
        "status": {"capacity": {"cpu": "4000m", "memory": "16384Mi"},
                   "conditions": [{"type": "Ready", "status": "True"}],
                   "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}]}}),
    post("a text for a boolean", NODES, {"metadata": {"name": "n3"}, "spec": {"unschedulable": "yes"}}),
    post("a number for a text", NODES, {"metadata": {"name": "n3"}, "spec": {"taints": [{"key": 1}]}}),
    post("a label that is a number", NODES, {"metadata": {"name": "n3", "labels": {"a": 1}}}),
    post("a text for a list", NODES, {"metadata": {"name": "n3"}, "spec": {"taints": "x"}}),
    post("a text for an object", NODES, {"metadata": {"name": "n3"}, "spec": "x"}),
    post("no quantity", NODES, {"metadata": {"name": "n3"}, "status": {"capacity": {"cpu": "x"}}}),
    post("no time", NODES, {"metadata": {"name": "n3"}, "status": {"conditions": [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": "x"}]}}),
    post("no effect", NODES, {"metadata": {"name": "n3"}, "spec": {"taints": [{"key": "a", "effect": "x"}]}}),
    post("unknown", NODES + DRY, {"metadata": {"name": "n3"}, "spec": {"zork": 1}}),
    post("unknown, strict", NODES + STRICT, {"metadata": {"name": "n3"}, "spec": {
        "zork": 1, "taints": [{"key": "a", "effect": "NoSchedule", "foo": 1}]}}),
    post("another kind", NODES, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n3"}}),
    post("no such version", NODES, {"apiVersion": "v2", "kind": "Node", "metadata": {"name": "n3"}}),
    post("no such kind", NODES, {"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "n3"}}),
    post("a name", NODES, {"metadata": {"name": "N_3"}}),
    post("a namespace", NODES + DRY, {"metadata": {"name": "n3", "namespace": "x"}}),
    put("without a version", NODES + "/n1", {"metadata": {"name": "n1", "labels": {"x": "y"}},
                                             "spec": {"unschedulable": True}, "status": {"phase": "x"}},
        agent="putter"),
    strategic("a status", NODES + "/n1/status", {
        "metadata": {"labels": {"s": "t"}, "annotations": {"q": "r"}}, "spec": {"unschedulable": False},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}}, agent="kubelet"),
    strategic("conditions", NODES + "/n1/status", {"status": {"conditions": [
        {"type": "Disk", "status": "False"}, {"type": "Ready", "status": "False"}]}}),
    strategic("more conditions", NODES + "/n1/status", {"status": {"conditions": [
        {"type": "Memory", "status": "False"}, {"type": "Disk", "status": "True"}]}}),
    strategic("an order", NODES + "/n1/status", {"status": {
        "$setElementOrder/conditions": [{"type": "Memory"}, {"type": "Ready"}, {"type": "Disk"}],
        "conditions": [{"type": "Ready", "$patch": "delete"}]}}),
    strategic("replaced", NODES + "/n1/status", {"status": {"conditions": [
        {"type": "Only", "status": "True"}, {"$patch": "replace"}]}}),
    strategic("a text for a boolean, patched", NODES + "/n1", {"spec": {"unschedulable": "x"}}),
    strategic("unknown, strict, patched", NODES + "/n1" + STRICT, {"spec": {"zork": "x"}}),
    strategic("no merge key", NODES + "/n1/status", {"status": {"conditions": [{"status": "False"}]}}),
    strategic("no such directive", NODES + "/n1/status", {"status": {"$patch": "foo"}}),
    strategic("a list", NODES + "/n1", []),
    strategic("finalizers", NODES + "/n1", {"metadata": {"finalizers": ["a.b/c", "d.e/f"]}}),
    strategic("one more", NODES + "/n1", {"metadata": {"finalizers": ["g.h/i"]}}),
    strategic("one less", NODES + "/n1", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["d.e/f"]}}),
    strategic("none", NODES + "/n1", {"metadata": {"finalizers": None}}),
    merge("a text for a boolean, merged", NODES + "/n1", {"spec": {"unschedulable": "x"}}),
    merge("another podCIDR", NODES + "/n2", {"spec": {"podCIDR": "10.0.1.0/24"}}),
    merge("a providerID", NODES + "/n2", {"spec": {"providerID": "a"}}),
    merge("another providerID", NODES + "/n2", {"spec": {"providerID": "b"}}),
    merge("one taint twice", NODES + "/n2", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}}),
    merge("one address twice", NODES + "/n2/status", {"status": {"addresses": [{"type": "Hostname",
                                                                                "address": "x"}] * 2}}),
    strategic("uncordoned", NODES + "/n1", {"spec": {"unschedulable": None}}),
    delete("another uid", NODES + "/n1", {"preconditions": {"uid": "x"}}),
    apply("apply", NODES + "/n1", {"apiVersion": "v1", "kind": "Node",
                                   "metadata": {"name": "n1", "labels": {"z": "z"}},
                                   "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}),
    apply("apply, unknown", NODES + "/n1", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
                                            "spec": {"zork": 1}}),
    apply("apply, another kind", NODES + "/n1", {"apiVersion": "v1", "kind": "Pod",
                                                 "metadata": {"name": "n1"}}),
    apply("apply a new one", NODES + "/n4", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n4"},
                                             "spec": {"providerID": "x"}}),
    delete("delete", NODES + "/n1"),
    delete("gone", NODES + "/n1"),
    delete("delete", NODES + "/n2"),
    delete("delete", NODES + "/n4"),
]


def pod(name, **spec):
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}], **spec}}


def eviction(name, namespace="default", **more):
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name,
                                                                        "namespace": namespace}, **more}


POD = [
    post("a pod", PODS, pod("p1")),
    post("more of a pod", PODS, pod("p2", nodeName="n9", volumes=[{"name": "v"}], containers=[{
        "name": "c", "image": "a/b:v1", "resources": {"limits": {"cpu": "1"}},
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "livenessProbe": {"httpGet": {"port": 80}}}])),
    post("no containers", PODS, {"metadata": {"name": "p3"}, "spec": {}}),
    post("no image", PODS, {"metadata": {"name": "p3"}, "spec": {"containers": [{"name": "c"}]}}),
    strategic("an image", PODS + "/p1", {"spec": {"containers": [{"name": "c", "image": "y"}]}}),
    strategic("a node", PODS + "/p1", {"spec": {"nodeName": "x"}}),
    strategic("a status", PODS + "/p1/status", {"status": {"phase": "Running", "conditions": [
        {"type": "Ready", "status": "True"}]}}),
    delete("with grace", PODS + "/p2"),
    delete("again", PODS + "/p2"),
    delete("shorter", PODS + "/p2", {"gracePeriodSeconds": 5}),
    delete("now", PODS + "/p2", {"gracePeriodSeconds": 0}),
    Step("gone", "GET", PODS + "/p2"),
    post("not on a node", PODS, pod("p4")),
    delete("not on a node", PODS + "/p4"),
    post("evict another", PODS + "/p1/eviction", eviction("zz")),
    post("evict another uid", PODS + "/p1/eviction", eviction("p1",
                                                              deleteOptions={"preconditions": {"uid": "x"}})),
    post("evict elsewhere", PODS + "/p1/eviction", eviction("p1", "x")),
    post("evict", PODS + "/p1/eviction", eviction("p1")),
    post("evict what is gone", PODS + "/p1/eviction", eviction("p1")),
]

EVENT = {"metadata": {"name": "e1"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "c",
         "reportingInstance": "i", "action": "A", "reason": "R", "note": "n", "type": "Normal",
         "regarding": {"kind": "Pod", "namespace": "default", "name": "x"}}
E2 = {"metadata": {"name": "e2"}}

SMALL = [
    post("a lease", LEASES, {"metadata": {"name": "l1"}, "spec": {
        "holderIdentity": "a", "leaseDurationSeconds": 15, "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.123456+02:00", "leaseTransitions": 0}}),
    post("no microseconds", LEASES, {"metadata": {"name": "l2"},
                                     "spec": {"renewTime": "2026-01-01T00:00:00Z"}}),
    post("numbers", LEASES, {"metadata": {"name": "l2"}, "spec": {"leaseDurationSeconds": 0,
                                                                  "leaseTransitions": -1}}),
    post("nothing in it", LEASES, {"metadata": {"name": "l3"}}),
    put("made by a PUT", LEASES + "/l2", {"metadata": {"name": "l2"}, "spec": {"holderIdentity": ""}}),
    put("without a version", LEASES + "/l2", {"metadata": {"name": "l2"}, "spec": {"holderIdentity": "q"}}),
    put("made with a version", LEASES + "/l4", {"metadata": {"name": "l4", "resourceVersion": "5"},
                                                "spec": {}}),
    put("another uid", LEASES + "/l4", {"metadata": {"name": "l4", "uid": "5"},
                                        "spec": {"holderIdentity": ""}}),
    post("an event", EVENTS, EVENT),
    Step("by its other name", "GET", CORE_EVENTS + "/e1"),
    post("nothing in it", EVENTS, E2),
    post("too long", EVENTS, {**EVENT, **E2, "type": "X", "note": "n" * 1025, "reason": "r" * 129}),
    post("of a cluster's object", EVENTS + DRY, {**EVENT, **E2, "regarding": {"kind": "Node", "name": "x"}}),
    post("no controller's name", EVENTS, {**EVENT, **E2, "reportingController": "a b"}),
    merge("a series", EVENTS + "/e1", {"series": {"count": 2,
                                                  "lastObservedTime": "2026-01-01T00:00:01.000000Z"}}),
    merge("a short series", EVENTS + "/e1", {"series": {"count": 1}}),
    merge("another reason", EVENTS + "/e1", {"reason": "Z", "note": "q"}),
    post("of the old kind", CORE_EVENTS, {**E2, "reason": "x", "message": "m", "involvedObject": {
        "kind": "Pod", "namespace": "default", "name": "x"}}),
    post("of the old kind, elsewhere", CORE_EVENTS, {"metadata": {"name": "e3"}, "involvedObject": {
        "kind": "Pod", "namespace": "other", "name": "x"}}),
    delete("an event", EVENTS + "/e1"),
    post("a secret", SECRETS, {"metadata": {"name": "s1"}, "data": {"a": "Yg=="}, "stringData": {"c": "d"}}),
    post("no base64", SECRETS, {"metadata": {"name": "s2"}, "data": {"a": "!"}}),
    merge("another type", SECRETS + "/s1", {"type": "x"}),
    merge("immutable", SECRETS + "/s1", {"immutable": True}),
    merge("changed then", SECRETS + "/s1", {"data": {"a": "Yw=="}}),
    delete("a secret", SECRETS + "/s1"),
    post("a namespace", NAMESPACES, {"metadata": {"name": "ns1"}}),
    post("a name with dots", NAMESPACES, {"metadata": {"name": "a.b"}}),
    merge("a label", NAMESPACES + "/ns1", {"metadata": {"labels": {"a": "b"}}}),
    merge("its own label", NAMESPACES + "/ns1", {"metadata": {"labels": {
        "kubernetes.io/metadata.name": None}}}),
    delete("another uid", NAMESPACES + "/ns1", {"preconditions": {"uid": "x"}}),
]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" + DRY


def crd(*path, to=None):
    """A small CRD with one member changed (None: removed)."""
    whole = at = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.x.io"},
        "spec": {"group": "x.io", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
    for key in path[:-1]:
        at = at[key]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return whole


def crd_schema(**properties):
    return crd("spec", "versions", 0, "schema", to={"openAPIV3Schema": {"type": "object",
                                                                        "properties": properties}})


VERSION = crd("metadata", "name", to="x")["spec"]["versions"][0]
KEYED = {"type": "object", "properties": {"k": {"type": "string"}}}

CRD_STEPS = [
    post("another name", CRDS, crd("metadata", "name", to="bars.x.io")),
    post("no group", CRDS, crd("spec", "group")),
    post("a group without a dot", CRDS, crd("spec", "group", to="xio")),
    post("no scope", CRDS, crd("spec", "scope")),
    post("no such scope", CRDS, crd("spec", "scope", to="Foo")),
    post("no versions", CRDS, crd("spec", "versions", to=[])),
    post("none is stored", CRDS, crd("spec", "versions", 0, "storage", to=False)),
    post("two are stored", CRDS, crd("spec", "versions", to=[VERSION, {**VERSION, "name": "v2"}])),
    post("one version twice", CRDS, crd("spec", "versions", to=[VERSION, {**VERSION, "storage": False}])),
    post("a version's name", CRDS, crd("spec", "versions", 0, "name", to="V1")),
    post("no schema", CRDS, crd("spec", "versions", 0, "schema")),
    post("no type at the root", CRDS, crd("spec", "versions", 0, "schema", to={"openAPIV3Schema": {
        "properties": {"spec": {"type": "object"}}}})),
    post("a list at the root", CRDS, crd("spec", "versions", 0, "schema", to={"openAPIV3Schema": {
        "type": "array", "items": {"type": "string"}}})),
    post("no types", CRDS, crd_schema(spec={"properties": {"a": {}}})),
    post("no items", CRDS, crd_schema(a={"type": "array"})),
    post("no type of items", CRDS, crd_schema(a={"type": "array", "items": {}})),
    post("no such type", CRDS, crd_schema(a={"type": "foo"})),
    post("no keys", CRDS, crd_schema(a={"type": "array", "x-kubernetes-list-type": "map", "items": KEYED})),
    post("a key that may be missing", CRDS, crd_schema(a={
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": KEYED})),
    post("a wrong default", CRDS, crd_schema(a={"type": "integer", "default": "x"})),
    post("two sorts of properties", CRDS, crd_schema(a={"type": "object",
                                                        "properties": {"b": {"type": "string"}},
                                                        "additionalProperties": {"type": "string"}})),
    post("no plural", CRDS, crd("spec", "names", "plural")),
    post("no kind", CRDS, crd("spec", "names", "kind")),
    post("a kind's name", CRDS, crd("spec", "names", "kind", to="foo_bar")),
    post("one kind for both", CRDS, crd("spec", "names", "listKind", to="Foo")),
    post("a short name", CRDS, crd("spec", "names", "shortNames", to=["A B"])),
    post("unknown fields kept", CRDS, crd("spec", "preserveUnknownFields", to=True)),
    post("columns", CRDS, crd("spec", "versions", 0, "additionalPrinterColumns", to=[
        {"name": "a", "type": "foo", "jsonPath": "x"}])),
]

def thing(called, **spec):
    return {"apiVersion": "test.muster.dev/v1", "kind": "Thing", "metadata": {"name": called}, "spec": spec}


THING_STEPS = [
    post("any of none", THINGS, thing("t", any={})),
    post("one of both", THINGS, thing("t", one={"a": 1, "b": 2})),
    post("one of none", THINGS, thing("t", one={})),
    post("not", THINGS, {**thing("t"), "spec": {"not": 5}}),
    post("limits that do not count", THINGS, thing("t", over=1)),
    post("the upper one", THINGS, thing("t", over=2.5)),
    post("within", THINGS + DRY, thing("t", over=2)),
    post("too few", THINGS, thing("t", few=[])),
    post("none of the numbers", THINGS, thing("t", few=[1, 3])),
    post("too few members", THINGS, thing("t", most={})),
    post("a member of the wrong type", THINGS, thing("t", most={"a b": "x"})),
    post("no address", THINGS, thing("t", ip="1.2.3")),
    post("a text for a boolean", THINGS, thing("t", on="true")),
    post("a text for an object", THINGS, thing("t", any="x")),
    post("a list for the spec", THINGS, {**thing("t"), "spec": []}),
    post("null for the spec", THINGS + DRY, {**thing("t"), "spec": None}),
    post("unknown fields stay at the root", THINGS + DRY, {**thing("t"), "zork": {"a": None}}),
    post("but not below", THINGS + DRY, thing("t", zork=1, map={"k": {"z": 1}})),
    post("an object inside", THINGS + DRY, thing("t", inner={"apiVersion": "v1", "kind": "Pod", "x": 1,
                                                             "metadata": {"name": "p", "zork": 1}})),
    post("a status is taken", THINGS, {**thing("t1", pods=[{"port": 1}, {"port": 1, "protocol": "UDP"}]),
                                       "status": {"phase": "x"}}),
    Step("no status door", "PUT", THINGS + "/t1/status", thing("t1")),
    merge("a status counts", THINGS + "/t1", {"status": {"phase": "y"}}),
    merge("one key twice", THINGS + "/t1", {"spec": {"pods": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}}),
    apply("two keys", THINGS + "/t1", thing("t1", pods=[{"port": 1, "x": "a"},
                                                        {"port": 2, "protocol": "UDP"}])),
    apply("one of the whole", THINGS + "/t1", thing("t1", whole={"a": 1}, map={"k": {}, "l": {"a": 2}}),
          "bob"),
    apply("another of it", THINGS + "/t1", thing("t1", whole={"b": 1}), "carol"),
    apply("by force", THINGS + "/t1", thing("t1", whole={"b": 1}, few=[1]), "carol", True),
    apply("less of the map", THINGS + "/t1", thing("t1", map={"l": {"a": 2}}), "bob"),
    apply("a list grows in order", THINGS + "/t1", thing("t1", pods=[
        {"port": 3}, {"port": 1, "x": "a"}, {"port": 4}, {"port": 2, "protocol": "UDP"}])),
    apply("and shrinks", THINGS + "/t1", thing("t1", pods=[{"port": 4}])),
    apply("wrong types", THINGS + "/t1", thing("t1", pods={"a": 1}, whole=[1], on="x", ip=5), "dave"),
    apply("null", THINGS + "/t1", thing("t1", pods=None, ip=None), "dave"),
    merge("labels from nothing", THINGS + "/t1", {"metadata": {"labels": {"a": "b"},
                                                               "annotations": {"c": "d"}}}),
    merge("and back", THINGS + "/t1", {"metadata": {"labels": None, "annotations": {"c": None}}}),
    json_patch("moved", THINGS + "/t1", [{"op": "add", "path": "/spec/ip", "value": "1.2.3.4"},
                                         {"op": "copy", "from": "/spec/ip", "path": "/metadata/labels"}]),
    json_patch("moved well", THINGS + "/t1", [
        {"op": "add", "path": "/spec/few", "value": [2, 1]}, {"op": "move", "from": "/spec/few/1",
                                                              "path": "/spec/few/0"},
        {"op": "add", "path": "/spec/few/-", "value": 2}, {"op": "remove", "path": "/spec/few/-1"}]),
    json_patch("no such member", THINGS + "/t1", [{"op": "remove", "path": "/spec/nope"}]),
    *[merge(f"manager {i}", THINGS + "/t1", {"spec": {"most": {f"k{i}": i}}},
            agent=f"m{i}") for i in range(4)],
    delete("delete", THINGS + "/t1"),
]

MORE = [
    apply("a pod", PODS + "/a1", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a1"},
                                  "spec": {"containers": [
        {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}],
         "ports": [{"containerPort": 80}]}]}}),
    apply("its image", PODS + "/a1", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a1"},
                                      "spec": {"containers": [
        {"name": "c", "image": "j", "env": [{"name": "A", "value": "1"}],
         "ports": [{"containerPort": 80}]}]}}),
    apply("somebody's image", PODS + "/a1", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a1"},
                                             "spec": {
        "containers": [{"name": "c", "image": "k"}]}}, "bob"),
    apply("a status", PODS + "/a1/status", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a1"},
                                            "status": {
        "conditions": [{"type": "Mine", "status": "True"}]}}, "bob"),
    delete("gone", PODS + "/a1", {"gracePeriodSeconds": 0}),
    post("a configmap", CONFIGMAPS, {"metadata": {"name": "c1"}, "data": {"a": "b"}}),
    strategic("changed", CONFIGMAPS + "/c1", {"data": {"a": None, "c": "d"}}),
    put("replaced", CONFIGMAPS + "/c1", {"metadata": {"name": "c1"}, "data": {"e": "f"}}),
    put("with its old version", CONFIGMAPS + "/c1", {"metadata": {"name": "c1", "resourceVersion": "1"}}),
    put("a missing one", CONFIGMAPS + "/c9", {"metadata": {"name": "c9"}}),
    merge("immutable", CONFIGMAPS + "/c1", {"immutable": True}),
    merge("no longer", CONFIGMAPS + "/c1", {"immutable": None, "data": {"x": "y"}}),
    delete("gone", CONFIGMAPS + "/c1"),
    post("an account", ACCOUNTS, {"metadata": {"name": "s1"}, "imagePullSecrets": [{"name": "x"}]}),
    strategic("more secrets", ACCOUNTS + "/s1", {"imagePullSecrets": [{"name": "y"}]}),
    delete("gone", ACCOUNTS + "/s1"),
    post("a budget", BUDGETS, {"metadata": {"name": "b1"}, "spec": {
        "minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}}),
    strategic("another selector", BUDGETS + "/b1", {"spec": {"selector": {"matchLabels": {"c": "d"}}}}),
    delete("gone", BUDGETS + "/b1"),
    put("an event by PUT", CORE_EVENTS + "/x1", {"metadata": {"name": "x1"}, "reason": "r",
                                                 "involvedObject": {
        "kind": "Pod", "namespace": "default", "name": "x"},
        "firstTimestamp": "2026-01-01T00:00:00Z", "count": 1,
        "source": {"component": "c"}}),
    strategic("counted", CORE_EVENTS + "/x1", {"count": 2, "lastTimestamp": "2026-01-01T00:00:02Z"}),
    Step("as a new one", "GET", EVENTS + "/x1"),
    delete("gone", CORE_EVENTS + "/x1"),
    apply("a node's status", NODES + "/m1", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "m1"}}),
    apply("by its door", NODES + "/m1/status", {"apiVersion": "v1", "kind": "Node",
                                                "metadata": {"name": "m1"}, "status": {
        "conditions": [{"type": "Mine", "status": "True"}], "capacity": {"cpu": "1000m"}}}, "bob"),
    apply("less of it", NODES + "/m1/status", {"apiVersion": "v1", "kind": "Node",
                                               "metadata": {"name": "m1"}, "status": {
        "capacity": {"cpu": "1"}}}, "bob"),
    merge("too many annotations", NODES + "/m1", {"metadata": {"annotations": {"a": "x" * 262144}}}),
    delete("gone", NODES + "/m1"),
    apply("a lease", LEASES + "/m1", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                      "metadata": {"name": "m1"},
                                      "spec": {"holderIdentity": "a",
                                               "renewTime": "2026-01-01T00:00:00.000000Z"}}),
    apply("a wrong time", LEASES + "/m1", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                           "metadata": {"name": "m1"}, "spec": {"renewTime": "x"}}),
    delete("gone", LEASES + "/m1"),
]

SCRIPTS = {"things": THING_STEPS, "more_kinds": MORE, "definitions": CRD_STEPS, "creates": CREATE,
           "updates": UPDATE, "deletes": DELETE,
           "applies": APPLY_STEPS, "nodes": NODE, "pods": POD,
           "leases_events_secrets_namespaces": SMALL}

# (title, path): what differs and is meant to.
KNOWN = [
    # The real server warns of a field of the version that does not exist.
    ("another apiVersion", ".warnings"),
    # The stored form of an Event has these always; its other form leaves them out when empty.
    ("as a new one", ".body.reporting*"),
    ("as a new one", ".keys.$"),
]


def is_known(step, path):
    return any(step.title == title and fnmatch.fnmatchcase(path, pattern) for title, pattern in KNOWN)
