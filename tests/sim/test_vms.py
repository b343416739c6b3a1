"""tests/sim/test_vms.py - the provider API of muster-sim, by hand: VMs, pages, limits, faults, audit, Nodes.

muster-test: parallel
"""
import concurrent.futures
import http.client
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import muster
import tap
from kube import Kube, KubeError
from kubeservers import SimServer
from muster import wait_for
from vms import VMs, node_name, provider_id

TWO = {"one": "first=secret", "two": "second-secret"}
GONE = (http.client.HTTPException, ConnectionError)


def create(vms, tag="t", api=None):
    return (api or vms.api).raw("POST", "vms", body={"tag": tag})


def listed(vms, **query):
    return vms.api.call("GET", "vms", query=query)


def ids(vms):
    return [vm["id"] for vm in listed(vms)["data"]]


def ready(kube, number):
    """The status of the Ready condition; None: there is no such Node."""
    node = kube.find("nodes", node_name(number))
    return node and next(c["status"] for c in node["status"]["conditions"] if c["type"] == "Ready")


def unanswered(call, *arguments):
    """The connection ends without an answer, or in the middle of one."""
    try:
        answer = call(*arguments)
    except GONE:
        return True
    raise AssertionError(f"answered {answer}")


@tap.case
def a_VM_is_made_joins_and_goes():
    with VMs(join=True) as vms:
        assert listed(vms) == {"data": []}
        made = create(vms, "uid-1")
        assert (made.code, made.json()) == (200, {"id": 1, "tag": "uid-1", "status": "provisioning"}), made
        assert create(vms, "uid-1").json()["id"] == 2, "a second POST is a second VM"
        wait_for(lambda: [vm["status"] for vm in listed(vms)["data"]] == ["running"] * 2, "both run")
        kube = vms.server.kube
        wait_for(lambda: [ready(kube, number) for number in (1, 2)] == ["True"] * 2, "both are Nodes")
        assert kube.get("nodes", "vm-1")["spec"]["providerID"] == provider_id(1)
        deleted = vms.api.raw("DELETE", "vms/1")
        assert (deleted.code, deleted.json()) == (200, {}), deleted
        assert ids(vms) == [2]
        wait_for(lambda: kube.names("nodes") == ["vm-2"], "its Node is gone")
        for number in ("1", "99", "x", "%ff"):
            assert vms.api.raw("DELETE", f"vms/{number}").code == 404, number
        assert create(vms).json()["id"] == 3, "an id is not used again"


@tap.case
def wrong_requests_change_nothing():
    with VMs() as vms:
        for body in ("{", "[]", "{}", '{"tag": 7}', '"tag"', ""):
            assert vms.api.raw("POST", "vms", body=body).code == 400, body
        assert vms.api.raw("PUT", "vms", body={}).code == 405
        assert vms.api.raw("GET", "vms/1/disks").code == 404
        for query in ({"page": "0"}, {"page_size": "501"}, {"page": "x"}):
            assert vms.api.raw("GET", "vms", query=query).code == 400, query
        assert vms.list() == []


@tap.case
def pages_if_asked_for():
    with VMs() as vms:
        for number in range(7):
            create(vms, f"t{number}")
        assert list(listed(vms)) == ["data"] and len(listed(vms)["data"]) == 7
        last = listed(vms, page=3, page_size=3)
        assert {**last, "data": [vm["tag"] for vm in last["data"]]} == {
            "data": ["t6"], "page": 3, "pages": 3, "results": 7}, last
        assert listed(vms, page=4, page_size=3)["data"] == []


@tap.case
def limits_of_a_class_and_a_token_are_shown_and_enforced():
    with VMs(tokens=TWO) as vms:
        assert "X-RateLimit-Limit" not in create(vms).headers
        vms.limit("create", 2, window_s=3600)
        answers = [create(vms) for _ in range(3)]
        assert [answer.code for answer in answers] == [200, 200, 429]
        assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
        refused = answers[2].headers
        assert refused["X-RateLimit-Limit"] == "2" and 3590 < int(refused["Retry-After"]) <= 3600, refused
        assert 3590 < int(refused["X-RateLimit-Reset"]) - time.time() < 3602, refused
        assert create(vms, api=Kube(vms.url, TWO["two"])).code == 200, "another token has a limit of its own"
        assert vms.api.raw("GET", "vms").code == 200, "so has another class"
        vms.limit("create", 0)
        assert create(vms).code == 200 and len(vms.list()) == 5


@tap.case
def tokens_come_and_go():
    with VMs(tokens=TWO) as vms:
        for wrong in (None, "first", "other"):
            assert Kube(vms.url, wrong).raw("GET", "vms").code == 401, wrong
        assert Kube(vms.url, TWO["two"]).raw("GET", "vms").code == 200
        vms.remove_token(TWO["one"])
        assert vms.api.raw("GET", "vms").code == 401
        vms.add_token("three", "third-secret")
        assert Kube(vms.url, "third-secret").raw("GET", "vms").code == 200
        assert [row["token"] for row in vms.audit()] == ["", "", "", "two", "", "three"]


@tap.case
def the_audit_has_every_call_and_no_secret():
    with VMs(tokens=TWO) as vms:
        before_ms = time.monotonic() * 1000
        create(vms, "uid-1")
        vms.fault("lost", "create")
        unanswered(create, vms, "uid-2")
        create(vms, "uid-3", api=Kube(vms.url, TWO["two"]))
        vms.api.raw("DELETE", "vms/2")
        vms.api.raw("DELETE", "vms/2")
        vms.api.raw("GET", "vms")
        rows = vms.audit()
        assert [(row["n"], row["api"], row["class"], row["method"], row["path"], row["token"], row["effect"],
                 row["code"]) for row in rows] == [
            (1, "vms", "create", "POST", "/vms", "one", "vm-1 created for uid-1", 200),
            (2, "vms", "create", "POST", "/vms", "one", "vm-2 created for uid-2", 0),
            (3, "vms", "create", "POST", "/vms", "two", "vm-3 created for uid-3", 200),
            (4, "vms", "delete", "DELETE", "/vms/2", "one", "vm-2 deleted of uid-2", 200),
            (5, "vms", "delete", "DELETE", "/vms/2", "one", None, 404),
            (6, "vms", "list", "GET", "/vms", "one", None, 200)], rows
        for row in rows:
            assert before_ms - 1 <= row["at_ms"] <= time.monotonic() * 1000, row
            assert (row["effect_at_ms"] >= row["at_ms"]) == bool(row["effect"]), row
        assert [row["n"] for row in vms.effects()] == [1, 2, 3, 4]
        assert not any(token in vms.audit_file.read_text() for token in TWO.values())


@tap.case
def faults_before_the_effect():
    """status, code, what the answer has; nothing is made."""
    rows = (
        ({"kind": "status", "code": 429, "retry_after": "7"}, 429, "application/json", b"injected fault"),
        ({"kind": "status", "code": 500, "message": "broken"}, 500, "application/json", b"broken"),
        ({"kind": "status", "code": 502, "body": "html"}, 502, "text/html", b"<html>"),
        ({"kind": "status", "code": 200, "body": "html"}, 200, "text/html", b"<html>"),
        ({"kind": "status", "code": 503, "body": "empty"}, 503, "application/json", b""),
        ({"kind": "unauthorized"}, 401, "application/json", b"Invalid Token"))
    with VMs() as vms:
        for keys, code, kind, text in rows:
            fault = vms.fault(call_class="create", **keys)
            assert vms.api.raw("GET", "vms").code == 200, "another class"
            answer = create(vms)
            assert (answer.code, answer.headers["Content-Type"]) == (code, kind), answer
            assert text in answer.body, answer
            assert answer.headers.get("Retry-After") == keys.get("retry_after") and vms.hits(fault) == 1
        vms.fault("drop_connection", "create")
        assert unanswered(create, vms)
        assert vms.list() == []
        assert create(vms).code == 200, "each fault hits once"


@tap.case
def faults_after_the_effect():
    with VMs() as vms:
        for made, keys in enumerate(({"kind": "lost"}, {"kind": "cut", "bytes": 5},
                                     {"kind": "cut", "bytes": 5, "how": "reset"}, {"kind": "cut"}), 1):
            vms.fault(call_class="create", **keys)
            assert unanswered(create, vms), keys
            assert len(vms.list()) == made, keys
        vms.fault("cut", "create", bytes=5, how="clean")
        answer = create(vms)
        assert (answer.code, len(answer.body)) == (200, 5), answer
        vms.fault("lost", "delete")
        assert unanswered(vms.api.raw, "DELETE", "vms/1")
        assert [vm["id"] for vm in vms.list()] == [2, 3, 4, 5]
        # Behind the effect of the call that timed out there may come one more.
        vms.fault("lost", "create", count=2)
        for tag in ("x", "y"):
            assert unanswered(create, vms, tag)
        assert [vm["tag"] for vm in vms.list()][-2:] == ["x", "y"]


@tap.case
def slow_calls_and_late_effects():
    with VMs() as vms, concurrent.futures.ThreadPoolExecutor(1) as pool:
        for kind, made_meanwhile in (("latency", 0), ("late_answer", 1)):
            before = len(vms.list())
            fault = vms.fault(kind, "create", ms=1500)
            started = time.monotonic()
            answer = pool.submit(create, vms)
            wait_for(lambda: vms.hits(fault) == 1, "it has begun")
            if time.monotonic() - started < 1:
                assert len(vms.list()) == before + made_meanwhile, kind
            assert answer.result().code == 200 and time.monotonic() - started >= 1.4, kind
            assert len(vms.list()) == before + 1, kind
        # A client that gives up: the effect comes all the same.
        before, fault = len(vms.list()), vms.fault("late_effect", "create", ms=1000)
        impatient = Kube(vms.url, vms.token, timeout=0.2)
        try:
            raise AssertionError(create(vms, "late", api=impatient))
        except TimeoutError:
            assert vms.hits(fault) == 1
        wait_for(lambda: len(vms.list()) == before + 1, "the effect came late")
        row = vms.audit("POST")[-1]
        assert row["effect"] == "vm-3 created for late" and row["effect_at_ms"] - row["at_ms"] >= 900, row


@tap.case
def a_list_that_is_behind():
    with VMs() as vms:
        for number in range(4):
            create(vms, f"t{number}")
        vms.api.raw("DELETE", "vms/1")
        vms.fault("stale", "list", count=-1)
        assert ids(vms) == [1, 2, 3, 4], "before the last change"
        create(vms)
        assert ids(vms) == [2, 3, 4]
        vms.clear_faults()
        vms.fault("stale", "list", behind=1000)
        assert ids(vms) == [], "the oldest state"
        assert ids(vms) == [2, 3, 4, 5] == [vm["id"] for vm in vms.list()]


@tap.case
def a_VM_that_dies_is_listed_and_its_Node_is_not_ready():
    with VMs(join=True) as vms:
        create(vms)
        wait_for(lambda: ready(vms.server.kube, 1) == "True", "it is ready")
        vms.kill(1)
        assert listed(vms)["data"][0]["status"] == "offline"
        assert ready(vms.server.kube, 1) != "True"
        vms.api.raw("DELETE", "vms/1")
        wait_for(lambda: vms.server.kube.names("nodes") == [], "its Node is gone")


@tap.case
def VMs_join_another_API_server():
    with SimServer() as server, VMs() as vms:
        for number in (1, 2, 3):
            create(vms)
        with vms.joined(server.kube):
            wait_for(lambda: server.kube.names("nodes") == ["vm-1", "vm-2", "vm-3"], "three Nodes")
            wait_for(lambda: [ready(server.kube, number) for number in (1, 2, 3)] == ["True"] * 3, "ready")
            wait_for(lambda: "taints" not in server.kube.get("nodes", "vm-3")["spec"], "no taint is left")
            assert server.kube.get("nodes", "vm-3")["spec"]["providerID"] == provider_id(3)
            vms.kill(2)
            wait_for(lambda: ready(server.kube, 2) == "Unknown", "a dead VM is not ready")
            vms.api.raw("DELETE", "vms/1")
            with server.unreachable():
                create(vms)
            wait_for(lambda: server.kube.names("nodes") == ["vm-2", "vm-3", "vm-4"], "one goes, one comes")
        assert vms.server.kube.names("nodes") == [], "none on the server of the provider"


@tap.case
def the_API_goes_down_and_comes_back():
    with VMs() as vms:
        create(vms)
        with vms.unreachable():
            try:
                raise AssertionError(vms.api.raw("GET", "vms"))
            except ConnectionRefusedError:
                pass
            assert len(vms.list()) == 1
        assert ids(vms) == [1]


@tap.case
def TLS_as_the_Kubernetes_API_has_it():
    with VMs(tls=True) as vms:
        assert vms.url.startswith("https://"), vms.url
        assert create(vms).code == 200


@tap.case
def an_error_of_a_command_names_the_key():
    with VMs() as vms:
        rows = (({"op": "down"}, "api"), ({"api": "linodes", "op": "down"}, "api"),
                ({"api": "vms", "op": "x"}, "op"), ({"api": "vms", "op": "kill"}, "name"),
                ({"api": "vms", "op": "kill", "name": "vm-9"}, "vm-9"),
                ({"api": "vms", "op": "down", "name": "vm-9"}, "name"),
                ({"api": "vms", "op": "limit", "class": "x", "limit": 1, "window_ms": 1}, "class"),
                ({"api": "vms", "op": "limit", "class": "list", "limit": -1, "window_ms": 1}, "limit"))
        for command, word in rows:
            try:
                raise AssertionError(vms.server.order("POST", "providers", command))
            except KubeError as error:
                assert error.code == 400 and word in error.status["error"], (command, error.status)


@tap.case
def a_wrong_command_line_is_refused():
    command = [str(muster.BIN / "muster-sim"), "--kube", "127.0.0.1:0"]
    rows = ((["--vms", "127.0.0.1:0"], "--vms-token"), (["--vms-token", "se-cret"], "TOKEN=ID"),
            (["--vms", "x", "--vms-token", "a=b"], "ADDRESS:PORT"),
            (["--vms", "127.0.0.1:0", "--vms-token", "a=b", "--provider-audit", "/no/file"], "/no/file"))
    for words, text in rows:
        run = subprocess.run([*command, *words], capture_output=True, text=True, timeout=60)
        assert run.returncode in (1, 2) and text in run.stderr and "se-cret" not in run.stderr, (words, run)


tap.main()
