"""tests/lib/tree.py - a musterd whose actors are muster-test-faulty: the supervisor alone is tested.

muster-test-faulty has its own implementation of the lifeline, fails in the way that its setting `mode` names,
and prints what it receives. Links to it (or, where stand_ins is a dict, to another) replace programs.
musterd is asked on its control socket.
"""
import json
import pathlib
import socket
import subprocess

import procs
from muster import BIN, METRICS, Muster, wait_for

MUSTERD = str(BIN / "musterd")
SANITIZED = b"__asan_init" in (BIN / "musterd").read_bytes()
BEAT_S = 2      # the watchdog kills after three missed ones; a busy machine needs some time
ON, OFF = {"enabled": True}, {"enabled": False}
EXIT_CONFIG = 100


class Tree(Muster):
    """metrics is off unless actors enables it; then it takes free ports, since programs run side by side."""

    def __init__(self, actors, supervisor=None, stand_ins=(), **more):
        self.actors_config = actors
        self.supervisor_config = {"beat-interval": f"{BEAT_S}s", **(supervisor or {})}
        super().__init__(self.text(), **more)
        programs = dict.fromkeys(stand_ins, "muster-test-faulty")
        programs.update(stand_ins if isinstance(stand_ins, dict) else {})
        for name, program in programs.items():
            (self.folder / "libexec").mkdir(exist_ok=True)
            (self.folder / "libexec" / name).symlink_to(BIN / program)
        if stand_ins:
            self.command += ["--libexec-dir", str(self.folder / "libexec")]

    def text(self):
        actors = {"metrics": OFF, **self.actors_config}
        if actors["metrics"] != OFF:
            actors["metrics"] = {**METRICS, **actors["metrics"]}
        return {"supervisor": self.supervisor_config, "actors": actors}

    def change(self, **actors):
        """Other settings in the file; an underscore in a name stands for a dash."""
        self.actors_config = {name.replace("_", "-"): row for name, row in actors.items()}
        self.configure(self.text())

    def ask(self, line):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(str(self.run_dir / "control.sock"))
            s.sendall(line.encode() + b"\n")
            return json.loads(b"".join(iter(lambda: s.recv(65536), b"")))

    def status(self):
        try:
            return self.ask("status")
        except (OSError, ValueError):
            return None

    def supervisor(self):
        return (self.status() or {}).get("supervisor", {})

    def musterd(self):
        """The pid of the process itself, also under a wrapper."""
        family = procs.family(self.process.pid)
        return next(p for p in family if p.command.startswith(MUSTERD)).pid

    def incarnations(self, *names):
        rows = self.actors()
        return [rows[name]["incarnation"] for name in names]

    def deaths(self, name):
        return self.facts(msg="actor died", actor=name)

    def wait_death(self, name, number=1):
        return wait_for(lambda: self.deaths(name)[number - 1:], f"death {number} of {name}")[0]

    def wait_log(self, text, count=1):
        wait_for(lambda: self.log().count(text) >= count, f"{count} times in the log: {text}")

    def wait_row(self, name, what, fact, every=0.05):
        """The row of that actor in the status, once fact(row) holds."""
        def row():
            found = self.actors().get(name)
            return found if found and fact(found) else None
        return wait_for(row, f"{name}: {what}", every=every)

    def wait_state(self, name, state):
        return self.wait_row(name, state, lambda row: row["state"] == state)


def alive(pid):
    """Still there and not a zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def run(*arguments, config=None):
    """musterd as a command that ends by itself: (exit code, output)."""
    with Muster(config or {}) as place:
        command = [MUSTERD, "--config", str(place.config), "--run-dir", str(place.run_dir), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr
