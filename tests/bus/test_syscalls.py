"""tests/bus/test_syscalls.py - which system calls each actor is left with (issue 17.5).

muster-test: parallel
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from kubeservers import SimServer
from kubetree import WATCHER, KubeTree
from muster import METRICS, REFUSED, wait_for
from tree import ON, SANITIZED, Tree

FILTERED, UNFILTERED = "2", "0"     # `Seccomp` of /proc/PID/status
CALLS = (WATCHER, "lke-claimer", "vpsie-claimer", "capa-annotator")
SERVES = ("metrics", "vip-claimer")
ACTORS = (*CALLS, *SERVES, "node-state", "insight")
# What no actor may do, with the errno and the name in the log; None: not logged (Landlock refuses it).
FORBIDDEN = {
    "execve": ("EPERM", "execve"), "fork": ("EPERM", "clone"),
    "ptrace": ("EPERM", "ptrace"), "process_vm_readv": ("EPERM", "process_vm_readv"),
    "kill": ("EPERM", "kill"), "socket-packet": ("EPERM", "socket"), "socket-vsock": ("EPERM", "socket"),
    "socket-raw": ("EPERM", "socket"), "socket-audit": ("EPERM", "socket"), "chmod": ("EPERM", "chmod"),
    "setrlimit": ("EPERM", "prlimit64"), "dumpable": ("EPERM", "prctl"),
    "blocked-signals": ("EPERM", "personality"),
    "io_uring": ("EPERM", "io_uring_setup"), "newer": ("ENOSYS", "?"),
    "foreign-file": ("EACCES", None), "passwd": ("EACCES", None),
}
ALLOWED = {"socket-unix", "thread", "signal-self"}


def seccomp(pid):
    return re.search(r"^Seccomp:\s*(\d)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1)


class Forbidden(Tree):
    """Every actor is muster-test-forbidden, under its own row."""

    refusals_expected = True

    def __init__(self, **supervisor):
        needed = {"lke-claimer": {"token-file": "/nonexistent/token", "cluster-id": 1},
                  "vpsie-claimer": {"credential-dir": "/nonexistent/of-vpsie"}}
        actors = {name: {**ON, **needed.get(name, {})} for name in ACTORS}
        stand_ins = {f"muster-{name}": "muster-test-forbidden" for name in ACTORS}
        super().__init__(actors, supervisor, stand_ins)

    def outcomes(self, actor):
        """act -> outcome, as soon as the actor has tried all."""
        wait_for(lambda: self.facts(actor=actor, msg="all acts are done"), f"{actor} has tried all")
        return {fact["value"]: fact["outcome"] for fact in self.facts(actor=actor, msg="act")}


def expected(actor):
    """act -> outcome."""
    wanted = {act: outcome for act, (outcome, _) in FORBIDDEN.items()}
    wanted.update(dict.fromkeys(ALLOWED, "done"))
    wanted["socket-ip"] = "done" if actor in CALLS + SERVES else "EPERM"
    wanted["socket-udp"] = "done" if actor in CALLS else "EPERM"
    return wanted


@tap.case
def what_an_actor_does_not_need_is_refused_and_logged():
    with Forbidden() as tree:
        restricted = wait_for(tree.supervisor, "musterd answers")["syscalls_restricted"]
        confined = tree.supervisor()["confined"]
        if SANITIZED:       # LeakSanitizer traces all threads when a process ends
            assert not restricted
            return
        if not restricted:
            raise tap.Skip("this kernel has no seccomp filters")
        for actor in ACTORS:
            got, wanted = tree.outcomes(actor), expected(actor)
            assert got.keys() == wanted.keys(), (actor, got.keys() ^ wanted.keys())
            wrong = {act: (got[act], wanted[act]) for act in got if got[act] != wanted[act]
                     and not (not confined and wanted[act] == "EACCES")}
            assert not wrong, (actor, wrong)
            logged = {fact["value"] for fact in tree.facts(actor=actor, msg=REFUSED)}
            calls = {name for _, name in FORBIDDEN.values() if name}
            assert logged == calls, (actor, logged ^ calls)


@tap.case
def confine_landlock_allows_every_call_and_none_every_file():
    for confine in ("landlock", "none"):
        with Forbidden(confine=confine) as tree:
            got = tree.outcomes("node-state")
            assert not tree.supervisor()["syscalls_restricted"], tree.supervisor()
            assert got["execve"] == "ENOENT" and got["fork"] == "done" and got["socket-udp"] == "done", got
            if confine == "none":
                assert got["passwd"] == "done", got
            assert not tree.facts(msg=REFUSED)


def check_running(tree):
    tree.wait_running()
    restricted = tree.status()["supervisor"]["syscalls_restricted"]
    if not restricted and not SANITIZED:
        raise tap.Skip("this kernel has no seccomp filters")
    rows = {name: row for name, row in tree.actors().items() if row["pid"]}
    assert rows.keys() >= {WATCHER, "node-state", "insight"}, rows.keys()
    for name, row in rows.items():
        assert seccomp(row["pid"]) == (FILTERED if restricted else UNFILTERED), name
    assert seccomp(tree.process.pid) == UNFILTERED, "musterd starts programs"


@tap.case
def every_actor_gives_calls_up():
    """The real programs, and a person can see it in /proc."""
    with SimServer() as server:
        tree = KubeTree(server)
        tree.configure({"actors": {"metrics": METRICS, "insight": ON, **tree.settings}})
        with tree:
            check_running(tree)


if __name__ == "__main__":
    tap.main()
