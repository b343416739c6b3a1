"""tests/bus/test_supervisor.py - real musterd processes, and actors that misbehave on purpose.

muster-test-faulty speaks the lifeline by hand and prints what it hears; links to it stand in for the other programs.

muster-test: parallel
muster-test: timeout=600
"""
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import procs
import tap
from muster import BIN, Muster, wait_for

MUSTERD = str(BIN / "musterd")
SANITIZED = b"__asan_init" in (BIN / "musterd").read_bytes()
NEVER = {"metrics": {"enabled": False}}
BEAT_S = 2 if SANITIZED else 1
EXIT_CONFIG = 100


class Tree(Muster):
    """A musterd that is asked on its control socket, without the command in between."""

    def __init__(self, actors, supervisor=None, stand_ins=(), **more):
        self.actors_config, self.supervisor_config = actors, {"beat-interval": f"{BEAT_S}s", **(supervisor or {})}
        super().__init__(self.text(), **more)
        for name in stand_ins:
            (self.folder / "libexec").mkdir(exist_ok=True)
            (self.folder / "libexec" / name).symlink_to(BIN / "muster-test-faulty")
        if stand_ins:
            self.command += ["--libexec-dir", str(self.folder / "libexec")]

    def text(self):
        rows = {**NEVER, **self.actors_config}
        return {"supervisor": self.supervisor_config, "actors": rows}

    def change(self, **actors):
        """Other settings in the file; an underscore in a name stands for a dash."""
        self.actors_config = {name.replace("_", "-"): row for name, row in actors.items()}
        self.configure(self.text())

    def ask(self, line):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(self.run_dir / "control.sock"))
            s.sendall(line.encode() + b"\n")
            return json.loads(b"".join(iter(lambda: s.recv(65536), b"")))

    def status(self):
        try:
            return self.ask("status")
        except (OSError, ValueError):
            return None

    def musterd(self):
        """The process itself, also under a wrapper."""
        return next(p for p in procs.family(self.process.pid) if p.command.startswith(MUSTERD)).pid

    def deaths(self, name):
        return self.facts(msg="actor died", actor=name)

    def wait_death(self, name, number=1):
        return wait_for(lambda: self.deaths(name)[number - 1:], f"death {number} of {name}")[0]

    def wait_log(self, text, count=1):
        wait_for(lambda: self.log().count(text) >= count, f"{count} times in the log: {text}")

    def wait_state(self, name, state):
        return wait_for(lambda: (lambda row: row if row.get("state") == state else None)(self.actors().get(name, {})),
                        f"{name} is {state}")


def alive(pid):
    """Still there and not a zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def run(*arguments, config=None):
    """musterd as a command that ends by itself: (exit code, what it said)."""
    with Muster(config or {}) as place:
        done = subprocess.run([MUSTERD, "--config", str(place.config), "--run-dir", str(place.run_dir), *arguments],
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr


# ---- start ----

@tap.case
def stages_wait_for_bound():
    """Stage 2 is not started before stage 1 has bound; a core actor that never binds holds it back."""
    with Tree({"test-faulty": {}, "test-faulty-core": {"mode": "mute"}}) as tree:
        tree.wait_log("test-faulty-core starts as mute")
        death = tree.wait_death("test-faulty-core")
        assert death["cause"] == "not ready", death
        assert tree.actor("test-faulty")["state"] == "waiting", tree.actors()
        assert tree.status()["supervisor"]["state"] == "starting"
        tree.change(test_faulty={}, test_faulty_core={})
        tree.signal(signal.SIGHUP)
        tree.wait_running()
        log = tree.log()
        assert log.index("test-faulty-core starts as ok") < log.index("test-faulty starts as ok")
        assert tree.status()["supervisor"]["state"] == "running"


@tap.case
def a_side_actor_that_never_binds_holds_back_nobody():
    with Tree({"metrics": {"enabled": True}, "test-faulty": {"mode": "mute"}}, stand_ins=["muster-metrics"]) as tree:
        tree.wait_running("metrics")
        assert tree.wait_death("test-faulty")["cause"] == "not ready"
        assert tree.status()["supervisor"]["state"] == "degraded"


@tap.case
def an_actor_brings_what_it_needs_and_says_why():
    names = ["muster-test-producer", "muster-test-consumer"]
    with Tree({"test-consumer-3": {}}, stand_ins=names) as tree:
        tree.wait_running("test-producer", "test-consumer-3")
        fact = tree.facts(msg="actor enabled, because another needs it")[0]
        assert (fact["actor"], fact["needs"]) == ("test-producer", "test-consumer-3") and fact["why"], fact
        assert tree.actor("test-consumer-3")["needs"] == ["test-producer"]


@tap.case
def a_configuration_that_cannot_run_is_refused_with_both_names():
    off = {"actors": {**NEVER, "test-consumer-1": {}, "test-producer": {"enabled": False}}}
    code, said = run(config=off)
    assert code == EXIT_CONFIG and "test-consumer-1 needs test-producer" in said, (code, said)
    assert re.search(r"muster\.yaml:\d+: ", said), said
    code, said = run(config={"actors": {"nobody": {}}})
    assert code == EXIT_CONFIG and "nobody" in said and re.search(r"muster\.yaml:\d+: ", said), (code, said)
    code, said = run("--check", config={"actors": {**NEVER, "test-faulty": {"mode": "dance"}}})
    assert code == EXIT_CONFIG and "mode" in said, (code, said)
    code, said = run("--check", config={"actors": NEVER})
    assert code == 0 and "valid" in said, (code, said)
    code, said = run(config={"supervisor": {"user": "no-such-user"}, "actors": NEVER})
    assert code == EXIT_CONFIG and "no-such-user" in said, (code, said)


@tap.case
def a_program_that_is_missing_is_named_with_where_it_was_looked_for():
    with Muster({"actors": {**NEVER, "test-faulty": {}}}) as place:
        shutil.copy(MUSTERD, place.folder / "musterd")
        done = subprocess.run([str(place.folder / "musterd"), "--config", str(place.config), "--libexec-dir", "/nowhere",
                               "--run-dir", str(place.run_dir)], capture_output=True, text=True, timeout=60)
        assert done.returncode == EXIT_CONFIG, done
        for word in ("test-faulty", "muster-test-faulty", "/nowhere", str(place.folder)):
            assert word in done.stderr, (word, done.stderr)


@tap.case
def usage():
    code, said = run("--colour")
    assert code == EXIT_CONFIG and "--colour" in said, (code, said)
    code, said = run("--log-level", "loud")
    assert code == EXIT_CONFIG and "debug" in said, (code, said)
    code, said = run("--version")
    assert code == 0 and re.match(r"musterd \d", said), (code, said)
    code, said = run("--help")
    assert code == 0 and "--run-dir" in said, (code, said)


@tap.case
def the_run_directory_must_be_ours_alone():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        assert tree.run_dir.stat().st_mode & 0o777 == 0o700
        assert (tree.run_dir / "control.sock").stat().st_mode & 0o077 == 0
        second = subprocess.run(tree.command, capture_output=True, text=True, timeout=60)
        assert second.returncode == EXIT_CONFIG and f"pid {tree.process.pid}" in second.stderr, second
        assert tree.ask("status")["supervisor"]["pid"] == tree.process.pid

        def started_in(path):
            done = subprocess.run([MUSTERD, "--config", str(tree.config), "--run-dir", str(path)],
                                  capture_output=True, text=True, timeout=60)
            return done.returncode, done.stderr
        wide = tree.folder / "wide"
        wide.mkdir()
        wide.chmod(0o777)
        code, said = started_in(wide)
        assert code == EXIT_CONFIG and "0777" in said, (code, said)
        code, said = started_in("/tmp/" + "x" * 100)
        assert code == EXIT_CONFIG and "107" in said and re.search(r"at most \d+ bytes", said), (code, said)
        (tree.folder / "link").symlink_to(tree.folder)
        code, said = started_in(tree.folder / "link")
        assert code == EXIT_CONFIG, (code, said)
        code, said = started_in(tree.folder / "a blank")
        assert code == EXIT_CONFIG and "blank" in said, (code, said)
        code, said = started_in(tree.folder / "no" / "parent")
        assert code == EXIT_CONFIG and "create" in said, (code, said)
        if os.geteuid() == 0:
            other = tree.folder / "other"
            other.mkdir(0o700)
            os.chown(other, 12345, 12345)
            code, said = started_in(other)
            assert code == EXIT_CONFIG and "12345" in said, (code, said)


# ---- identity and hygiene ----

@tap.case
def a_consumer_is_announced_before_it_exists_and_its_token_is_nowhere_else():
    names = ["muster-metrics", "muster-test-producer", "muster-test-consumer"]
    actors = {"metrics": {"enabled": True}, "test-consumer-1": {}}
    with Tree(actors, stand_ins=names, env={"SECRET_OF_SHELL": "x", "LANG": "C"}) as tree:
        tree.wait_running()
        log = tree.log()
        # The producer checks the consumer's HELLO; the consumer only needs to know where the producer is.
        assert log.index("peer: test-consumer-1 1 token down") < log.index("test-consumer-1 starts")
        assert "peer: test-producer 1 - up" in log and "peer: test-producer 1 token" not in log
        assert "peer: metrics 1 token down" in log
        tree.wait_log("peer: test-consumer-1 1 token up")

        os.kill(tree.actor("test-consumer-1")["pid"], signal.SIGKILL)
        tree.wait_log("peer: test-consumer-1 1 - down")
        tree.wait_log("peer: test-consumer-1 2 token down")
        tree.wait_running()
        for name, row in tree.actors().items():
            if row["pid"] == 0:
                continue
            folder = pathlib.Path(f"/proc/{row['pid']}")
            words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            assert words[1:] == [name.encode()] and words[0].startswith(b"muster-"), words
            if os.geteuid() == 0:
                environ = (folder / "environ").read_bytes()
                assert not re.search(rb"[0-9a-f]{32}", environ + b" ".join(words)), environ
                keys = {e.split(b"=")[0] for e in environ.split(b"\0") if e}
                assert b"SECRET_OF_SHELL" not in keys and {b"PATH", b"LANG", b"ZSYS_SIGHANDLER"} <= keys, keys
        assert not re.search(r"[0-9a-f]{64}", tree.log())


@tap.case
def a_child_starts_clean():
    """Own session, default signals, nothing but stdio and the lifeline, limits, no new privileges, not dumpable."""
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        pid = tree.actor("test-faulty")["pid"]
        folder = pathlib.Path(f"/proc/{pid}")
        status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line)
        assert int(status["SigBlk"], 16) == 0 and int(status["SigIgn"], 16) == 0, status
        assert status["NoNewPrivs"] == "1"
        assert os.getsid(pid) == pid == os.getpgid(pid)
        limits = (folder / "limits").read_text()
        assert re.search(r"Max core file size +0 ", limits), limits
        assert int(re.search(r"Max open files +(\d+)", limits)[1]) >= 1024
        if not SANITIZED:
            assert re.search(rf"Max stack size +{512 * 1024} ", limits), limits
            assert re.search(rf"Max data size +{64 << 20} ", limits), limits
        if os.geteuid() == 0:
            assert sorted(os.listdir(folder / "fd"), key=int) == ["0", "1", "2", "3"]
            assert os.readlink(folder / "fd/0") == "/dev/null"


@tap.case
def actors_run_as_the_configured_user():
    if os.geteuid() != 0:
        raise tap.Skip("only root can change the user")
    with Tree({"test-faulty": {}}, supervisor={"user": "nobody"}) as tree:
        tree.folder.chmod(0o711)
        tree.wait_running()
        pid = tree.actor("test-faulty")["pid"]
        ids = re.findall(r"^(?:Uid|Gid|Groups):[ \t]*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
        nobody = pwd.getpwnam("nobody")
        assert set(ids[0].split()) == {str(nobody.pw_uid)} and set(ids[1].split()) == {str(nobody.pw_gid)}, ids
        assert ids[2].strip() == "", ids
        assert tree.run_dir.stat().st_uid == nobody.pw_uid
        tree.signal(signal.SIGKILL)     # the death signal is set after the change of user
        wait_for(lambda: not alive(pid), "the child dies with musterd", timeout=5)


@tap.case
def one_actor_cannot_open_the_credential_of_another():
    with Tree({}) as tree:
        for name in ("mine", "theirs"):
            (tree.folder / name).mkdir()
            (tree.folder / name / "token").write_text("secret")
        row = {"mode": "peek", "path": str(tree.folder / "theirs/token"), "token-file": str(tree.folder / "mine/token")}
        tree.change(test_faulty=row)
        wait_for(lambda: tree.status(), "musterd answers")
        tree.signal(signal.SIGHUP)
        tree.wait_log("peek proc: ")
        said = re.findall(r"^peek (\w+): (\w+)$", tree.log(), re.M)
        if not tree.status()["supervisor"]["confined"]:
            assert tree.facts(level="warn", msg="this kernel has no Landlock: that each actor opens only its own "
                              "credential is advisory"), tree.log()
            raise tap.Skip("this kernel has no Landlock")
        assert dict(said) == {"foreign": "EACCES", "own": "opened", "passwd": "EACCES", "proc": "opened"}, said


@tap.case
def credentials_in_one_folder_are_warned_about():
    with Tree({}) as tree:
        (tree.folder / "token").write_text("secret")
        row = {"token-file": str(tree.folder / "token")}
        tree.change(test_faulty=row, test_faulty_core=row)
        wait_for(lambda: tree.status(), "musterd answers")
        assert tree.ask("reload") == {"ok": True}
        facts = tree.facts(level="warn", path=str(tree.folder))
        assert {(f["actor"], f["peer"]) for f in facts} == {
            ("test-faulty", "test-faulty-core"), ("test-faulty-core", "test-faulty")}, facts


# ---- deaths ----

@tap.case
def a_death_has_an_obituary_and_a_place_in_the_tally():
    with Tree({"test-faulty": {"mode": "abort", "after": "300ms"}, "test-faulty-core": {}}) as tree:
        death = tree.wait_death("test-faulty")
        assert death["incarnation"] == 1 and death["cause"] == "signal ABRT" and death["uptime_ms"] >= 300, death
        assert death["last_words"].endswith("panic: on purpose") and death["level"] == "warn", death
        assert 800 <= death["next_ms"] <= 1200, death
        status = tree.status()
        assert status["supervisor"]["deaths"] >= 1 and status["supervisor"]["deaths_by_cause"]["signal"] >= 1, status
        last = status["last_deaths"][-1]
        assert (last["name"], last["incarnation"], last["cause"]) == ("test-faulty", 1, "signal"), last
        row = {r["name"]: r for r in status["actors"]}
        assert row["test-faulty"]["last_exit"] == "signal ABRT" and row["test-faulty"]["deaths"] >= 1
        assert row["test-faulty-core"]["last_exit"] is None and row["test-faulty-core"]["restarts"] == 0
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "it comes back")


@tap.case
def backoff_grows_and_a_core_crash_loop_escalates():
    with Tree({"test-faulty": {"mode": "crash"}, "test-faulty-core": {"mode": "crash-after-ready"}}) as tree:
        assert tree.wait_exit() == 1
        core = tree.deaths("test-faulty-core")
        assert [d["cause"] for d in core] == ["exit 111"] * 5, core
        for wanted, death in zip((1000, 2000, 4000, 8000), core):
            assert wanted * 0.8 <= death["next_ms"] <= wanted * 1.2, (wanted, death)
        assert core[4]["next_ms"] == -1
        assert tree.facts(level="error", actor="test-faulty-core"), "it is said why"
        assert len(tree.deaths("test-faulty")) >= 4, "a side actor never escalates"


@tap.case
def a_configuration_error_is_not_restarted_until_the_configuration_changes():
    with Tree({"test-faulty": {"mode": "config"}, "test-faulty-core": {}}) as tree:
        row = tree.wait_state("test-faulty", "failed")
        assert row["last_exit"] == "exit 100" and row["incarnation"] == 1, row
        assert tree.status()["supervisor"]["state"] == "degraded"
        assert tree.ask("reload") == {"ok": True}
        time.sleep(1.5)     # longer than the first backoff
        assert tree.actor("test-faulty")["incarnation"] == 1 and tree.actor("test-faulty-core")["incarnation"] == 1
        tree.change(test_faulty={"mode": "ok"}, test_faulty_core={})
        assert tree.ask("reload") == {"ok": True}
        tree.wait_running()
        assert tree.actor("test-faulty")["incarnation"] == 2 and tree.actor("test-faulty-core")["incarnation"] == 1


@tap.case
def a_configuration_error_of_a_core_actor_escalates_at_once():
    with Tree({"test-faulty-core": {"mode": "config"}, "test-faulty": {}}) as tree:
        assert tree.wait_exit() == 1
        assert len(tree.deaths("test-faulty-core")) == 1


@tap.case
def exit_0_without_being_asked_is_a_death():
    with Tree({"test-faulty": {"mode": "exit0"}}) as tree:
        assert tree.wait_death("test-faulty")["cause"] == "exit 0"
        assert tree.wait_death("test-faulty", 2)["incarnation"] == 2


@tap.case
def a_spinning_actor_is_caught_by_the_watchdog():
    with Tree({"test-faulty": {"mode": "spin", "after": "1s"}, "test-faulty-core": {}}) as tree:
        tree.wait_running("test-faulty-core")
        death = tree.wait_death("test-faulty")
        assert death["cause"] == "watchdog", death
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "it comes back")
        assert tree.actor("test-faulty-core")["restarts"] == 0


@tap.case
def one_that_ignores_sigabrt_is_killed_with_its_group():
    with Tree({"test-faulty": {"mode": "stubborn"}}) as tree:
        death = tree.wait_death("test-faulty")
        assert death["cause"] == "watchdog" and death["uptime_ms"] >= 5000, death


@tap.case
def an_allocating_actor_dies_alone_at_its_limit():
    if SANITIZED:
        return      # the shadow memory fits no limit, so there is none in this build
    with Tree({"test-faulty": {"mode": "allocate"}, "test-faulty-core": {}}) as tree:
        tree.wait_running("test-faulty-core")
        death = tree.wait_death("test-faulty")
        assert death["cause"] == "memory limit" and "out of memory" in death["last_words"], death
        assert tree.actor("test-faulty-core")["restarts"] == 0
        assert tree.status()["supervisor"]["deaths_by_cause"]["memory limit"] >= 1


@tap.case
def an_unsynced_actor_counts_for_readiness():
    with Tree({"test-faulty": {"mode": "unsynced"}}) as tree:
        row = tree.wait_state("test-faulty", "running")
        assert row["synced"] is False and tree.status()["supervisor"]["state"] == "running"
        # Degraded after 60 s: test_policy.c has the limit.


@tap.case
def a_stopped_supervisor_judges_nobody():
    with Tree({"test-faulty": {}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        before = {name: row["pid"] for name, row in tree.actors().items()}
        tree.signal(signal.SIGSTOP)
        try:
            # Its children stop too, as when a machine is frozen: no beat waits for it when it wakes.
            for pid in before.values():
                if pid:
                    os.kill(pid, signal.SIGSTOP)
            time.sleep(4 * BEAT_S + 1)
        finally:
            tree.signal(signal.SIGCONT)
        time.sleep(0.2)
        for pid in before.values():
            if pid:
                os.kill(pid, signal.SIGCONT)
        time.sleep(4 * BEAT_S)      # long enough to be judged
        assert {name: row["pid"] for name, row in tree.actors().items()} == before
        late = tree.facts(msg="woke up late; every deadline moves by that")
        assert late and late[0]["duration_ms"] > 1000, late


@tap.case
def a_stopped_actor_is_replaced():
    with Tree({"test-faulty": {}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        os.kill(tree.actor("test-faulty")["pid"], signal.SIGSTOP)
        death = tree.wait_death("test-faulty")
        assert death["cause"] == "watchdog", death
        tree.wait_running()
        assert tree.actor("test-faulty-core")["restarts"] == 0


# ---- what actors say ----

@tap.case
def a_reported_peer_is_restarted_and_a_bad_reporter_is_not_believed_for_ever():
    actors = {"metrics": {"enabled": True}, "test-faulty": {"mode": "report", "target": "metrics", "count": 60,
                                                           "after": "500ms"}}
    with Tree(actors, stand_ins=["muster-metrics"]) as tree:
        death = tree.wait_death("metrics")
        assert death["cause"] == "reported", death
        tree.wait_death("metrics", 3)
        tree.wait_log("reports too often")
        tree.wait_log("names no living peer")       # while its victim is down
        time.sleep(1)
        assert len(tree.deaths("metrics")) == 3 and not tree.deaths("test-faulty")
        tree.wait_running("metrics")


@tap.case
def a_report_of_nobody_or_of_a_stranger_harms_nobody():
    actors = {"test-faulty-core": {}, "test-faulty": {"mode": "report", "target": "test-faulty-core", "count": 2}}
    with Tree(actors) as tree:
        tree.wait_log("names no living peer", 2)
        tree.change(test_faulty_core={}, test_faulty={"mode": "report", "target": "-", "count": 2})
        tree.ask("reload")
        tree.wait_log("an unknown sender misbehaves", 2)
        assert tree.status()["supervisor"]["strangers_reported"] == 2
        assert not tree.deaths("test-faulty") and not tree.deaths("test-faulty-core")


@tap.case
def rubbish_on_the_lifeline_is_counted_and_survived():
    with Tree({"test-faulty": {"mode": "bad-records"}}) as tree:
        row = wait_for(lambda: (lambda r: r if r.get("bad_records", 0) >= 13 else None)(tree.actors().get("test-faulty", {})),
                       "bad records are counted")
        assert row["state"] == "running" and row["incarnation"] == 1, row
        assert len(tree.facts(msg="actor says what nobody understands on its lifeline")) == 1


@tap.case
def a_deaf_actor_blocks_nobody_and_hears_the_latest_in_the_end():
    with Tree({"test-faulty": {"mode": "deaf", "after": "5s"}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        for _ in range(300):        # more records than its socket holds
            assert tree.ask("level test-faulty debug") == {"ok": True}
            assert tree.ask("level test-faulty info") == {"ok": True}
        tree.ask("level test-faulty error")
        assert tree.actor("test-faulty")["state"] == "running"
        tree.wait_log("heard: level error")
        assert re.findall(r"^heard: level (\w+)$", tree.log(), re.M)[-1] == "error"
        assert 100 < tree.log().count("heard: level") < 600, "some were replaced by newer ones"
        assert not tree.deaths("test-faulty")


@tap.case
def a_level_reaches_the_actor():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        assert tree.ask("level test-faulty debug") == {"ok": True}
        tree.wait_log("heard: level debug")
        assert tree.ask("level all warn") == {"ok": True}
        tree.wait_log("heard: level warn")
        tree.ask("restart test-faulty")
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "it restarts")
        assert tree.actor("test-faulty")["level"] == "warn", "a level outlives the incarnation"


@tap.case
def whoever_wants_the_tree_gets_it():
    with Tree({"metrics": {"enabled": True}, "test-faulty": {}}, stand_ins=["muster-metrics"]) as tree:
        tree.wait_running()
        tree.wait_log("tree: ", 2)
        os.kill(tree.actor("test-faulty")["pid"], signal.SIGKILL)
        seen = tree.log().count("tree: ")
        tree.wait_log("tree: ", seen + 1)


class Unread(Tree):
    """Its stderr is a pipe that nobody empties."""

    def __init__(self, *arguments, owner=None, **more):
        super().__init__(*arguments, **more)
        if owner is not None:
            shutil.chown(self.folder, owner)
            self.config.chmod(0o644)

    def start(self):
        self.read_end, write_end = os.pipe()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=write_end, preexec_fn=procs.die_with_parent)
        os.close(write_end)

    def end(self):
        super().end()
        os.close(self.read_end)


def flood_unread(**more):
    with Unread({"test-faulty": {"mode": "flood-log", "count": 20000}}, **more) as tree:
        wait_for(lambda: (tree.status() or {}).get("supervisor", {}).get("log_lines_dropped", 0) > 0, "lines dropped")
        row = tree.wait_state("test-faulty", "running")
        time.sleep(1)
        assert tree.actor("test-faulty")["pid"] == row["pid"] and tree.stop() == 0


@tap.case
def a_reader_that_does_not_read_stops_nobody():
    flood_unread()


@tap.case
def nor_does_one_whose_pipe_belongs_to_another_user():
    """It cannot be opened anew, so O_NONBLOCK cannot be had."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise tap.Skip("needs root and setpriv")
    flood_unread(wrapper=["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"], owner="nobody")


# ---- configuration read again ----

@tap.case
def sighup_restarts_only_what_changed():
    names = ["muster-test-producer", "muster-test-consumer"]
    with Tree({"test-faulty": {}, "test-faulty-core": {}}, stand_ins=names) as tree:
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
        assert tree.actor("test-faulty")["incarnation"] == 2 and tree.actor("test-faulty-core")["incarnation"] == 1


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
        assert tree.actor("test-faulty")["incarnation"] == 1 and tree.actor("test-faulty")["state"] == "running"


@tap.case
def what_cannot_change_at_run_time_is_said():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        tree.supervisor_config = {"beat-interval": "7s", "log-level": "debug"}
        tree.change(test_faulty={})
        assert tree.ask("reload") == {"ok": True}
        assert [f["key"] for f in tree.facts(msg="this setting of the supervisor cannot change while it runs")] == [
            "beat-interval"]
        tree.wait_log("heard: level debug")
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
        wait_for(lambda: "supervisor" in (tree.status() or {}), "idle clients are let go")
        for s in idle:
            s.close()
        keys = ["name", "pid", "state", "incarnation", "restarts", "last_exit", "uptime_s", "rss_kib", "synced", "mailbox"]
        status = tree.status()
        assert list(status["supervisor"])[:4] == ["pid", "state", "uptime_s", "version"], status
        assert all(list(row)[:10] == keys for row in status["actors"]), status
        row = wait_for(lambda: (lambda r: r if r["mailbox"] == 7 else None)(tree.actor("test-faulty")), "a beat was heard")
        assert row["rss_kib"] > 100, row
        assert tree.ask("stop") == {"ok": True} and tree.wait_exit() == 0


# ---- the end ----

@tap.case
def kill_9_of_musterd_takes_every_child_within_a_second():
    names = ["muster-metrics", "muster-test-producer", "muster-test-consumer"]
    actors = {"metrics": {"enabled": True}, "test-consumer-1": {}, "test-consumer-2": {}, "test-faulty": {"mode": "spin"}}
    with Tree(actors, supervisor={"beat-interval": "60s"}, stand_ins=names) as tree:
        tree.wait_running("metrics", "test-producer", "test-consumer-1", "test-consumer-2")
        tree.wait_state("test-faulty", "running")
        pids = [row["pid"] for row in tree.actors().values() if row["pid"]]
        assert len(pids) == 5
        tree.signal(signal.SIGKILL)
        wait_for(lambda: not any(map(alive, pids)), "every child is gone", timeout=1, every=0.01)


@tap.case
def sigterm_stops_in_stages_and_exits_0():
    names = ["muster-metrics", "muster-test-producer", "muster-test-consumer"]
    with Tree({"metrics": {"enabled": True}, "test-consumer-1": {}, "test-consumer-2": {}}, stand_ins=names) as tree:
        tree.wait_running()
        assert tree.stop() == 0
        ends = re.findall(r"^(\S+) stops$", tree.log(), re.M)
        assert set(ends[:2]) == {"test-consumer-1", "test-consumer-2"} and ends[2:] == ["test-producer", "metrics"], ends
        assert not tree.facts(msg="actor died"), "an ordered end is not a death"
        assert not (tree.run_dir / "control.sock").exists()


@tap.case
def one_that_does_not_stop_is_killed_at_its_timeout():
    with Tree({"test-faulty": {"mode": "ignore-stop"}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        started = time.monotonic()
        assert tree.stop() == 0
        assert 2.5 < time.monotonic() - started < 15
        assert tree.facts(msg="killing actor", actor="test-faulty")


@tap.case
def the_whole_stop_is_bounded():
    with Tree({"test-faulty": {"mode": "ignore-stop"}, "test-faulty-core": {"mode": "ignore-stop"}},
              supervisor={"stop-timeout": "2s"}) as tree:
        tree.wait_running()
        started = time.monotonic()
        assert tree.stop() == 0
        assert 1 < time.monotonic() - started < 4.5


@tap.case
def a_second_sigterm_hurries():
    with Tree({"test-faulty": {"mode": "ignore-stop"}}) as tree:
        tree.wait_running()
        tree.signal(signal.SIGTERM)
        tree.wait_log("not stopping")
        started = time.monotonic()
        tree.signal(signal.SIGTERM)
        assert tree.wait_exit() == 0
        assert time.monotonic() - started < 2


@tap.case
def more_time_is_granted_once():
    with Tree({"test-faulty": {"mode": "slow-stop", "after": "4s"}}) as tree:
        tree.wait_running()
        assert tree.stop() == 0
        assert "stopped slowly" in tree.log()
        granted = tree.facts(msg="actor asked for more time to stop")
        assert [f["limit"] for f in granted] == [4000], granted


@tap.case
def as_pid_1_it_reaps_orphans_and_stops_in_stages():
    wrapper = ["unshare", *([] if os.geteuid() == 0 else ["-U", "-r"]), "-p", "-f", "--mount-proc"]
    if subprocess.run([*wrapper, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise tap.Skip("no pid namespace can be made here")
    actors = {"test-faulty": {"mode": "orphan", "after": "1s"}, "test-faulty-core": {}}
    with Tree(actors, wrapper=wrapper) as tree:
        tree.wait_death("test-faulty")
        assert tree.status()["supervisor"]["pid"] == 1
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
    with Tree({"test-faulty": {"mode": "ignore-stop"}}, wrapper=wrapper) as tree:
        tree.wait_running()
        for text in ("not stopping", "killing what is left"):
            os.kill(tree.musterd(), signal.SIGTERM)
            tree.wait_log(text)
        assert tree.wait_exit() == 0


@tap.case
def grandchildren_die_with_their_group_or_are_swept_at_the_end():
    with Tree({"test-faulty": {"mode": "orphan", "after": "60s"}}) as tree:
        tree.wait_death("test-faulty")
        in_group, on_its_own = map(int, re.search(r"grandchildren: (\d+) (\d+)", tree.log()).groups())
        wait_for(lambda: not alive(in_group), "the one in the group is gone")
        assert alive(on_its_own)
        assert tree.stop() == 0
        wait_for(lambda: not alive(on_its_own), "the one that left it is gone", timeout=5)


@tap.case
def fifty_restarts_leave_no_zombie_and_no_descriptor():
    with Tree({"test-faulty": {}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        folder = pathlib.Path(f"/proc/{tree.process.pid}/fd")
        before = len(list(folder.iterdir()))
        for number in range(2, 52):
            assert tree.ask("restart test-faulty") == {"ok": True}
            wait_for(lambda: (lambda r: r["incarnation"] >= number and r["state"] == "running")(tree.actor("test-faulty")),
                     f"incarnation {number}", every=0.005)
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


def heard(s, wanted):
    """Datagrams until one contains wanted."""
    seen = []
    while not seen or wanted not in seen[-1]:
        seen.append(s.recv(4096).decode())
    return seen


@tap.case
def systemd_is_told():
    with Tree({"test-faulty": {}}) as tree:
        tree.stop()     # the environment is not there yet
        for address, shown in ((str(tree.folder / "notify"), None), (f"\0muster-test-{os.getpid()}", "@")):
            s = listen(address)
            tree.env = dict(os.environ, NOTIFY_SOCKET=address.replace("\0", shown or "\0") if shown else address,
                            WATCHDOG_USEC="400000")
            tree.start()
            assert "READY=1" in heard(s, "READY=1")[-1]
            assert "1 of 1 actors running" in heard(s, "1 of 1 actors running")[-1]
            heard(s, "WATCHDOG=1")
            tree.signal(signal.SIGHUP)
            reloading = heard(s, "RELOADING=1")[-1]
            assert re.search(r"^MONOTONIC_USEC=\d+$", reloading, re.M), reloading
            heard(s, "READY=1")
            tree.signal(signal.SIGTERM)
            heard(s, "STOPPING=1")
            assert tree.wait_exit() == 0
            s.close()


if __name__ == "__main__":
    tap.main()
