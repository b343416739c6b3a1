"""tests/lib/crashsweep.py - kills an actor at one effect after the other (tests/actors/claimer/kill_at.c).

    for run, when in crashsweep.runs(provider, 40):
        crashsweep.run_once(tree, "test-claimer", run, when, lambda: make(...))
"""
from muster import BIN, wait_for

SLOW_MS = 120           # more than kill_at.c waits: what was sent is not answered when the process ends


def killed(tree):
    """Before it starts: where an actor is built with kill_at.c, this musterd runs that one."""
    tree.command += ["--libexec-dir", str(BIN / "killed")]


def runs(provider, count):
    """(1, "answered"), (2, "sent") ...: in every second one the answers to calls and writes are late."""
    for run in range(1, count + 1):
        if run % 2 == 0:
            slow(provider)
        yield run, "sent" if run % 2 == 0 else "answered"
        provider.clear_faults()


def slow(provider):
    provider.fault("late_answer", ms=SLOW_MS, count=-1)
    provider.server.order("POST", "faults",
                          {"kind": "late_answer", "verb": "patch", "ms": SLOW_MS, "count": -1})


def kill_at(tree, actor, effect, when):
    """It ends by SIGKILL at its n-th effect from now on; when: sent or answered."""
    folder = tree.run_dir / actor
    (folder / "kill-at.new").write_text(f"{effect} {when}\n")
    (folder / "kill-at.new").replace(folder / "kill-at")


def run_once(tree, actor, run, when, change):
    """change() gives it something to do. Returns when it has ended at that effect, and runs again."""
    before = tree.actor(actor)["incarnation"]
    kill_at(tree, actor, run, when)
    change()
    wait_for(lambda: tree.actor(actor)["state"] != "running" or tree.actor(actor)["incarnation"] > before,
             f"effect {run} of run {run}, {when}", every=0.02)
    tree.control(f"restart {actor}")        # not after the pause for an actor that dies often
    tree.wait_back(actor, before)
