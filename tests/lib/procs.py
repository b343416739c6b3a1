"""tests/lib/procs.py - the process tree, from /proc; stops processes, and ends those that are left over."""
import ctypes
import os
import pathlib
import signal
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None)


class Process:
    """One line of the process table."""

    def __init__(self, entry):
        state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        self.pid, self.parent, self.state = int(entry.name), int(parent), state
        self.command = words or (entry / "comm").read_text().strip()

    def __str__(self):
        return f"pid {self.pid} state {self.state}: {self.command}"


def freeze(pid):
    """Sends SIGSTOP and waits until every thread of the process has stopped."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 60
    while not all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
                  for task in pathlib.Path(f"/proc/{pid}/task").iterdir()):
        assert time.monotonic() < deadline, f"pid {pid} does not stop"
        time.sleep(0.01)


def table():
    """pid -> Process, of every process that we can see."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found[int(entry.name)] = Process(entry)
        except (OSError, ValueError):
            continue        # it ended while we read it
    return found


def family(top):
    """The process top and every one under it, parents before children."""
    everyone, order = table(), [top]
    for pid in order:
        order += [p.pid for p in everyone.values() if p.parent == pid]
    return [everyone[pid] for pid in order if pid in everyone]


def kill(*pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def die_with_parent():
    """For preexec_fn: whatever ends the caller ends this process too."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans():
    """From now on a process whose parent died becomes our child, so that it can be found and reaped."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_orphans(grace_s=3):
    """Call it when no child of ours should run: reaps, waits a moment, kills the rest and returns them."""
    deadline = time.monotonic() + grace_s
    while True:
        mine = [p for p in table().values() if p.parent == os.getpid()]
        for process in mine:
            if process.state == "Z":
                os.waitpid(process.pid, os.WNOHANG)
        mine = [p for p in mine if p.state != "Z"]
        if not mine or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    for process in mine:
        kill(*[p.pid for p in family(process.pid)])
    return mine
