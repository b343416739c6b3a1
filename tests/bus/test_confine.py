"""tests/bus/test_confine.py - what a running actor is left with (issue 10.2).

muster-test: parallel
"""
import ctypes
import pathlib
import re
import sys

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


if __name__ == "__main__":
    tap.main()
