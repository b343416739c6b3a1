"""tests/lib/muster.py - a musterd of one's own: a folder in /tmp, a configuration, real actors.

    with Muster({"actors": {"test-producer": {"keys": 100}, "test-consumer-1": {}}}) as tree:
        tree.wait_running()
        os.kill(tree.actor("test-consumer-1")["pid"], signal.SIGKILL)
        wait_for(lambda: tree.actor("test-consumer-1")["restarts"] == 1, "the consumer was restarted")

Whatever happens, nothing of it is left running; after a failure the end of its log is shown.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import procs
import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESET = os.environ.get("MUSTER_PRESET", "debug")
BIN = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / PRESET / "bin"))
LOG_TAIL = 60
REFUSED = "refused a system call that this actor does not need"
METRICS = {f"{what}-bind-address": "127.0.0.1:0" for what in ("metrics", "health-probe")}
# Root has to set the user of its actors. The tests run as the user who starts them, root included.
USER = {"user": "root"} if os.geteuid() == 0 else {}


def wait_for(fact, what, timeout=60, every=0.05):
    """Returns fact() as soon as it is true. An AssertionError has what did not become true."""
    deadline = time.monotonic() + timeout
    while True:
        value = fact()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what} (last value: {value!r})")
        time.sleep(every)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def yaml(value, indent=0):
    """Mappings, lists of scalars, and scalars as block YAML; scalars are written as JSON, which is YAML."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{pad}{key}:{_nested(below, indent)}" for key, below in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{pad}- {json.dumps(item)}\n" for item in value)
    return f"{pad}{json.dumps(value)}\n"


def _nested(value, indent):
    if isinstance(value, (dict, list)) and value:
        return "\n" + yaml(value, indent + 1)
    return " " + yaml(value)


class Muster:
    """musterd and the actors under it. config is a dict, to which USER is added, or the text of a file."""

    refusals_expected = False       # for a test that makes calls which are refused

    def __init__(self, config, arguments=(), wrapper=(), env=None):
        # Not $TMPDIR: the path of a unix socket must stay under 108 bytes.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-", dir="/tmp"))
        self.run_dir, self.config, self.log_path = (self.folder / n for n in ("run", "muster.yaml", "log"))
        self.command = [*wrapper, str(BIN / "musterd"), "--config", str(self.config),
                        "--run-dir", str(self.run_dir), *arguments]
        self.env = dict(os.environ, **(env or {}))
        self.process = None
        self.configure(config)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        if kind is not None and not issubclass(kind, (tap.Skip, KeyboardInterrupt)):
            tap.note(f"the last {LOG_TAIL} lines of {' '.join(self.command)}")
            tap.note("\n".join(self.log().splitlines()[-LOG_TAIL:]))
        try:
            if kind is None and not self.refusals_expected:
                self.check_refusals()
        finally:
            self.end()

    def check_refusals(self):
        """No actor needed a system call that its filter refuses (actors/runtime/syscall_table.h)."""
        refused = [line for line in self.log().splitlines() if REFUSED in line or '"signal SYS"' in line]
        assert not refused, refused[:3]

    def configure(self, config):
        if not isinstance(config, str):
            config = yaml({**config, "supervisor": {**USER, **config.get("supervisor", {})}})
        # By rename, as a kubelet replaces a file: a musterd that reads it just now sees a whole one.
        written = self.config.with_suffix(".new")
        written.write_text(config)
        written.replace(self.config)

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.env, preexec_fn=procs.die_with_parent)

    def signal(self, number):
        self.process.send_signal(number)

    def wait_exit(self, timeout=60):
        """The exit code, or minus the signal."""
        return self.process.wait(timeout)

    def stop(self, timeout=60):
        self.signal(signal.SIGTERM)
        return self.wait_exit(timeout)

    def end(self):
        """Nothing of this tree survives, however it stands."""
        if self.process is not None and self.process.poll() is None:
            everyone = [p.pid for p in procs.family(self.process.pid)]
            procs.kill(*everyone)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cli(self, *arguments, timeout=60):
        """Runs `muster`; the result has returncode, stdout, stderr."""
        return subprocess.run([str(BIN / "muster"), *map(str, arguments)], timeout=timeout, text=True,
                              env=dict(self.env, MUSTER_RUN_DIR=str(self.run_dir)),
                              stdin=subprocess.DEVNULL, capture_output=True)

    def control(self, request, timeout=60):
        """One request to the control socket, its answer as a dict; None when musterd does not answer."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(timeout)
            try:
                control.connect(str(self.run_dir / "control.sock"))
                control.sendall(request.encode() + b"\n")
                answer = control.makefile().readline()
            except OSError:
                return None
        return json.loads(answer) if answer else None

    def status(self):
        """What `muster status -o json` prints, without starting a program for it."""
        return self.control("status")

    def actors(self):
        """name -> row of the status; empty when musterd does not answer."""
        status = self.status()
        return {row["name"]: row for row in status["actors"]} if status else {}

    def actor(self, name):
        return self.actors()[name]

    def pid(self, name):
        return self.actor(name)["pid"]

    def wait_running(self, *names, timeout=60):
        """Until these actors (or all enabled ones) run and are synced."""
        def settled():
            if self.process.poll() is not None:
                raise AssertionError(f"musterd ended with {self.process.returncode}")
            rows = self.actors()
            wanted = names or [name for name, row in rows.items() if row["state"] != "off"]
            rows = [rows.get(name, {"state": "unknown"}) for name in wanted]
            return rows and all(row["state"] == "running" and row["synced"] for row in rows)
        wait_for(settled, f"{' '.join(names) or 'all actors'} running and synced", timeout)

    def metrics_url(self):
        """Where /metrics is served; of a tree with actors={"metrics": METRICS}."""
        return f"http://{(self.run_dir / 'metrics' / 'metrics.addr').read_text().strip()}/metrics"

    def metrics_page(self):
        with urllib.request.urlopen(self.metrics_url(), timeout=10) as answer:
            return answer.read().decode()

    def series(self, name, actor):
        """Of that actor and name: its other labels, as text -> value."""
        rows = re.findall(rf'^{name}{{actor="{actor}",?([^}}]*)}} (\S+)$', self.metrics_page(), re.M)
        return {labels: float(value) for labels, value in rows}

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def facts(self, **wanted):
        """The JSON log lines whose keys have these values: facts(actor="metrics", level="warn")."""
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line for line in lines if all(line.get(key) == value for key, value in wanted.items())]
