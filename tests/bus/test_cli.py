"""tests/bus/test_cli.py - `muster` against a real musterd, against none, and against a fake one.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time

import muster
import procs
import tap
from muster import Muster, wait_for

MUSTER = str(muster.BIN / "muster")
STATUS_KEYS = ["name", "pid", "state", "incarnation", "restarts", "last_exit", "uptime_s", "rss_kib",
               "synced", "mailbox"]


def one_actor(**settings):
    return {"actors": {"metrics": {"enabled": False}, "test-faulty": settings}}


def environment(run_dir, **more):
    return {**os.environ, "MUSTER_RUN_DIR": str(run_dir), **more}


def cli(*arguments, run_dir="/nonexistent", timeout=60):
    return subprocess.run([MUSTER, *arguments], text=True, capture_output=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env=environment(run_dir))


@contextlib.contextmanager
def on_a_terminal(*arguments, run_dir, **env):
    """(process, read): `muster` with a terminal; read() gives what it has written since."""
    master, slave = pty.openpty()
    process = subprocess.Popen([MUSTER, *arguments], stdin=slave, stdout=slave, stderr=slave,
                               env=environment(run_dir, **{"LC_ALL": "C.UTF-8", **env}),
                               preexec_fn=procs.die_with_parent)
    os.close(slave)

    def read():
        data = b""
        with contextlib.suppress(OSError):      # EIO: it has ended
            while select.select([master], [], [], 0.05)[0] and (part := os.read(master, 65536)):
                data += part
        return data.decode()
    try:
        yield process, read
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(master)


@contextlib.contextmanager
def fake_musterd(answer):
    """A control socket whose answer is what answer(connection) does."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/control.sock")
        listener.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        connection.recv(256)
                        answer(connection)
        threading.Thread(target=serve, daemon=True).start()
        yield folder


@tap.case
def status_of_a_healthy_tree():
    with Muster(one_actor(mode="ok")) as tree:
        tree.wait_running()
        text = tree.cli("status")
        assert text.returncode == 0, text
        lines = text.stdout.splitlines()
        first = rf"\* musterd \d+\.\d+\.\d+ - running \(pid {tree.process.pid}, up \S+, {tree.run_dir}\)"
        assert re.fullmatch(first, lines[0]), lines[0]
        row = next(line for line in lines if "test-faulty" in line)
        assert re.search(rf"`- test-faulty +running +{tree.actor('test-faulty')['pid']} ", row), row
        assert "\033" not in text.stdout and text.stdout.isascii(), "colour or glyphs without a terminal"
        assert text.stderr == ""


@tap.case
def an_output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([MUSTER, "check", "--print-rbac"], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=60)
    assert (done.returncode, done.stderr) == (
        1, "muster check: cannot write the output: No space left on device\n"), done


@tap.case
def status_as_json_is_the_answer_of_musterd():
    with Muster(one_actor(mode="ok")) as tree:
        tree.wait_running()
        for form in (["-o", "json"], ["-ojson"], ["--output=json"], ["--output", "json"]):
            got = tree.cli("status", *form)
            assert got.returncode == 0 and got.stdout.count("\n") == 1 and got.stdout.endswith("}\n"), got
        status = json.loads(got.stdout)
        assert list(status)[:2] == ["supervisor", "actors"]
        assert list(status["supervisor"])[:4] == ["pid", "state", "uptime_s", "version"]
        for actor in status["actors"]:
            assert list(actor)[:len(STATUS_KEYS)] == STATUS_KEYS, list(actor)
        still = ("uptime_s", "rss_kib", "beat_age_ms")
        again = tree.status()
        for which in (status, again):
            which["supervisor"].pop("uptime_s")
            for actor in which["actors"]:
                for key in still:
                    actor.pop(key)
        assert status == again, "not what the control socket returns"


@tap.case
def status_of_a_degraded_tree():
    with Muster(one_actor(mode="config")) as tree:
        wait_for(lambda: tree.actors().get("test-faulty", {}).get("state") == "failed", "the actor failed")
        text = tree.cli("status")
        assert text.returncode == 3, text
        assert "- degraded" in text.stdout.splitlines()[0]
        assert re.search(r"last exit: .*100", text.stdout) and "muster restart" in text.stdout, text.stdout
        assert tree.cli("status", "-o", "json").returncode == 3
    with Muster(one_actor(mode="crash")) as tree:
        wait_for(lambda: tree.actors().get("test-faulty", {}).get("state") == "backoff", "the actor waits")
        wait_for(lambda: "next start: in " in tree.cli("status").stdout, "the next start is shown")


@tap.case
def no_musterd_is_running():
    for command in (["status"], ["status", "-o", "json"], ["status", "-w"], ["reload"],
                    ["restart", "metrics"], ["level", "all", "info"], ["tap"], ["tap", "-n", "1"]):
        got = cli(*command)
        assert got.returncode == 1 and got.stdout == "", got
        assert "/nonexistent/control.sock" in got.stderr and "--run-dir" in got.stderr, got.stderr
    got = cli("--run-dir", "/elsewhere", "status")
    assert got.returncode == 1 and "/elsewhere/control.sock" in got.stderr
    got = cli("--run-dir=/" + "x" * 200, "status")
    assert got.returncode == 1 and "longer than" in got.stderr
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(f"{folder}/control.sock")
        got = cli("status", run_dir=folder)
        assert got.returncode == 1 and "refused" in got.stderr, got.stderr


@tap.case
def usage_errors_name_the_mistake():
    for command, words in (("stauts", "did you mean `status`"),
                           ("frobnicate", "unknown command `frobnicate`"),
                           ("status --ouput json", "did you mean --output"),
                           ("status -x", "unknown option -x"),
                           ("status -o yaml", "`yaml`; there are text and json"),
                           ("status x", "`x`"),
                           ("level metrics", "missing"),
                           ("restart", "missing"),
                           ("reload now", "`now`"),
                           ("tap --actor metrcs", "did you mean `metrics`"),
                           ("tap --link x", "there are: stats"),
                           ("tap --message delta", "there are: HELLO, SNAP_BEGIN"),
                           ("tap -n x", "`x`"),
                           ("tap --trace xyz", "`xyz`"),
                           ("tap --record a --replay b", "exclude"),
                           ("tap -o", "needs a value"),
                           ("--run-dri x status", "--run-dri"),
                           ("help tpa", "`tap`"),
                           ("tap --run-dri x", "did you mean --run-dir"),
                           ("check", "missing: FILE"),
                           ("check --quiet x", "unknown option --quiet"),
                           ("", "usage: muster")):
        got = cli(*command.split())
        assert got.returncode == 2 and got.stdout == "", f"{command}: {got}"
        assert words in got.stderr, f"{command}: {got.stderr}"


@tap.case
def the_run_directory_may_stand_behind_any_command():
    with Muster(one_actor(mode="ok")) as tree:
        tree.wait_running()
        for option in (["--run-dir", tree.run_dir], [f"--run-dir={tree.run_dir}"]):
            for command in (["status"], ["level", "test-faulty", "info"], ["reload"], ["version"], ["help"],
                            ["tap", "--link", "stats", "--replay", "/dev/null"], ["check", tree.config]):
                # a file that is no recording is refused as such, after the options
                wanted = 1 if command[0] == "tap" else 0
                got = cli(*map(str, [*command, *option]))
                assert got.returncode == wanted and "option" not in got.stderr, (command, got)
        got = cli("--run-dir", "/nowhere", "status", "--run-dir", str(tree.run_dir), "-o", "json")
        assert got.returncode == 0 and json.loads(got.stdout)["supervisor"]["pid"] == tree.process.pid, got
        got = cli("restart", "test-faulty", "--run-dir")
        assert got.returncode == 2 and "needs a value" in got.stderr, got


@tap.case
def help_and_version():
    everything = cli("help")
    commands = re.findall(r"^  (\w+) ", everything.stdout.split("commands:")[1].split("options:")[0], re.M)
    assert commands == ["status", "explain", "trace", "tap", "check", "level", "restart", "reload", "version",
                        "help"]
    assert everything.returncode == 0 and "examples:" in everything.stdout
    assert cli("--help").stdout == everything.stdout
    for command in commands:
        got = cli("help", command)
        assert got.returncode == 0 and f"usage: muster {command}" in got.stdout, got
        assert cli(command, "--help").stdout == got.stdout
    got = cli("version")
    assert re.match(r"muster \d+\.\d+\.\d+ \(commit \w+, built with \w+ \d+\.\d", got.stdout), got
    for library in ("libzmq", "czmq", "msgpack-c", "libyaml", "jansson", "libevent", "libcurl"):
        assert re.search(rf"^  {library} +\d+\.\d+", got.stdout, re.M), got.stdout
    assert cli("--version").stdout == got.stdout
    page = (muster.ROOT / "docs/cli.md").read_text()
    assert all(f"muster {command}" in page for command in commands), "a command is not in docs/cli.md"


@tap.case
def check_a_file():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        good, bad = pathlib.Path(folder, "good.yaml"), pathlib.Path(folder, "bad.yaml")
        good.write_text("actors:\n  metrics:\n    metrics-bind-address: 127.0.0.1:0\n")
        bad.write_text("actors:\n  metrics:\n    metrics-bind-adress: 127.0.0.1:0\n")
        assert cli("check", str(good)).returncode == 0
        got = cli("check", str(bad))
        assert got.returncode == 100 and f"{bad}:3: " in got.stderr, got


@tap.case
def orders():
    with Muster(one_actor(mode="ok")) as tree:
        tree.wait_running()
        assert tree.cli("level", "test-faulty", "debug").returncode == 0
        wait_for(lambda: tree.actor("test-faulty")["level"] == "debug", "the level changed")
        assert tree.cli("level", "all", "warn").returncode == 0
        wait_for(lambda: tree.actor("test-faulty")["level"] == "warn", "all levels changed")
        assert tree.cli("restart", "test-faulty").returncode == 0
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "it was restarted")
        tree.wait_running()
        tree.configure(one_actor(mode="ok", count=2))
        assert tree.cli("reload").returncode == 0
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 3, "it has the new configuration")
        tree.configure("nonsense: [")
        for command in (["level", "nobody", "info"], ["level", "all", "loud"], ["restart", "nobody"],
                        ["restart", "metrics"], ["reload"]):
            got = tree.cli(*command)
            assert got.returncode == 1 and got.stderr.startswith(f"muster {command[0]}: "), got
            assert got.stdout == ""


@tap.case
def watching_goes_on_until_it_is_interrupted():
    with Muster(one_actor(mode="ok")) as tree:
        tree.wait_running()
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([MUSTER, "status", "-w"], stdout=subprocess.PIPE, text=True,
                                       env=environment(tree.run_dir))
            blocks = 0
            for line in process.stdout:
                blocks += line.startswith("* musterd")
                if blocks == 3:
                    break
            process.send_signal(number)
            process.stdout.read()
            assert process.wait(10) == 0
        process = subprocess.Popen([MUSTER, "status", "-w"], stdout=subprocess.PIPE,
                                   env=environment(tree.run_dir))
        process.stdout.readline()
        process.stdout.close()                  # as `| head -1` does
        assert process.wait(10) == 0


@tap.case
def on_a_terminal_it_is_drawn_in_place():
    with Muster(one_actor(mode="ok")) as tree:
        tree.wait_running()
        with on_a_terminal("status", run_dir=tree.run_dir) as (process, read):
            assert process.wait(10) == 0
            text = read()
            assert "\u25cf" in text and "\u2514\u2500 test-faulty" in text, text
            assert "\033[32mrunning\033[0m" in text, text
        with on_a_terminal("status", run_dir=tree.run_dir, NO_COLOR="1", LC_ALL="C") as (process, read):
            assert process.wait(10) == 0
            text = read()
            assert "\033" not in text and "`- test-faulty" in text, text
        with on_a_terminal("status", "-w", run_dir=tree.run_dir) as (process, read):
            seen = [""]

            def home():
                seen[0] += read()
                return seen[0].count("\033[H") >= 3
            wait_for(home, "it is drawn three times")
            assert seen[0].startswith("\033[H\033[2J")
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0


@tap.case
def malformed_answers_are_refused():
    top = {"pid": 1, "state": "running", "uptime_s": 1, "version": "x"}
    good = json.dumps({"supervisor": top, "actors": []}).encode()
    cases = {b"": "empty", b"\n": "cannot be read", good: "not one line", good + b"\nmore\n": "not one line",
             b'{"error":"no"}\n': "musterd answered: no",
             b'{"error":"\\u001b[2Jn\\u009b"}\n': "musterd answered: \\u001b[2Jn\\u009b",
             b"[1]\n": "cannot be read", b"\0\xff\n": "",
             b"{" * 70000 + b"\n": "cannot be read", b"x" * 3_000_000: "larger than",
             good[:-1] + b"\n": "cannot be read", good.replace(b"1,", b'"1",', 1) + b"\n": "`pid`"}
    for data, words in cases.items():
        def answer(connection, data=data):
            connection.sendall(data)
        with fake_musterd(answer) as folder:
            got = cli("status", run_dir=folder)
            assert got.returncode == 1 and got.stdout == "", f"{data[:40]}: {got}"
            assert got.stderr.startswith("muster status: ") and words in got.stderr, f"{data[:40]}: {got}"

    def slowly(connection):
        for byte in good:
            connection.sendall(bytes([byte]))
            time.sleep(0.001)
        connection.sendall(b"\n")
    with fake_musterd(slowly) as folder:
        assert cli("status", run_dir=folder).returncode == 0, "an answer in pieces is an answer"


@tap.case
def an_answer_that_never_comes():
    def drips(connection):
        while True:
            connection.sendall(b" ")
            time.sleep(0.2)
    for answer in (lambda connection: time.sleep(60), drips):
        with fake_musterd(answer) as folder:
            started = time.monotonic()
            got = cli("status", run_dir=folder)
            assert got.returncode == 1 and "does not answer" in got.stderr, got
            assert time.monotonic() - started > 4, "it gave up too early"


tap.main()
