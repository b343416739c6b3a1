"""tests/lib/kubescript.py - what people do with kubectl, as scripts whose transcripts can be compared.

A script is a name and steps. The same script runs on two servers; what kubectl prints, and its exit code,
must be the same on both once ages, versions, uids, times and ports are written in one way. Each step also
has the exit code it must end with, so that the same failure on both servers is found.
"""
import dataclasses
import json
import re
import subprocess
import threading

import kubesuite
import kubetools
import procs
from kube import TEST_GROUP
from muster import wait_for

OK, FAILS = 0, 1


@dataclasses.dataclass
class Step:
    """One call of kubectl; body: an object for its stdin, or several."""
    words: tuple
    body: object = None
    code: int = OK

    def title(self):
        return " ".join(("kubectl", *map(str, self.words)))

    def stdin(self):
        bodies = self.body if isinstance(self.body, list) else [self.body]
        return "\n---\n".join(map(json.dumps, bodies)) if self.body else None


def step(*words, body=None, code=OK):
    return Step(words, body, code)


def node(name, **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def widget(name, version="v1", **spec):
    return {"apiVersion": f"{TEST_GROUP}/{version}", "kind": "Widget", "metadata": {"name": name},
            "spec": spec}


def pod(name, node_name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "x"}},
            "spec": {"nodeName": node_name, "containers": [{"name": "c", "image": "nothing"}]}}


def held(body, *finalizers):
    return {**body, "metadata": {**body["metadata"], "finalizers": list(finalizers)}}


def versioned(body, rv):
    return {**body, "metadata": {**body["metadata"], "resourceVersion": rv}}


def listed(*bodies):
    return {"apiVersion": "v1", "kind": "List", "items": list(bodies)}


JSON, MERGE = ("--type=json", "-p"), ("--type=merge", "-p")
CREATE, APPLY = ("create", "-f", "-"), ("apply", "-f", "-")
SERVER_SIDE = ("apply", "--server-side", "-f", "-")
READY = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Tested", "message": "fine",
                                    "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                                    "lastTransitionTime": "2026-01-01T00:00:00Z"}],
                    "addresses": [{"type": "InternalIP", "address": "10.1.2.3"}],
                    "nodeInfo": {key: "x" for key in (
                        "machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "architecture",
                        "containerRuntimeVersion", "kubeProxyVersion", "operatingSystem")}
                    | {"kubeletVersion": "v1.35.4"}}}
CREATE_TWO = step(*CREATE, body=[node("k1", color="red", zone="a"), node("k2", color="blue")])
CREATE_WIDGETS = step(*CREATE, body=[widget("w1", size=1, color="red"), widget("w2", size=2, color="blue")])

SCRIPTS = {
    "get in every form": [
        CREATE_TWO,
        step("get", "nodes"),
        step("get", "node", "k1"),
        step("get", "node/k1", "node/k2"),
        step("get", "no", "-o", "wide"),
        step("get", "nodes", "-o", "name"),
        step("get", "nodes", "-o", "json"),
        step("get", "node", "k1", "-o", "yaml"),
        step("get", "node", "k1", "-o", "yaml", "--show-managed-fields"),
        step("get", "nodes", "-o", "jsonpath={.items[*].metadata.labels.color}"),
        step("get", "nodes", "-o", "custom-columns=NAME:.metadata.name,COLOR:.metadata.labels.color"),
        step("get", "nodes", "--show-labels"),
        step("get", "nodes", "-L", "color", "-L", "zone"),
        step("get", "nodes", "--no-headers"),
        step("get", "nodes", "--sort-by=.metadata.labels.color"),
        step("get", "nodes", "--chunk-size=1"),
        step("get", "--raw", "/api/v1/nodes/k1"),
        step("patch", "node", "k1", "--subresource=status", "--type=strategic", "-p", json.dumps(READY)),
        step("get", "nodes"),
        step("get", "nodes", "-o", "wide"),
        step("cordon", "k2"),
        step("get", "node", "k2"),
    ],
    "get of custom resources": [
        step("get", "widgets"),
        CREATE_WIDGETS,
        step("get", "widgets"),
        step("get", "wd", "-A"),
        step("get", "widget.v1beta1.test.muster.dev", "w1", "-o", "yaml"),
        step("get", "widgets", "-o", "wide"),
        step("get", "widgets,nodes"),
        step("get", "widgets", "-n", "elsewhere"),
        step("get", "widget/w1", "-o", "jsonpath={.spec.size}"),
        step("get", "gadgets", code=FAILS),
    ],
    "label and field selectors": [
        CREATE_TWO, CREATE_WIDGETS,
        step("get", "nodes", "-l", "color=red"),
        step("get", "nodes", "-l", "color in (red,blue),zone"),
        step("get", "nodes", "-l", "color notin (red)"),
        step("get", "nodes", "-l", "!zone"),
        step("get", "nodes", "-l", "color!=blue"),
        step("get", "nodes", "-l", "color=green"),
        step("get", "nodes", "-l", "color=red=blue", code=FAILS),
        step("get", "nodes", "--field-selector", "metadata.name=k2"),
        step("get", "nodes", "--field-selector", "metadata.name!=k2,spec.unschedulable=false"),
        step("get", "nodes", "--field-selector", "spec.color=red", code=FAILS),
        step("get", "widgets", "--field-selector", "metadata.name=w1"),
        step("get", "widgets", "--field-selector", "spec.size=1", code=FAILS),
        step(*CREATE, body=pod("p1", "k1")),
        step("get", "pods", "--field-selector", "spec.nodeName=k1"),
        step("get", "pods", "--field-selector", "spec.nodeName=k2,status.phase=Pending"),
    ],
    "apply": [
        step(*APPLY, body=widget("a1", size=1, color="red")),
        step(*APPLY, body=widget("a1", size=1, color="red")),
        step(*APPLY, body=widget("a1", size=2)),
        step("get", "widget", "a1", "-o", "yaml"),
        step(*APPLY, body=node("a2", color="red")),
        step(*APPLY, body=node("a2", shape="round")),
        step("get", "node", "a2", "-o", "json"),
        step(*APPLY, "--dry-run=server", body=widget("a1", size=3)),
        step(*APPLY, "--dry-run=server", body=widget("a3", size=3)),
        step("get", "widget", "a3", code=FAILS),
        step("get", "widget", "a1", "-o", "jsonpath={.spec.size}"),
    ],
    "apply --server-side": [
        step(*SERVER_SIDE, body=widget("s1", size=1, color="red")),
        step(*SERVER_SIDE, body=widget("s1", size=1, color="red")),
        step(*SERVER_SIDE, "--field-manager=other", body=widget("s1", size=2), code=FAILS),
        step(*SERVER_SIDE, "--field-manager=other", "--force-conflicts", body=widget("s1", size=2)),
        step("get", "widget", "s1", "-o", "json", "--show-managed-fields"),
        step(*SERVER_SIDE, body=widget("s1", color="blue")),
        step("get", "widget", "s1", "-o", "json", "--show-managed-fields"),
        step(*SERVER_SIDE, body=node("s2", color="red")),
        step(*SERVER_SIDE, "--field-manager=other", body=node("s2", color="blue", shape="round"), code=FAILS),
        step("label", "node", "s2", "color=green", "--overwrite"),
        step(*SERVER_SIDE, body=node("s2", color="red"), code=FAILS),
        step("get", "node", "s2", "-o", "json", "--show-managed-fields"),
    ],
    "patches of each type": [
        CREATE_TWO, CREATE_WIDGETS,
        step("patch", "node", "k1", *MERGE, '{"metadata":{"annotations":{"a":"1"}}}'),
        step("patch", "node", "k1", *MERGE, '{"metadata":{"annotations":{"a":"1"}}}'),
        step("patch", "node", "k1", "-p", json.dumps({"spec": {"taints": [
            {"key": "t", "value": "1", "effect": "NoSchedule"}]}})),
        step("patch", "node", "k1", *JSON, '[{"op":"replace","path":"/spec/taints/0/value","value":"2"}]'),
        step("get", "node", "k1", "-o", "yaml"),
        step("patch", "node", "k1", *JSON, '[{"op":"remove","path":"/spec/nothing"}]', code=FAILS),
        step("patch", "node", "k1", *JSON, '[{"op":"test","path":"/metadata/name","value":"x"}]',
             code=FAILS),
        step("patch", "node", "k1", *JSON, '{"op":"test"}', code=FAILS),
        step("patch", "widget", "w1", *MERGE, '{"spec":{"size":7,"color":null}}'),
        step("patch", "widget", "w1", *JSON, '[{"op":"add","path":"/spec/mode","value":"busy"}]'),
        step("patch", "widget", "w1", "-p", '{"spec":{"size":8}}', code=FAILS),
        step("patch", "widget", "w1", "--subresource=status", *MERGE, '{"status":{"phase":"Ready"}}'),
        step("get", "widget", "w1", "-o", "yaml"),
        step("patch", "widget", "w1", *MERGE, '{"spec":{"mode":"sideways"}}', code=FAILS),
    ],
    "label, annotate, taint, cordon": [
        CREATE_TWO,
        step("label", "node", "k1", "color=green", code=FAILS),
        step("label", "node", "k1", "color=green", "--overwrite"),
        step("label", "node", "k1", "color=green", "--overwrite"),
        step("label", "nodes", "--all", "all=yes"),
        step("label", "node", "k1", "zone-"),
        step("label", "node", "k1", "bad=not a value", code=FAILS),
        step("annotate", "node", "k1", "note=hello there"),
        step("taint", "nodes", "k1", "dedicated=x:NoSchedule"),
        step("taint", "nodes", "k1", "dedicated=x:NoExecute"),
        step("taint", "nodes", "k1", "dedicated-"),
        step("cordon", "k1"),
        step("cordon", "k1"),
        step("get", "node", "k1", "-o", "json"),
        step("uncordon", "k1"),
        step("get", "node", "k1", "-o", "json"),
    ],
    "delete": [
        CREATE_TWO, CREATE_WIDGETS,
        step("delete", "node", "k1"),
        step("delete", "node", "k1", code=FAILS),
        step("delete", "node", "k1", "--ignore-not-found"),
        step("delete", "widgets", "-l", "nothing=here"),
        step("delete", "widgets", "--all"),
        step("get", "widgets"),
        step(*CREATE, body=held(widget("f1", size=1), "test.muster.dev/hold")),
        step("delete", "widget", "f1", "--wait=false"),
        step("get", "widget", "f1", "-o", "yaml"),
        step("delete", "widget", "f1", "--timeout=2s", code=FAILS),
        step("patch", "widget", "f1", *MERGE, '{"metadata":{"finalizers":["a/b","c/d"]}}', code=FAILS),
        step("patch", "widget", "f1", *MERGE, '{"metadata":{"finalizers":null}}'),
        step("get", "widget", "f1", code=FAILS),
        step("delete", "-f", "-", body=node("k2")),
        step(*CREATE, body=pod("p1", "k2")),
        step("delete", "pod", "p1", "--wait=false"),
        step("get", "pod", "p1"),
        step("delete", "pod", "p1", "--force", "--grace-period=0"),
    ],
    "drain": [
        CREATE_TWO,
        step(*CREATE, body=[pod("d1", "k1"), pod("d2", "k2")]),
        step("drain", "k1", code=FAILS),
        step("drain", "k1", "--force", "--timeout=2s", code=FAILS),
        step("get", "pods", "-o", "wide"),
        step("delete", "pod", "d1", "--force", "--grace-period=0"),
        step("drain", "k1", "--force"),
    ],
    "errors": [
        CREATE_TWO, CREATE_WIDGETS,
        step("get", "node", "nobody", code=FAILS),
        step("get", "widget", "nobody", code=FAILS),
        step("get", "node", "k1", "nobody", code=FAILS),
        step(*CREATE, body=node("k1"), code=FAILS),
        step(*CREATE, body=widget("w1"), code=FAILS),
        step(*CREATE, body=widget("Bad Name"), code=FAILS),
        step(*CREATE, body=node("bad_name"), code=FAILS),
        step(*CREATE, body=widget("w3", size=-1, mode="sideways"), code=FAILS),
        step(*CREATE, body=widget("w3", size="large"), code=FAILS),
        step(*CREATE, body=widget("w3", siez=1), code=FAILS),
        step(*CREATE, "--validate=warn", body=widget("w3", siez=1)),
        step(*CREATE, "--validate=ignore", body=widget("w4", siez=1)),
        step(*CREATE, body={**node("k3"), "spec": {"podCDIR": "10.0.0.0/24"}}, code=FAILS),
        step(*CREATE, body={**widget("w5"), "metadata": {"name": "w5", "namespace": "nowhere"}}, code=FAILS),
        step(*CREATE, body=widget("x", version="v2"), code=FAILS),
        step(*CREATE, body={"apiVersion": "v1", "kind": "Node", "metadata": {}}, code=FAILS),
        step("replace", "-f", "-", body=versioned(node("k1"), "1"), code=FAILS),
        step("replace", "-f", "-", body=versioned(widget("w1", size=3), "1"), code=FAILS),
        step("replace", "-f", "-", body=widget("w1", size=3)),
        step("replace", "-f", "-", body=widget("nobody", size=3), code=FAILS),
        step("get", "--raw", "/apis/nothing/v1", code=FAILS),
        step("get", "--raw", "/api/v1/nodes/nobody", code=FAILS),
        step("patch", "node", "nobody", "-p", "{}", code=FAILS),
        step("label", "node", "nobody", "a=b", code=FAILS),
        step("wait", "--for=condition=Ready", "node/k1", "--timeout=1s", code=FAILS),
    ],
    "wait": [
        CREATE_TWO, CREATE_WIDGETS,
        step("patch", "node", "k1", "--subresource=status", "-p", json.dumps(READY)),
        step("wait", "--for=condition=Ready", "node/k1", "--timeout=20s"),
        step("wait", "--for=jsonpath={.spec.size}=1", "widget/w1", "--timeout=20s"),
        step("wait", "--for=delete", "widget/nobody", "--timeout=20s"),
    ],
    "a List of objects": [
        step(*CREATE, body=listed(node("k1"), widget("w1", size=1))),
        step(*APPLY, body=listed(node("k2"), widget("w1", size=2))),
        step("delete", "-f", "-", body=listed(node("k2"), widget("w1", size=2))),
    ],
    "explain": [
        step("explain", "widgets.spec"),
        step("explain", "widgets.status.conditions.type"),
        step("explain", "widgets.spec.nothing", code=FAILS),
    ],
    "describe": [
        CREATE_TWO, CREATE_WIDGETS,
        step("describe", "node", "k1"),
        step("describe", "widget", "w1"),
        step("describe", "widget", "nobody", code=FAILS),
    ],
}


class Transcript:
    """Runs scripts on one server, each on an empty server, and returns what kubectl printed."""

    def __init__(self, server):
        self.server = server

    def run(self, name):
        """[(title, its output)] of every step; a step with a wrong exit code is an AssertionError."""
        kubesuite.sweep(self.server.kube)
        return [(one.title(), self.run_step(one)) for one in SCRIPTS[name]]

    def run_step(self, one):
        done = self.server.kubectl(*one.words, stdin=one.stdin())
        printed = normal(done.stdout) + "".join(f"! {line}\n" for line in normal(done.stderr).splitlines())
        assert done.returncode == one.code, (
            f"{self.server.name}: {one.title()} ended with {done.returncode}, not {one.code}:\n{printed}")
        return printed


class Watching:
    """kubectl get -w in the background, and the lines it has printed."""

    def __init__(self, server, *words):
        self.process = subprocess.Popen(
            [kubetools.path("kubectl"), "--kubeconfig", str(server.kubeconfig), "get", *words],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=server.environment(), preexec_fn=procs.die_with_parent)
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def wait_lines(self, count):
        wait_for(lambda: len(self.lines) >= count, f"{count} lines of kubectl get -w, not only {self.lines}")

    def end(self):
        self.process.terminate()
        self.process.wait(30)
        self.reader.join()
        return normal("".join(self.lines))


_NORMAL = [
    # kubectl --timeout gives up by itself; what its watch was about to do just then is chance.
    (r"(?m)^[EWI]\d{4} .* reflector\.go:\d+\] .*\n", ""),
    (r"https?://127\.0\.0\.1:\d+", "SERVER"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", "TIME"),
    (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"(resourceVersion\"?: ?)\"\d+\"", r'\1"RV"'),
    (r"(Resource Version: +)\d+", r"\1RV"),
    (r"\b\d+m?\d*s\b", "AGE"),
    (r"[ \t]+(?=\n|$)", ""),
    (r"(?<=\S)  +", "  "),
]


def normal(text):
    text = _ordered(text)
    for pattern, written in _NORMAL:
        text = re.sub(pattern, written, text)
    return text


def _ordered(text):
    """What has no order, in one: members of JSON, managers (by the second of their last act), causes."""
    try:
        return json.dumps(_sorted_managers(json.loads(text)), indent=2, sort_keys=True) + "\n"
    except ValueError:
        return re.sub(r"(?:^\* .*\n)+", lambda found: "".join(sorted(found[0].splitlines(True))), text,
                      flags=re.M)


def _sorted_managers(value):
    if isinstance(value, dict):
        managers = {"managedFields": sorted(value["managedFields"], key=lambda entry: (
            entry["operation"], entry["manager"]))} if "managedFields" in value else {}
        return {key: _sorted_managers(below) for key, below in {**value, **managers}.items()}
    return [_sorted_managers(item) for item in value] if isinstance(value, list) else value
