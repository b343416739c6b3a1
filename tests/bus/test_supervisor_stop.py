"""tests/bus/test_supervisor_stop.py - real musterd processes: reload, control socket, stop, systemd.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import procs
import tap
from muster import wait_for
from tree import ON, Tree, alive

STAND_INS = ["muster-metrics", "muster-test-producer", "muster-test-consumer"]
ACTOR_KEYS = ["name", "pid", "state", "incarnation", "restarts", "last_exit", "uptime_s", "rss_kib",
              "synced", "mailbox"]


# ---- configuration read again ----

@tap.case
def sighup_restarts_only_what_changed():
    with Tree({"test-faulty": {}, "test-faulty-core": {}}, stand_ins=STAND_INS) as tree:
        tree.wait_running()
        tree.change(test_faulty={"count": 2}, test_faulty_core={}, test_consumer_1={})
        tree.signal(signal.SIGHUP)
        tree.wait_running("test-faulty", "test-faulty-core", "test-producer", "test-consumer-1")
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "the changed one is restarted")
        assert tree.actor("test-faulty")["last_exit"] == "exit 0" and tree.actor("test-faulty")["deaths"] == 0
        assert tree.actor("test-faulty-core")["incarnation"] == 1

        tree.change(test_faulty={"count": 2}, test_faulty_core={}, test_producer={})
        tree.signal(signal.SIGHUP)
        tree.wait_state("test-consumer-1", "off")
        tree.wait_log("peer: test-consumer-1 1 - off")
        assert tree.actor("test-producer")["incarnation"] == 1
        tree.change(test_faulty={"count": 2}, test_faulty_core={})
        tree.signal(signal.SIGHUP)
        tree.wait_state("test-producer", "off")
        tree.change(test_faulty={"count": 2}, test_faulty_core={}, test_consumer_1={})
        tree.signal(signal.SIGHUP)
        tree.wait_running("test-producer", "test-consumer-1")
        assert tree.actor("test-consumer-1")["incarnation"] == 2, "numbers are never used again"
        assert tree.incarnations("test-faulty", "test-faulty-core") == [2, 1]


@tap.case
def an_invalid_file_changes_nothing():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        tree.configure("actors:\n  test-faulty:\n    colour: red\n")
        tree.signal(signal.SIGHUP)
        fact = wait_for(lambda: tree.facts(level="error", line=3), "the line is named")[0]
        assert fact["file"] == str(tree.config) and "colour" in fact["reason"], fact
        refused = tree.ask("reload")["error"]
        assert "muster.yaml:3:" in refused and "colour" in refused, refused
        tree.config.unlink()
        assert "error" in tree.ask("reload")
        row = tree.actor("test-faulty")
        assert row["incarnation"] == 1 and row["state"] == "running", row


@tap.case
def settings_that_cannot_change_at_run_time_are_logged():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        tree.supervisor_config = {"beat-interval": "7s", "log-level": "debug"}
        tree.change(test_faulty={})
        assert tree.ask("reload") == {"ok": True}
        facts = tree.facts(msg="this setting of the supervisor cannot change while it runs")
        assert [f["key"] for f in facts] == ["beat-interval"], facts
        tree.wait_log("received: level debug")
        assert tree.actor("test-faulty")["incarnation"] == 1


# ---- the control socket ----

@tap.case
def the_control_socket_answers_everything_with_one_line():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        for line in ("", "dance", "restart nobody", "restart metrics", "level x y", "x" * 5000, "\0\xff"):
            assert list(tree.ask(line)) == ["error"], line
        idle = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for s in idle:
            s.connect(str(tree.run_dir / "control.sock"))
        wait_for(lambda: "supervisor" in (tree.status() or {}), "idle clients are disconnected")
        for s in idle:
            s.close()
        status = tree.status()
        assert list(status["supervisor"])[:4] == ["pid", "state", "uptime_s", "version"], status
        assert all(list(row)[:10] == ACTOR_KEYS for row in status["actors"]), status
        row = tree.wait_row("test-faulty", "a beat was received", lambda row: row["mailbox"] == 7)
        assert row["rss_kib"] > 100, row
        assert tree.ask("stop") == {"ok": True} and tree.wait_exit() == 0


# ---- the end ----

@tap.case
def kill_9_of_musterd_takes_every_child():
    actors = {"metrics": ON, "test-consumer-1": {}, "test-consumer-2": {}, "test-faulty": {"mode": "spin"}}
    with Tree(actors, supervisor={"beat-interval": "60s"}, stand_ins=STAND_INS) as tree:
        tree.wait_running("metrics", "test-producer", "test-consumer-1", "test-consumer-2")
        tree.wait_state("test-faulty", "running")
        pids = [row["pid"] for row in tree.actors().values() if row["pid"]]
        assert len(pids) == 5
        tree.signal(signal.SIGKILL)
        wait_for(lambda: not any(map(alive, pids)), "every child is gone", every=0.01)


@tap.case
def sigterm_stops_in_stages_and_exits_0():
    actors = {"metrics": ON, "test-consumer-1": {}, "test-consumer-2": {}}
    with Tree(actors, stand_ins=STAND_INS) as tree:
        tree.wait_running()
        assert tree.stop() == 0
        ends = re.findall(r"^(\S+) stops$", tree.log(), re.M)
        assert set(ends[:2]) == {"test-consumer-1", "test-consumer-2"}, ends
        assert ends[2:] == ["test-producer", "metrics"], ends
        assert not tree.facts(msg="actor died"), "an ordered end is not a death"
        assert not (tree.run_dir / "control.sock").exists()


@tap.case
def one_that_does_not_stop_is_killed_at_its_timeout():
    with Tree({"test-faulty": {"mode": "ignore-stop"}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        started = time.monotonic()
        assert tree.stop() == 0
        assert time.monotonic() - started > 2.5, "it had its full timeout"
        assert not tree.facts(msg="killing what is left"), "the others stopped in time"
        assert tree.facts(msg="killing actor", actor="test-faulty")


@tap.case
def the_whole_stop_is_bounded():
    with Tree({"test-faulty": {"mode": "ignore-stop"}, "test-faulty-core": {"mode": "ignore-stop"}},
              supervisor={"stop-timeout": "2s"}) as tree:
        tree.wait_running()
        started = time.monotonic()
        assert tree.stop() == 0
        assert time.monotonic() - started > 1
        assert tree.facts(msg="killing what is left", why="the time for the whole stop is over")


@tap.case
def a_second_sigterm_kills_at_once():
    with Tree({"test-faulty": {"mode": "ignore-stop"}, "test-faulty-core": {"mode": "ignore-stop"}}) as tree:
        tree.wait_running()
        tree.signal(signal.SIGTERM)
        tree.wait_log("not stopping")
        tree.signal(signal.SIGTERM)
        assert tree.wait_exit() == 0
        killed, = tree.facts(msg="killing what is left")
        assert "over" not in killed["why"], killed


@tap.case
def more_time_is_granted_once():
    with Tree({"test-faulty": {"mode": "slow-stop", "after": "4s"}}) as tree:
        tree.wait_running()
        assert tree.stop() == 0
        assert "stopped slowly" in tree.log()
        granted = tree.facts(msg="actor requested more time to stop")
        assert [f["limit"] for f in granted] == [4000], granted


@tap.case
def as_pid_1_it_reaps_orphans_and_stops_in_stages():
    wrapper = ["unshare", *([] if os.geteuid() == 0 else ["-U", "-r"]), "-p", "-f", "--mount-proc"]
    if subprocess.run([*wrapper, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise tap.Skip("no pid namespace can be made here")
    actors = {"test-faulty": {"mode": "orphan", "after": "1s"}, "test-faulty-core": {}}
    with Tree(actors, wrapper=wrapper, supervisor={"user": "root"}) as tree:
        tree.wait_death("test-faulty")
        assert tree.supervisor()["pid"] == 1
        tree.wait_death("test-faulty", 2)
        top = tree.musterd()
        wait_for(lambda: not [p for p in procs.family(top) if p.state == "Z"], "no zombie")
        tree.change(test_faulty={"mode": "ok"}, test_faulty_core={})
        os.kill(top, signal.SIGHUP)
        tree.wait_running()
        wait_for(lambda: len(procs.family(top)) == 3, "only musterd and its two actors are left")
        os.kill(top, signal.SIGTERM)
        assert tree.wait_exit() == 0
        ends = re.findall(r"^(\S+) stops$", tree.log(), re.M)[-2:]
        assert ends == ["test-faulty", "test-faulty-core"], ends
    with Tree({"test-faulty": {"mode": "ignore-stop"}}, wrapper=wrapper, supervisor={"user": "root"}) as tree:
        tree.wait_running()
        for text in ("not stopping", "killing what is left"):
            os.kill(tree.musterd(), signal.SIGTERM)
            tree.wait_log(text)
        assert tree.wait_exit() == 0


@tap.case
def what_an_actor_leaves_behind_is_gone_before_its_next_incarnation():      # (issue 10.15)
    with Tree({"test-faulty": {"mode": "orphan", "after": "60s"}},
              supervisor={"log-level": "debug"}) as tree:
        tree.wait_death("test-faulty", 3)
        left = [tuple(map(int, found)) for found in
                re.findall(r"left behind: (\d+) (\d+) (\d+)", tree.log())]
        lines = [json.loads(line) for line in tree.log().splitlines() if line.startswith("{")]
        starts = [number for number, line in enumerate(lines)
                  if line["msg"] == "actor started" and line["actor"] == "test-faulty"]
        for pids, start in zip(left, starts[1:]):
            assert not any(map(alive, pids)), f"{pids} still run"
            reaped = {line.get("pid") for line in lines[:start] if line["msg"] == "reaped an orphan"}
            assert set(pids) <= reaped, f"{set(pids) - reaped} were there when the next incarnation started"
        assert tree.stop() == 0
        assert not any(alive(pid) for pids in left for pid in pids)


@tap.case
def what_an_actor_leaves_behind_is_gone_with_musterd():
    with Tree({"test-faulty": {"mode": "orphan", "after": "60s"}}) as tree:
        tree.wait_log("left behind: ")
        assert tree.stop() == 0
        for pids in re.findall(r"left behind: (\d+) (\d+) (\d+)", tree.log()):
            assert not any(alive(int(pid)) for pid in pids), f"{pids} still run"


@tap.case
def fifty_restarts_leave_no_zombie_and_no_descriptor():
    with Tree({"test-faulty": {}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        folder = pathlib.Path(f"/proc/{tree.process.pid}/fd")
        before = len(list(folder.iterdir()))
        for number in range(2, 52):
            assert tree.ask("restart test-faulty") == {"ok": True}
            tree.wait_row("test-faulty", f"incarnation {number} runs", every=0.005, fact=lambda row:
                          row["incarnation"] >= number and row["state"] == "running")
        wait_for(lambda: len(list(folder.iterdir())) <= before, "as many descriptors as before")
        family = procs.family(tree.process.pid)
        assert len(family) == 3 and all(p.state != "Z" for p in family), [str(p) for p in family]
        assert tree.actor("test-faulty")["restarts"] == 50 and tree.actor("test-faulty-core")["restarts"] == 0


# ---- systemd ----

def listen(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(name)
    s.settimeout(30)
    return s


def receive_until(s, wanted):
    """Receives datagrams until one contains wanted."""
    seen = []
    while not seen or wanted not in seen[-1]:
        seen.append(s.recv(4096).decode())
    return seen


@tap.case
def systemd_gets_the_state():
    with Tree({"test-faulty": {}}) as tree:
        tree.stop()     # the environment is not there yet
        for address in (str(tree.folder / "notify"), f"@muster-test-{os.getpid()}"):
            s = listen(address.replace("@", "\0"))
            tree.env = dict(os.environ, NOTIFY_SOCKET=address, WATCHDOG_USEC="400000")
            tree.start()
            assert "READY=1" in receive_until(s, "READY=1")[-1]
            assert "1 of 1 actors running" in receive_until(s, "1 of 1 actors running")[-1]
            receive_until(s, "WATCHDOG=1")
            tree.signal(signal.SIGHUP)
            reloading = receive_until(s, "RELOADING=1")[-1]
            assert re.search(r"^MONOTONIC_USEC=\d+$", reloading, re.M), reloading
            receive_until(s, "READY=1")
            tree.signal(signal.SIGTERM)
            receive_until(s, "STOPPING=1")
            assert tree.wait_exit() == 0
            s.close()


@tap.case
def systemd_gets_ready_though_its_queue_was_full():
    with Tree({"test-faulty": {}}) as tree:
        tree.stop()
        address = str(tree.folder / "notify")
        s = listen(address)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    other.sendto(b"STATUS=somebody else", address)
        tree.env = dict(os.environ, NOTIFY_SOCKET=address)
        tree.start()
        tree.wait_running()
        receive_until(s, "READY=1")
        s.close()


if __name__ == "__main__":
    tap.main()
