"""tests/real/test_sim_semantics.py - kube-apiserver and muster-sim are asked the same and answer alike.

What is compared: code, body, the order of its keys, warnings; without what no two servers can have in common
(uids, versions, times, the order of causes). kubesteps.py has the requests.

muster-test: parallel
muster-test: timeout=600
"""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesteps
import tap
from kube import APPLY, JSON, MERGE, STRATEGIC
from kubeservers import RealServer, SimServer

SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TYPES = {"merge": MERGE, "json": JSON, "strategic": STRATEGIC, "apply": APPLY}


class Side:
    """One server, and the names it gave to things."""

    def __init__(self, server):
        self.server, self.uids, self.versions, self.last = server, {}, {}, None

    def send(self, step):
        body = step.body(self.last) if callable(step.body) else step.body
        kube = self.server.client(user_agent=f"{step.agent}/1.0")
        connection = kube.connect()
        try:
            response = kube.send(connection, step.method, step.path, body=body, content=TYPES.get(step.patch))
            text, warnings = response.read(), response.headers.get_all("Warning") or []
        finally:
            connection.close()
        is_json = "json" in response.headers.get("Content-Type", "")
        document = json.loads(text) if is_json else {"text": text.decode()}
        if response.status < 300 and document.get("kind") != "Status":
            self.last = document
        sent = "" if callable(step.body) else json.dumps(body)
        plain = self.plain(document, sent)
        return {"code": response.status, "warnings": sorted(warnings), "body": plain,
                "keys": dict(key_orders(plain))}

    def plain(self, value, sent, key=""):
        if isinstance(value, dict):
            return {k: self.plain(v, sent, k) for k, v in value.items() if k != "code"}
        if isinstance(value, list):
            items = [self.plain(item, sent, key) for item in value]
            order = {"causes": json.dumps, "managedFields": _who}.get(key)
            return sorted(items, key=order) if order else items
        if not isinstance(value, str):
            return value
        if key == "resourceVersion":
            return f"version {self.versions.setdefault(value, len(self.versions))}"
        if key == "message":
            value = plain_message(value)
        if key == "name":
            value = re.sub(r"^(good|Bad)-[a-z0-9]{5}$", r"\1-SUFFIX", value)
        value = UID.sub(lambda m: f"uid {self.uids.setdefault(m[0], len(self.uids))}", value)
        return SECONDS.sub(lambda m: m[0] if m[0] in sent else "now", value)


def key_orders(value, path="$"):
    """(path, its keys in the order they were sent) of every object."""
    if isinstance(value, dict):
        yield path, ",".join(value)
    for key, below in value.items() if isinstance(value, dict) else enumerate(
            value if isinstance(value, list) else []):
        yield from key_orders(below, f"{path}.{key}")


def _who(entry):
    """Their order depends on the second in which each wrote last."""
    return [entry.get(key, "") for key in ("operation", "manager", "subresource", "apiVersion")]


def plain_message(text):
    """Without what only Go can print, and with lists in one order."""
    text = re.sub(r'patch: Invalid value: "\{.*\}": ', "patch: Invalid value: OBJECT: ", text, flags=re.S)
    text = re.sub(r'Invalid value: "\{\\"apiVersion.*\}": ', "Invalid value: OBJECT: ", text, flags=re.S)
    text = re.sub(r"\n@@ .*", "", text, flags=re.S)
    text = re.sub(r"(ResourceVersion in record) \(\d+\)", r"\1", text)
    text = re.sub(r"(Object 'Kind' is missing in) .*", r"\1", text)
    text = re.sub(r"(good|Bad)-[a-z0-9]{5}\b", r"\1-SUFFIX", text)
    if ": errors:\n" in text:
        head, lines = text.split(": errors:\n")
        text = "\n".join([head, *sorted(lines.split("\n"))])
    listed = re.fullmatch(r"(.*? is invalid: )\[(.*)\]", text, re.S)
    return listed[1] + ", ".join(sorted(listed[2].split(", "))) if listed else text


def differences(ours, theirs, path=""):
    """(path, ours, theirs) wherever the two differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            yield from differences(ours.get(key), theirs.get(key), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs)):
            yield from differences(*pair, f"{path}[{index}]")
    elif ours != theirs:
        yield path, ours, theirs


def compare(name, script, sides):
    def alike():
        wrong = []
        for step in script:
            ours, theirs = (side.send(step) for side in sides)
            for path, our, their in differences(ours, theirs):
                if not kubesteps.is_known(step, path):
                    wrong.append(f"{step.title}{path}:\n    sim  {json.dumps(our)}\n"
                                 f"    real {json.dumps(their)}")
        assert not wrong, "\n".join(wrong)
    alike.__name__ = name
    return alike


def main():
    try:
        real, sim = RealServer(), SimServer()
    except tap.Skip as why:
        print(f"1..0 # SKIP {str(why).splitlines()[0]}", flush=True)
        return
    with real, sim:
        for server in (real, sim):
            server.install(kubesteps.CRD, kubesteps.PLAIN_CRD)
        for name, script in kubesteps.SCRIPTS.items():
            tap.case(compare(name, script, (Side(sim), Side(real))))
        tap.main()


main()
