"""tests/lib/kubetree.py - a musterd with kube-watcher on a given API server, and test actors.

    with KubeTree(server) as tree:
        tree.wait_equal("nodes")                        # the mirror equals the server
        tree.write("merge", "nodes", "n1", body={"metadata": {"labels": {"a": "b"}}})

test-kube-1 and test-kube-2 hold what kube-watcher hands to them and write what they are asked to. They are
asked over a unix socket: one JSON object per line there, one back.
"""
import json
import os
import signal
import socket

import muster
from kube import RESOURCES
from muster import wait_for

WATCHER = "kube-watcher"
ANSWER_S = 60
WRITE_MS = 20000


def reader(number):
    return f"test-kube-{number}"


class KubeTree(muster.Muster):
    """readers: how many of the two test actors; watcher: more settings of kube-watcher."""

    def __init__(self, server, readers=1, watcher=None, token=None, env=None, console=False):
        self.server = server
        self.readers = [reader(number) for number in range(1, readers + 1)]
        super().__init__("", env=env)
        kubeconfig = server.write_kubeconfig(self.folder / "kubeconfig", token or server.token)
        self.settings = {WATCHER: {"kubeconfig": str(kubeconfig), "writes-per-second": 2000,
                                   **(watcher or {})}}
        for name in self.readers:
            # In its own folder: nowhere else may it make a socket.
            self.settings[name] = {"socket": str(self.run_dir / name / "ask.sock")}
        self.configure({"supervisor": {"log-format": "console" if console else "json"},
                        "actors": {"metrics": {"enabled": False}, **self.settings}})

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                self.end_well()
        except BaseException as wrong:
            kind = type(wrong)
            raise
        finally:
            super().__exit__(kind, *rest)

    def end_well(self):
        """An ordered stop, after which no process had anything to complain about."""
        if self.process.poll() is None:
            assert self.stop() == 0
        for complaint in ("Sanitizer", "runtime error:", "panic:", "Assertion"):
            assert complaint not in self.log(), f"the log has {complaint!r}"

    # -- requests to the test actors

    def begin(self, op, number=1, **fields):
        """Sends one request and does not wait for the answer."""
        return Question(self.settings[reader(number)]["socket"], {"op": op, **fields})

    def ask(self, op, number=1, **fields):
        answer = self.begin(op, number, **fields).answer()
        if answer is None:
            raise ConnectionError(f"{reader(number)} closed the connection")
        return answer

    def dump(self, number=1):
        return self.ask("dump", number)

    def counts(self, number=1):
        return self.ask("counts", number)

    def leads(self, number=1):
        return self.dump(number)["leader"]

    def kind(self, resource, number=1):
        """{"state", "version"} of a kind; empty while nothing is known."""
        return self.dump(number)["kinds"].get(resource, {})

    def objects(self, resource, number=1):
        """key -> {"uid", "rv", "type", "fields"} of one resource."""
        everything = self.dump(number)["objects"]
        return {key: row for key, row in everything.items() if key.startswith(resource + "/")}

    def fields(self, key, number=1):
        """The fields of one object; None when the actor does not hold it."""
        row = self.dump(number)["objects"].get(key)
        return row and row["fields"]

    # -- waiting

    def wait(self, fact, what, timeout=60, every=0.05):
        """wait_for, where fact asks an actor that may not be there at the moment."""
        def patient():
            try:
                return fact()
            except OSError:
                return None
        return wait_for(patient, what, timeout, every)

    def wait_synced(self, timeout=60):
        """Until every actor runs, and the test actors hold a complete state."""
        self.wait_running(timeout=timeout)
        for number in range(1, len(self.readers) + 1):
            self.wait(lambda: self.dump(number)["fresh"], f"{reader(number)} is fresh", timeout)

    def wait_kind(self, resource, state, version=None, timeout=60):
        def there():
            kind = self.kind(resource)
            return kind.get("state") == state and version in (None, kind.get("version"))
        self.wait(there, f"{resource} is {state} {version or ''}", timeout)

    def wait_equal(self, resource, number=1, timeout=60, namespace=None):
        """Until the actor holds just what the server has: the same objects, and of each the same fields."""
        name = resource.split(".")[0]

        def equal():
            listed = self.server.kube.list(resource, namespace)["items"]
            wanted = {key_of(resource, item): item for item in listed}
            held = self.objects(name, number)
            differences[:] = [f"missing {key}" for key in wanted.keys() - held.keys()]
            differences.extend(f"too many {key}" for key in held.keys() - wanted.keys())
            for key in wanted.keys() & held.keys():
                differences.extend(f"{key}: {d}" for d in differing(name, wanted[key], held[key]))
            return not differences
        differences = []
        try:
            self.wait(equal, f"{reader(number)} holds the {resource} of the server", timeout, every=0.2)
        except AssertionError as late:
            raise AssertionError(f"{late}: {differences[:10]}") from None

    # -- writing

    def begin_write(self, verb, resource, name="", number=1, namespace=None, timeout_ms=WRITE_MS, **more):
        row = RESOURCES[resource]
        group = row.base.split("/")[1] if row.base.startswith("apis/") else ""
        if namespace is None:
            namespace = "default" if row.namespaced else ""
        return self.begin("write", number, verb=verb, group=group, version=row.base.split("/")[-1],
                          resource=resource.split(".")[0], namespace=namespace, name=name,
                          timeout_ms=timeout_ms, **more)

    def write(self, verb, resource, name="", expect="ok", **more):
        """The answer of one write, whose outcome must be the expected one (or one of them)."""
        answer = self.begin_write(verb, resource, name, **more).answer()
        wanted = (expect,) if isinstance(expect, str) else expect
        assert answer["outcome"] in wanted, f"{verb} {resource}/{name}: {answer}, not {' or '.join(wanted)}"
        return answer

    # -- faults

    def kill(self, name, number=signal.SIGKILL):
        """Returns the incarnation that got the signal."""
        row = self.actor(name)
        os.kill(self.pid(name), number)
        return row["incarnation"]

    def wait_back(self, name, incarnation, timeout=60):
        def back():
            row = self.actor(name)
            return row["incarnation"] > incarnation and row["state"] == "running" and row["synced"]
        wait_for(back, f"{name} came back", timeout)


class Question:
    """One request on a connection of its own."""

    def __init__(self, path, request):
        self.request = request
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER_S)
        self.socket.connect(path)
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def answer(self):
        """None when the actor closed the connection without one."""
        with self.socket, self.socket.makefile() as lines:
            line = lines.readline()
        answer = json.loads(line) if line else None
        assert answer is None or "error" not in answer, f"{self.request} was answered by {answer}"
        return answer


def key_of(resource, item):
    meta = item["metadata"]
    place = [meta["namespace"]] if meta.get("namespace") else []
    return "/".join([resource.split(".")[0], *place, meta["name"]])


def _labels(item):
    return item["metadata"].get("labels") or {}


def _rows(*columns):
    return lambda items: [[str(item.get(column, "")) for column in columns] for item in items or []]


# A second implementation of the fields of tests/actors/kinds.def: resource -> field -> from the object.
PROJECTIONS = {
    "nodes": {
        "labels": _labels,
        "annotations": lambda o: o["metadata"].get("annotations") or {},
        "provider_id": lambda o: o["spec"].get("providerID", ""),
        "unschedulable": lambda o: o["spec"].get("unschedulable", False),
        "taints": lambda o: _rows("key", "value", "effect")(o["spec"].get("taints")),
        "addresses": lambda o: _rows("type", "address")(o["status"].get("addresses")),
    },
    "pods": {
        "labels": _labels,
        "node": lambda o: o["spec"].get("nodeName", ""),
        "priority": lambda o: o["spec"].get("priority", 0),
        "phase": lambda o: o["status"].get("phase", ""),
    },
    "namespaces": {"labels": _labels},
    "widgets": {
        "labels": _labels,
        "generation": lambda o: o["metadata"]["generation"],
        "finalizers": lambda o: [[name] for name in o["metadata"].get("finalizers") or []],
        "size": lambda o: o.get("spec", {}).get("size", 0),
        "color": lambda o: o.get("spec", {}).get("color") or o.get("spec", {}).get("colour") or "",
    },
}


def differing(resource, item, row):
    """What is wrong with a held row. Fields that this actor does not read are not in it."""
    if row["uid"] != item["metadata"]["uid"]:
        yield f"uid {row['uid']}, not {item['metadata']['uid']}"
    for field, read in PROJECTIONS[resource].items():
        if field in row["fields"] and row["fields"][field] != read(item):
            yield f"{field} {row['fields'][field]!r}, not {read(item)!r}"
