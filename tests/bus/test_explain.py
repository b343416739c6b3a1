"""tests/bus/test_explain.py - `muster explain` and `muster trace`, over all actors.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import os
import socket
import subprocess

import muster
import tap
from kubefaults import strike
from kubeservers import SimServer
from kubetree import KubeTree
from muster import wait_for
from tree import ON, Tree

MUSTER = str(muster.BIN / "muster")
UNREACHABLE, USAGE, UNKNOWN = 1, 2, 4


def cli(tree, *arguments):
    return subprocess.run([MUSTER, *arguments], text=True, capture_output=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "MUSTER_RUN_DIR": str(tree.run_dir)})


def query(tree, verb, thing):
    """The answer as JSON; it must be there."""
    r = cli(tree, verb, thing, "-o", "json")
    assert r.returncode == 0, (r.returncode, r.stderr)
    return json.loads(r.stdout)


def hops(answer, actor):
    return answer["actors"][actor]["hops"]


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def labelled(value):
    return {"metadata": {"labels": {"a": value}}}


@tap.case
def a_write_is_traced_through_every_actor_and_back():
    with SimServer() as server:
        server.kube.create("nodes", node("n1"))
        server.kube.create("nodes", node("n2"))
        with KubeTree(server) as tree:
            tree.wait_equal("nodes")
            tree.wait(tree.leads, "leadership")
            # An event of the watch that comes before the answer is published with a trace of its own.
            strike(server, "stall", verb="watch", resource="nodes")
            tree.write("merge", "nodes", "n1", body=labelled("b"))
            tree.wait_equal("nodes")
            answer = query(tree, "trace", "node/n1")
            assert answer["object"] == "nodes/n1" and answer["missing"] == [] == answer["down"]
            requested = [h for h in hops(answer, "test-kube-1") if h["what"] == "write-requested"]
            assert [(h["text"], h["key"]) for h in requested] == [("merge", "nodes/n1")], requested
            trace = requested[0]["trace"]
            path = sorted((h["at_us"], n, h["what"], h.get("text", "")) for n in answer["actors"]
                         for h in hops(answer, n) if h["trace"] == trace)
            steps = [(n, what) for _, n, what, _ in path]
            for earlier, later in ((("test-kube-1", "write-requested"), ("kube-watcher", "write-received")),
                                   (("kube-watcher", "write-received"), ("kube-watcher", "request")),
                                   (("kube-watcher", "request"), ("kube-watcher", "published")),
                                   (("kube-watcher", "request"), ("kube-watcher", "result")),
                                   (("kube-watcher", "published"), ("test-kube-1", "received")),
                                   (("kube-watcher", "result"), ("test-kube-1", "write-done"))):
                assert steps.index(earlier) < steps.index(later), (earlier, later, path)
            done = [text for _, _, what, text in path if what == "write-done"]
            assert any(text.startswith("ok 200 rv ") for text in done), path
            assert not any(h.get("key") == "nodes/n2" for n in answer["actors"] for h in hops(answer, n))
            shown = cli(tree, "trace", "node/n1", "-n", "1")
            assert shown.returncode == 0 and f"trace {trace}" in shown.stdout, shown.stdout
            assert "kube-watcher -> API server" in shown.stdout and shown.stdout.count("trace ") == 1
            assert "has hops since" in shown.stdout


@tap.case
def an_explanation_lists_holders_consumers_and_writes():
    with SimServer() as server:
        server.kube.create("nodes", node("n1"))
        with KubeTree(server, readers=2) as tree:
            tree.wait_equal("nodes")
            tree.wait_equal("nodes", number=2)
            tree.wait(tree.leads, "leadership")
            tree.write("merge", "nodes", "n1", body=labelled("b"))
            tree.wait_equal("nodes")

            def acknowledged():
                stores = [h for h in query(tree, "explain", "node/n1")["actors"]["kube-watcher"]["held"]
                          if h["side"] == "store"]
                return {name: how for h in stores for name, how in h["consumers"].items()} == {
                    "test-kube-1": "acknowledged", "test-kube-2": "acknowledged"}
            wait_for(acknowledged, "both readers to acknowledge", timeout=60)
            rv = server.kube.get("nodes", "n1")["metadata"]["resourceVersion"]
            answer = query(tree, "explain", "node/n1")
            mirrors = [h for h in answer["actors"]["test-kube-1"]["held"] if h["side"] == "mirror"]
            assert [(h["from"], h["rv"], h["fresh"]) for h in mirrors] == [("kube-watcher", rv, True)]
            shown = cli(tree, "explain", "nodes/n1").stdout
            for line in ("Consumers", "kube-watcher -> test-kube-2", "Held by", f"rv {rv}",
                         "insight is not enabled"):
                assert line in shown, (line, shown)


@tap.case
def a_restarted_actor_has_no_older_hops_and_reports_since_when():
    with SimServer() as server:
        server.kube.create("nodes", node("n1"))
        with KubeTree(server) as tree:
            tree.wait_equal("nodes")
            before = query(tree, "trace", "node/n1")["actors"]["test-kube-1"]
            tree.kill("test-kube-1")
            tree.wait_back("test-kube-1", before["incarnation"])
            tree.wait_equal("nodes")
            after = query(tree, "trace", "node/n1")["actors"]["test-kube-1"]
            assert after["incarnation"] > before["incarnation"] and after["started_us"] > before["started_us"]
            assert all(h["at_us"] >= after["started_us"] for h in after["hops"]), after


@tap.case
def an_object_that_no_actor_holds_is_unknown():
    with Tree({"metrics": ON}) as tree:
        tree.wait_state("metrics", "running")
        for verb in ("explain", "trace"):
            r = cli(tree, verb, "node/nowhere")
            assert r.returncode == UNKNOWN and "no actor holds node/nowhere" in r.stderr, r
            answer = json.loads(cli(tree, verb, "node/nowhere", "-o", "json").stdout)
            assert answer["actors"]["metrics"]["known"] is False


@tap.case
def bad_arguments_are_refused_with_a_reason():
    with Tree({"metrics": ON}) as tree:
        for words, reason in ((("explain",), "an argument is missing"),
                              (("explain", "node"), "a name is missing"),
                              (("trace", "nodde/x"), "did you mean `node`"),
                              (("trace", "node/UPPER"), "is not a name"),
                              (("trace", "node/x", "-n", "many"), "-n takes a number"),
                              (("explain", "node/x", "-n", "1"), "unknown option"),
                              (("explain", "node/x", "-o", "xml"), "unknown output"),
                              (("explain", "node/x", "node/y"), "too many arguments")):
            r = cli(tree, *words)
            assert r.returncode == USAGE and reason in r.stderr, (words, r.returncode, r.stderr)
        for line in ("explain nodes/x y", "explain nodes", "trace nodes/a%0a", "trace nodes/A", "explain /"):
            assert "error" in tree.ask(line), line
    r = cli(tree, "explain", "node/x")
    assert r.returncode == UNREACHABLE and "cannot reach musterd" in r.stderr, r.stderr


@tap.case
def a_malformed_or_missing_answer_affects_no_other():
    actors = {"metrics": ON, "test-faulty": {"mode": "bad-answer"}, "test-faulty-core": {"mode": "ok"}}
    with Tree(actors) as tree:
        for name in actors:
            tree.wait_state(name, "running")
        answer = None

        def malformed():    # it begins with bad answers a moment after it is up
            nonlocal answer
            answer = json.loads(cli(tree, "explain", "node/x", "-o", "json").stdout)
            return answer["unreadable"] == ["test-faulty"]
        wait_for(malformed, "a bad answer", timeout=60)
        assert answer["missing"] == ["test-faulty-core"] and list(answer["actors"]) == ["metrics"], answer
        r = cli(tree, "explain", "node/x")
        assert r.returncode == UNREACHABLE, r
        assert "test-faulty-core did not answer in time" in r.stderr, r.stderr
        assert "test-faulty sent an answer that cannot be parsed" in r.stderr, r.stderr
        assert "\x1b" not in r.stderr, r.stderr
        assert tree.status()["supervisor"]["state"] == "running"


@tap.case
def a_closed_connection_is_dropped_and_too_many_requests_are_refused():
    with Tree({"test-faulty": {"mode": "ok"}}) as tree:     # it never answers
        tree.wait_state("test-faulty", "running")

        def question():
            s = socket.socket(socket.AF_UNIX)       # blocking: a full backlog is waited for
            s.connect(str(tree.run_dir / "control.sock"))
            s.settimeout(60)
            s.sendall(b"explain nodes/x\n")
            return s

        def full():
            """Four at a time: as long as these are open the fifth is refused."""
            held = [question() for _ in range(5)]
            answers = [json.loads(b"".join(iter(lambda s=s: s.recv(65536), b""))) for s in held]
            for s in held:
                s.close()
            return [a for a in answers if "too many queries" in a.get("error", "")]
        wait_for(full, "a refusal", timeout=60)
        for _ in range(40):     # ten times as many as fit, each left at once
            with contextlib.suppress(OSError):      # one client too many is not even accepted
                question().close()

        def answered():
            with contextlib.suppress(BlockingIOError):      # the backlog is full of closed connections
                return tree.ask("explain nodes/x").get("missing") == ["test-faulty"]
        wait_for(answered, "an answer after all closed connections", timeout=60)


tap.main()
