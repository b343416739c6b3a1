"""tests/real/test_projection.py - the two projections of one object are equal, byte for byte.

Objects of a real kube-apiserver, each fetched as JSON and as protobuf: alone, in a list, in a watch, and as
metadata only. muster-test-projection reads both with the code that kube-watcher reads with.

muster-test: parallel
muster-test: timeout=600
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
from kubeservers import RealServer
from kubesuite import case

PROGRAM = pathlib.Path(os.environ["MUSTER_BIN"]) / "muster-test-projection"
KINDS = {"nodes": "Node", "pods": "Pod", "namespaces": "Namespace"}
FORMS = {"json": "application/json", "proto": "application/vnd.kubernetes.protobuf"}
INITIAL = {"seconds": 1, "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
           "allowWatchBookmarks": "true"}
METADATA = ";as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"

# Every text that the JSON and the protobuf reader might read differently.
TEXTS = {"plain": "text", "empty": "", "quotes": 'the "no" \\ / \b\f\n\r\t', "html": "<b>&amp;</b>",
         "accents": "é ñ ß", "wide": "日本語", "far": "😀 \U0010ffff", "separators": "\u2028\u2029",
         "control": "\x01\x1f\x7f\x80", "nul": "a\x00b", "replaced": "\ufffd",
         "json": '{"a":[1,2,{"b":null}]}',
         "long": "x" * 5000, "blanks": "  \t "}
LABELS = {"kubernetes.io/hostname": "n1", "a": "1", "a.b": "2", "a-b": "3", "B": "4", "empty": "",
          "example.com/under_score": "x.y-z_0", "zone": "eu-central-1a"}


numbers = itertools.count(1)


def node(name):
    return {"metadata": {"name": name, "labels": LABELS, "annotations": TEXTS,
                         "finalizers": ["example.com/hold", "other.example/keep"]},
            "spec": {"providerID": f"aws:///eu-central-1a/{name}", "unschedulable": True,
                     "podCIDR": "10.1.0.0/24",
                     "taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"},
                                {"key": "gone", "effect": "NoExecute", "timeAdded": "2026-02-03T04:05:06Z"}]}}


def node_status():
    return {"status": {
        "capacity": {"cpu": "4", "memory": "16373528Ki", "pods": "110", "ephemeral-storage": "101430960Ki"},
        "allocatable": {"cpu": "3920m", "memory": "15Gi", "hugepages-2Mi": "0"},
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting",
             "lastHeartbeatTime": "2026-11-17T03:04:05Z", "lastTransitionTime": "2026-11-01T00:00:00Z"},
            {"type": "DiskPressure", "status": "Unknown", "lastTransitionTime": "1969-12-31T23:59:59Z"},
            {"type": "Never", "status": "False"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.7"},
                      {"type": "InternalIP", "address": "fd00::7"},
                      {"type": "Hostname", "address": "n1"}],
        "images": [{"names": [f"registry.example/image-{i}@sha256:{i:064x}"], "sizeBytes": 1000 + i}
                   for i in range(30)]}}


def pod(name, **spec):
    return {"metadata": {"name": name, "labels": {"app": "web"}, "annotations": TEXTS, "ownerReferences": [
                {"apiVersion": "a/v1", "kind": "ReplicaSet", "name": "r", "uid": "1-2", "controller": True},
                {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "3-4", "controller": False},
                {"apiVersion": "v1", "kind": "Node", "name": "m", "uid": "5-6"}]},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "0.1"}}}],
                     **spec}}


def clear(client):
    """Finalizers keep what an earlier case left."""
    for _, name in names(client, "nodes"):
        client.merge("nodes", name, {"metadata": {"finalizers": None}})
    client.delete_all("nodes")


def fill(client):
    """Of each kind: full ones, bare ones, and one that is on its way out; its namespace's name."""
    clear(client)
    for name in ("full", "going"):
        client.create("nodes", node(name))
        client.merge("nodes", name, node_status(), sub="status")
    client.create("nodes", {"metadata": {"name": "bare"}})
    client.delete("nodes", "going")
    client.create("pods", pod("placed", nodeName="full"))
    client.create("pods", pod("waiting"))
    client.merge("pods", "placed", {"status": {"phase": "Running"}}, sub="status")
    # no controller finishes the deletion of a namespace here
    going = f"going-{next(numbers)}"
    client.create("namespaces", {"metadata": {"name": going, "labels": LABELS, "annotations": TEXTS}})
    client.delete("namespaces", going)
    return going


def fetch(client, path, accept, seconds=None, **query):
    """The body as it is. seconds: of a watch."""
    if seconds:
        query.update(watch="true", timeoutSeconds=str(seconds))
    answer = client.raw("GET", path, query=query, accept=accept)
    assert answer.code == 200, answer.body
    sort = answer.headers["Content-Type"]
    assert sort.startswith(accept.split(";")[0]), f"asked for {accept}, got {sort}"
    return answer.body


def projected(resource, shape, form, body):
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        done = subprocess.run([PROGRAM, KINDS[resource], "v1", shape, form, file.name],
                              capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{resource} {shape} {form}: {done.stderr}"
    return [line for line in done.stdout.splitlines() if not is_chance(line)]


def is_chance(line):
    """The server decides when bookmarks come; only the one behind the initial events must."""
    return line.startswith("BOOKMARK ") and not line.endswith(" end")


def without_version(line):
    """Two requests, two moments: the version of a list or a bookmark may have moved on between them."""
    words = line.split(" ")
    if words[0] in ("LIST", "BOOKMARK"):
        assert words[1].isdigit(), line
        words[1] = "*"
    return " ".join(words)


def both(client, resource, shape, path, suffix="", **more):
    """The lines, which are the same from both forms."""
    lines = {}
    for form, media in FORMS.items():
        stream = ";stream=watch" if shape == "watch" and form == "proto" and not suffix else ""
        lines[form] = projected(resource, shape, form, fetch(client, path, media + stream + suffix, **more))
    for json_line, proto_line in zip(lines["json"], lines["proto"], strict=True):
        assert without_version(json_line) == without_version(proto_line), f"{json_line}\n{proto_line}"
    return lines["json"]


def names(client, resource):
    return [(item["metadata"].get("namespace"), item["metadata"]["name"])
            for item in client.list(resource)["items"]]


@case
def an_object_alone(server):
    fill(server.kube)
    for resource in KINDS:
        for namespace, name in names(server.kube, resource):
            line, = both(server.kube, resource, "object", server.kube.path(resource, name, namespace))
            uid, version = (server.kube.get(resource, name, namespace)["metadata"][key]
                            for key in ("uid", "resourceVersion"))
            assert line.startswith(f"OBJECT {namespace or ''}/{name} {uid} {version}"), line


@case
def what_is_read_is_what_was_written(server):
    """Equal is not enough: the bodies have the texts in them, repaired where a body cannot contain them."""
    fill(server.kube)
    line, = both(server.kube, "nodes", "object", server.kube.path("nodes", "going"))
    body = bytes.fromhex(dict(word.split("=") for word in line.split()[4:])["test-kube-1"])
    for text in [*TEXTS.values(), *LABELS, "aws:///eu-central-1a/going", "dedicated", "NoExecute",
                 "KubeletReady", "2026-11-01T00:00:00Z", "1969-12-31T23:59:59Z", "fd00::7", "r.example/keep"]:
        assert text.replace("\0", "\ufffd").encode() in body, text
    deleted = server.kube.get("nodes", "going")["metadata"]["deletionTimestamp"]
    assert deleted.encode() in body
    for unwanted in (b"registry.example", b"kubelet is posting", b"16373528Ki", b"2026-02-03T04:05:06Z"):
        assert unwanted not in body, unwanted


@case
def the_items_of_a_list(server):
    fill(server.kube)
    for resource in KINDS:
        path = server.kube.path(resource, everywhere=True)
        lines = both(server.kube, resource, "list", path)
        word, _, count, *_ = lines[-1].split()
        assert (word, int(count)) == ("LIST", len(names(server.kube, resource)))


@case
def the_pages_of_a_list(server):
    fill(server.kube)
    for media in FORMS:
        path, token, seen = server.kube.path("nodes"), None, []
        while token != "":
            query = {"limit": "1", **({"continue": token} if token else {})}
            body = fetch(server.kube, path, FORMS[media], **query)
            *lines, last = projected("nodes", "list", media, body)
            token = (last.split() + [""])[3]
            seen += lines
        assert [line.split()[1] for line in seen] == ["/bare", "/full", "/going"], seen


@case
def an_empty_list(server):
    clear(server.kube)
    lines = both(server.kube, "nodes", "list", server.kube.path("nodes"))
    assert len(lines) == 1 and lines[0].split()[2] == "0", [line[:100] for line in lines]


@case
def the_events_of_a_watch(server):
    """From the first event to the bookmark behind the initial ones, and what happened since."""
    client = server.kube
    fill(client)
    for resource in KINDS:
        since = client.list(resource)["metadata"]["resourceVersion"]
        namespace, name = names(client, resource)[0]
        client.merge(resource, name, {"metadata": {"labels": {"changed": "yes"}}}, namespace)
        if resource == "nodes":
            client.delete("nodes", "bare")
        path = client.path(resource, everywhere=True)
        lines = both(client, resource, "watch", path, seconds=1, resourceVersion=since)
        kinds = [line.split()[0] for line in lines]
        assert kinds == ["MODIFIED"] + ["DELETED"] * (resource == "nodes"), kinds
        lines = both(client, resource, "watch", path, **INITIAL)
        assert len([line for line in lines if line.startswith("ADDED ")]) == len(names(client, resource))
        assert lines[-1].startswith("BOOKMARK ") and lines[-1].endswith(" end"), lines


@case
def a_version_that_is_too_old(server):
    """An ERROR in the stream is read the same in both forms."""
    server.touch()
    server.compact()
    server.restart()
    lines = both(server.kube, "nodes", "watch", server.kube.path("nodes"), seconds=1, resourceVersion="1")
    assert len(lines) == 1 and lines[0].startswith("ERROR 410 Expired "), lines


@case
def metadata_only(server):
    client = server.kube
    going = fill(client)
    for resource in KINDS:
        for namespace, name in names(client, resource):
            both(client, resource, "object", client.path(resource, name, namespace), METADATA.format(""))
        path = client.path(resource, everywhere=True)
        lines = both(client, resource, "list", path, METADATA.format("List"))
        assert int(lines[-1].split()[2]) == len(names(client, resource))
        lines = both(client, resource, "watch", path, METADATA.format(""), **INITIAL)
        assert lines[-1].endswith(" end"), lines
    # a namespace is read for its metadata alone, so both forms must have the same fields
    path = client.path("namespaces", going)
    full = both(client, "namespaces", "object", path)
    assert full == both(client, "namespaces", "object", path, METADATA.format(""))


def field(number, data):
    def varint(n):
        return bytes([n & 0x7f | 0x80]) + varint(n >> 7) if n > 0x7f else bytes([n])
    return varint(number << 3 | 2) + varint(len(data)) + data


@case
def text_that_is_not_utf8(server):
    """A client that writes protobuf can store what is not UTF-8. The server's JSON has U+FFFD for it, and so
    has what we make of its protobuf."""
    entries = [(b"bad", b"a\xffb\xc3\x28\xed\xa0\x80\xf0\x9f\x98"), (b"good", "é".encode())]
    meta = field(1, b"odd") + b"".join(field(12, field(1, key) + field(2, text)) for key, text in entries)
    body = b"k8s\0" + field(1, field(1, b"v1") + field(2, b"Node")) + field(2, field(1, meta))
    connection = server.kube.connect()
    connection.request("POST", "/" + server.kube.path("nodes"), body=body, headers={
        "Content-Type": FORMS["proto"], "Accept": "application/json",
        "Authorization": f"Bearer {server.kube.token}"})
    answer = connection.getresponse()
    assert answer.status == 201, answer.read()
    connection.close()
    line, = both(server.kube, "nodes", "object", server.kube.path("nodes", "odd"))
    repaired = "a\ufffdb\ufffd(" + 6 * "\ufffd"
    assert repaired.encode().hex() in line, line


kubesuite.run(RealServer)
