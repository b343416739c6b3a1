"""tests/bus/test_confine.py - what a running actor is left with (issue 10.2).

muster-test: parallel
"""
import ctypes
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from kubeservers import SimServer
from kubetree import WATCHER, KubeTree
from muster import USER
from tree import EXIT_CONFIG, Tree, run

PROXIES = {"http_proxy": "http://user:password@127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1",
           "NO_PROXY": "*"}
LANDLOCK_CREATE_RULESET, LANDLOCK_VERSION = 444, 1
LANDLOCK_TCP = 4        # the first version that restricts TCP
TASKS = 4096 + 64


def proc(pid, file):
    """The `name: value` lines of a file of /proc."""
    return dict(re.findall(r"^(\w+):\s*(.*)$", pathlib.Path(f"/proc/{pid}/{file}").read_text(), re.M))


def environment(pid):
    entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return {entry.partition("=")[0] for entry in entries if entry}


@tap.case
def root_without_a_user_is_refused_and_the_setting_is_named():
    config = {"supervisor": {"user": ""}, "actors": {"metrics": {"enabled": False}}}
    for arguments in ([], ["--check"]):
        code, output = run(*arguments, config=config)
        if not USER:
            assert "supervisor.user" not in output, output
            return
        assert code == EXIT_CONFIG, (code, output)
        assert "supervisor.user is not set" in output and "root" in output, output


@tap.case
def an_actor_has_no_capability():
    for user in ("root", "nobody") if USER else ("",):
        with Tree({"test-faulty": {}}, supervisor={"user": user}) as tree:
            tree.folder.chmod(0o711)
            tree.wait_running()
            status = proc(tree.actor("test-faulty")["pid"], "status")
            # What the supervisor of an unprivileged user may not take away, no_new_privs makes useless.
            sets = ("CapInh", "CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if USER else []))
            assert {int(status[name], 16) for name in sets} == {0}, (user, status)
            assert status["NoNewPrivs"] == "1", status
            assert tree.stop() == 0


@tap.case
def an_actor_may_not_have_any_number_of_processes():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        limits = pathlib.Path(f"/proc/{tree.actor('test-faulty')['pid']}/limits").read_text()
        soft, hard = re.search(r"^Max processes\s+(\d+)\s+(\d+)", limits, re.M).groups()
        assert int(soft) <= int(hard) <= TASKS, limits


@tap.case
def an_actor_that_needs_no_tcp_gets_none():
    """Where the kernel can restrict it; elsewhere the attempts show that nothing else forbids them."""
    version = ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION)
    tap.note(f"Landlock version {version}")
    for confine in ("landlock", "none"):
        with Tree({"test-faulty": {"mode": "tcp"}}, supervisor={"confine": confine}) as tree:
            tree.wait_log("tcp connect: ")
            results = dict(re.findall(r"^tcp (\w+): (\w+)$", tree.log(), re.M))
            restricted = confine == "landlock" and version >= LANDLOCK_TCP
            assert results == ({"bind": "EACCES", "connect": "EACCES"} if restricted
                               else {"bind": "done", "connect": "ECONNREFUSED"}), (confine, results)


@tap.case
def proxy_variables_reach_only_actors_that_make_http_calls():
    with SimServer() as server, KubeTree(server, env=PROXIES) as tree:
        tree.wait_running()         # kube-watcher connects: its row allows TCP, and NO_PROXY is in force
        assert set(PROXIES) <= environment(tree.actor(WATCHER)["pid"])
        assert not set(PROXIES) & environment(tree.actor("test-kube-1")["pid"])


@tap.case
def a_variable_and_its_file_reach_the_actor_of_its_row_alone():
    """F7, issue 11.4: rows of TEST_ENVIRONMENT in tests/actors/children.def name test-faulty."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        token = pathlib.Path(folder) / "token"
        token.write_text("secret")
        variables = {"MUSTER_TEST_TEXT": "s3cret", "MUSTER_TEST_TOKEN_FILE": str(token)}
        for actor, has in (("test-faulty", True), ("test-faulty-core", False)):
            reading = {actor: {"mode": "open-files", "path": str(token)}}
            with Tree(reading, env=variables) as tree:
                tree.wait_running()
                tree.wait_log("open proc: ")
                results = dict(re.findall(r"^open (\w+): (\w+)$", tree.log(), re.M))
                got = set(variables) & environment(tree.actor(actor)["pid"])
                assert got == (set(variables) if has else set()), got
                assert results["named"] == ("opened" if has else "unset"), results
                assert not tree.facts(level="warn"), tree.facts(level="warn")
                assert "s3cret" not in tree.log()
                if tree.supervisor()["confined"]:
                    assert results["foreign"] == ("opened" if has else "EACCES"), results
                assert tree.stop() == 0


@tap.case
def an_actor_cannot_read_the_environment_of_another():
    """Neither of musterd, which has all variables, nor of the actor that got one."""
    with Tree({"test-faulty": {}}, env={"MUSTER_TEST_TEXT": "s3cret"}) as tree:
        tree.wait_running()
        for pid in (tree.actor("test-faulty")["pid"], tree.musterd()):
            before = tree.log().count("open foreign: ")
            reading = {"mode": "open-files", "path": f"/proc/{pid}/environ"}
            tree.change(test_faulty={}, test_faulty_core=reading)
            assert tree.ask("reload") == {"ok": True}
            tree.wait_log("open foreign: ", before + 1)
            assert re.findall(r"^open foreign: (\w+)$", tree.log(), re.M)[-1] == "EACCES", pid


@tap.case
def a_file_that_a_variable_names_and_that_is_missing_is_reported_and_the_actor_runs():
    cases = (("/nonexistent/token", {"path": "/nonexistent/token", "err": "No such file or directory"}),
             ("/tmp", {"path": "/tmp", "err": "Is a directory"}),
             ("eyJh.s3cret", {}))      # somebody put the token itself there: it is not shown
    for value, wanted in cases:
        with Tree({"test-faulty": {}}, env={"MUSTER_TEST_TOKEN_FILE": value}) as tree:
            tree.wait_running()
            fact, = tree.facts(level="warn", key="MUSTER_TEST_TOKEN_FILE")
            assert fact["actor"] == "test-faulty" and fact["hint"], fact
            assert {name: fact.get(name) for name in wanted} == wanted, fact
            assert "s3cret" not in tree.log()


@tap.case
def a_lease_too_short_for_a_provider_mutation_is_refused():
    """A8: by musterd, by `musterd --check`, by `muster check`, and by a reload, which changes nothing."""
    watcher = {"leader-elect": True, "leader-elect-lease-duration": "12s"}
    config = {"supervisor": USER, "actors": {"test-faulty": {}, WATCHER: watcher}}
    for arguments in ([], ["--check"]):
        code, output = run(*arguments, config=config)
        assert code == EXIT_CONFIG, (code, output)
        for words in ("kube-watcher.leader-elect-lease-duration of 12s", "kube-watcher.leader-elect (line",
                      "test-faulty", "more than 12s"):
            assert words in output, output
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        tree.change(test_faulty={}, kube_watcher=watcher)
        answer = tree.ask("reload")
        assert "leader-elect-lease-duration" in answer["error"] and "the old" in answer["error"], answer
        assert WATCHER not in tree.actors() or tree.actor(WATCHER)["state"] == "off", tree.actors()
        checked = tree.cli("check", str(tree.config))
        assert (checked.returncode, checked.stdout) == (EXIT_CONFIG, ""), checked
        assert answer["error"].startswith(checked.stderr.strip()), (checked.stderr, answer)


if __name__ == "__main__":
    tap.main()
