"""tests/bus/test_supervisor.py - real musterd processes: how actors start, run and end.

muster-test: parallel
muster-test: timeout=600
"""
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import procs
import tap
from muster import Muster, wait_for
from tree import BEAT_S, EXIT_CONFIG, MUSTERD, OFF, ON, SANITIZED, Tree, alive, run

STAND_INS = ["muster-metrics", "muster-test-producer", "muster-test-consumer"]


# ---- start ----

@tap.case
def stages_wait_for_bound():
    """Stage 2 is not started before stage 1 has bound; a core actor that never binds holds it back."""
    with Tree({"test-faulty": {}, "test-faulty-core": {"mode": "never-bind"}}) as tree:
        tree.wait_log("test-faulty-core starts as never-bind")
        death = tree.wait_death("test-faulty-core")
        assert death["cause"] == "not ready", death
        assert tree.actor("test-faulty")["state"] == "waiting", tree.actors()
        assert tree.supervisor()["state"] == "starting"
        tree.change(test_faulty={}, test_faulty_core={})
        tree.signal(signal.SIGHUP)
        tree.wait_running()
        log = tree.log()
        assert log.index("test-faulty-core starts as ok") < log.index("test-faulty starts as ok")
        assert tree.supervisor()["state"] == "running"


@tap.case
def an_actor_that_is_not_core_and_never_binds_holds_back_no_other():
    actors = {"metrics": ON, "test-faulty": {"mode": "never-bind"}}
    with Tree(actors, stand_ins=["muster-metrics"]) as tree:
        tree.wait_running("metrics")
        assert tree.wait_death("test-faulty")["cause"] == "not ready"
        assert tree.supervisor()["state"] == "degraded"


@tap.case
def an_actor_enables_what_it_needs_and_the_log_has_the_reason():
    with Tree({"test-consumer-3": {}}, stand_ins=STAND_INS) as tree:
        tree.wait_running("test-producer", "test-consumer-3")
        fact = tree.facts(msg="actor enabled, because another needs it")[0]
        assert (fact["actor"], fact["needs"]) == ("test-producer", "test-consumer-3") and fact["why"], fact
        assert tree.actor("test-consumer-3")["needs"] == ["test-producer"]


@tap.case
def a_configuration_that_cannot_run_is_refused_with_both_names():
    off = {"actors": {"metrics": OFF, "test-consumer-1": {}, "test-producer": OFF}}
    code, output = run(config=off)
    assert code == EXIT_CONFIG and "test-consumer-1 needs test-producer" in output, (code, output)
    assert re.search(r"muster\.yaml:\d+: ", output), output
    code, output = run(config={"actors": {"nobody": {}}})
    assert code == EXIT_CONFIG and "nobody" in output, (code, output)
    assert re.search(r"muster\.yaml:\d+: ", output), output
    code, output = run("--check", config={"actors": {"metrics": OFF, "test-faulty": {"mode": "dance"}}})
    assert code == EXIT_CONFIG and "mode" in output, (code, output)
    code, output = run("--check", config={"actors": {"metrics": OFF}})
    assert code == 0 and "valid" in output, (code, output)
    code, output = run(config={"supervisor": {"user": "no-such-user"}, "actors": {"metrics": OFF}})
    assert code == EXIT_CONFIG and "no-such-user" in output, (code, output)


@tap.case
def a_program_that_is_missing_is_named_with_the_folders_that_were_searched():
    with Muster({"actors": {"metrics": OFF, "test-faulty": {}}}) as place:
        shutil.copy(MUSTERD, place.folder / "musterd")
        command = [str(place.folder / "musterd"), "--config", str(place.config),
                   "--libexec-dir", "/nowhere", "--run-dir", str(place.run_dir)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == EXIT_CONFIG, done
        for word in ("test-faulty", "muster-test-faulty", "/nowhere", str(place.folder)):
            assert word in done.stderr, (word, done.stderr)


@tap.case
def usage():
    code, output = run("--colour")
    assert code == EXIT_CONFIG and "--colour" in output, (code, output)
    code, output = run("--log-level", "loud")
    assert code == EXIT_CONFIG and "debug" in output, (code, output)
    code, output = run("--version")
    assert code == 0 and re.match(r"musterd \d", output), (code, output)
    code, output = run("--help")
    assert code == 0 and "--run-dir" in output, (code, output)


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
        code, output = started_in(wide)
        assert code == EXIT_CONFIG and "0777" in output, (code, output)
        code, output = started_in("/tmp/" + "x" * 100)
        assert code == EXIT_CONFIG and "107" in output, (code, output)
        assert re.search(r"at most \d+ bytes", output), output
        (tree.folder / "link").symlink_to(tree.folder)
        code, output = started_in(tree.folder / "link")
        assert code == EXIT_CONFIG, (code, output)
        code, output = started_in(tree.folder / "a blank")
        assert code == EXIT_CONFIG and "blank" in output, (code, output)
        code, output = started_in(tree.folder / "no" / "parent")
        assert code == EXIT_CONFIG and "create" in output, (code, output)
        if os.geteuid() == 0:
            other = tree.folder / "other"
            other.mkdir(0o700)
            os.chown(other, 12345, 12345)
            code, output = started_in(other)
            assert code == EXIT_CONFIG and "12345" in output, (code, output)


# ---- identity and hygiene ----

@tap.case
def a_consumer_is_announced_before_it_exists_and_its_token_is_nowhere_else():
    actors = {"metrics": ON, "test-consumer-1": {}}
    with Tree(actors, stand_ins=STAND_INS, env={"SECRET_OF_SHELL": "x", "LANG": "C"},
              arguments=["--log-level", "debug"]) as tree:
        tree.wait_running()
        tree.wait_log("peer: test-consumer-1 1 token down")
        # musterd's own lines are in order; what two actors print is not.
        facts = tree.facts(by="musterd", incarnation=1)
        order = [(f["msg"], f["actor"]) for f in facts if "test-consumer-1" in (f["actor"], f.get("peer"))]
        announced = ("peer record sent", "test-producer")
        assert order.index(announced) < order.index(("actor started", "test-consumer-1")), order
        log = tree.log()
        # The producer checks the consumer's HELLO; the consumer only needs the state of the producer.
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
    """Own session, default signals, stdio and the lifeline and nothing else, limits, no new privileges."""
    careless = ["sh", "-c", 'exec 9< /dev/null; trap "" USR1; exec "$@"', "sh"]
    with Tree({"test-faulty": {}}, wrapper=careless) as tree:
        tree.wait_running()
        pid = tree.actor("test-faulty")["pid"]
        folder = pathlib.Path(f"/proc/{pid}")
        status = dict(re.findall(r"^(\w+):\t(.*)$", (folder / "status").read_text(), re.M))
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
        ids = dict(re.findall(r"^(\w+):\t(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))
        nobody = pwd.getpwnam("nobody")
        assert set(ids["Uid"].split()) == {str(nobody.pw_uid)}, ids
        assert set(ids["Gid"].split()) == {str(nobody.pw_gid)} and not ids["Groups"].split(), ids
        assert tree.run_dir.stat().st_uid == nobody.pw_uid
        tree.signal(signal.SIGKILL)     # the death signal is set after the change of user
        wait_for(lambda: not alive(pid), "the child dies with musterd")


@tap.case
def one_actor_cannot_open_the_credential_of_another():
    with Tree({}) as tree:
        for name in ("mine", "theirs"):
            (tree.folder / name).mkdir()
            (tree.folder / name / "token").write_text("secret")
        tree.change(test_faulty={"mode": "open-files", "path": str(tree.folder / "theirs/token"),
                                 "token-file": str(tree.folder / "mine/token")})
        wait_for(lambda: tree.status(), "musterd answers")
        tree.signal(signal.SIGHUP)
        tree.wait_log("open proc: ")
        opened = re.findall(r"^open (\w+): (\w+)$", tree.log(), re.M)
        for who in ("actor", "orphan"):
            tree.wait_log(f"control socket, {who}: ")
            answer = re.search(rf"^control socket, {who}: (.*)$", tree.log(), re.M)[1]
            assert answer.startswith('{"error":'), f"no actor may use the control socket: {who}: {answer}"
        if not tree.supervisor()["confined"]:
            assert "this kernel has no Landlock" in tree.log()
            raise tap.Skip("this kernel has no Landlock")
        assert dict(opened) == {"foreign": "EACCES", "own": "opened", "named": "unset",
                                "passwd": "EACCES", "proc": "opened"}, opened


@tap.case
def one_actor_cannot_bind_in_the_place_of_another():
    actors = {"test-producer": {"keys": 1}, "test-faulty": {"mode": "impersonate", "target": "test-producer"}}
    with Tree(actors) as tree:
        tree.wait_log("impersonate unlink lock: ")
        for name in actors:
            assert (tree.run_dir / name).stat().st_mode & 0o7777 == 0o700, name
        if not tree.supervisor()["confined"]:
            raise tap.Skip("this kernel has no Landlock")
        results = dict(re.findall(r"^impersonate ([a-z -]+): (\w+)$", tree.log(), re.M))
        assert results == {"bind own": "done", "write own": "done", "connect to other": "done",
                           "bind other": "EACCES", "write other": "EACCES", "unlink other": "EACCES",
                           "bind in run-dir": "EACCES", "unlink control": "EACCES",
                           "unlink lock": "EACCES"}, results


@tap.case
def an_actor_finds_its_folder_empty_and_its_own():
    with Tree({"test-faulty": {}}, supervisor={"user": "nobody"} if os.geteuid() == 0 else None) as tree:
        tree.folder.chmod(0o711)
        tree.wait_running()
        folder = tree.run_dir / "test-faulty"
        assert folder.stat().st_uid == tree.run_dir.stat().st_uid
        (folder / "left.ipc").write_text("")
        (folder / "left.addr").symlink_to(tree.config)
        folder.chmod(0)     # Landlock does not restrict chmod: another actor might have done it
        tree.ask("restart test-faulty")
        tree.wait_row("test-faulty", "it restarts", lambda row: row["incarnation"] == 2 and row["synced"])
        assert folder.stat().st_mode & 0o7777 == 0o700
        assert not list(folder.iterdir()) and tree.config.exists()
        (folder / "nested").mkdir()
        tree.ask("restart test-faulty")
        tree.wait_row("test-faulty", "it restarts", lambda row: row["incarnation"] == 3 and row["synced"])
        assert tree.facts(level="warn", path=str(folder / "nested")), "what cannot be removed is named"


@tap.case
def a_folder_that_leads_elsewhere_is_not_entered():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        (tree.folder / "precious").mkdir()
        (tree.folder / "precious" / "file").write_text("")
        shutil.rmtree(tree.run_dir / "test-faulty")
        (tree.run_dir / "test-faulty").symlink_to(tree.folder / "precious")
        tree.ask("restart test-faulty")
        assert tree.wait_death("test-faulty")["cause"] == "spawn"
        assert tree.facts(level="warn", path=str(tree.run_dir / "test-faulty"))
        assert (tree.folder / "precious" / "file").exists()
        (tree.run_dir / "test-faulty").unlink()
        tree.wait_running()


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
def a_death_is_logged_with_its_cause_and_counted():
    with Tree({"test-faulty": {"mode": "abort", "after": "300ms"}, "test-faulty-core": {}}) as tree:
        death = tree.wait_death("test-faulty")
        assert death["incarnation"] == 1 and death["cause"] == "signal ABRT", death
        assert death["uptime_ms"] >= 300, death
        assert death["last_output"].endswith("panic: on purpose") and death["level"] == "warn", death
        assert 800 <= death["next_ms"] <= 1200, death
        status = tree.status()
        assert status["supervisor"]["deaths"] >= 1, status
        assert status["supervisor"]["deaths_by_cause"]["signal"] >= 1, status
        last = status["last_deaths"][-1]
        assert (last["name"], last["incarnation"], last["cause"]) == ("test-faulty", 1, "signal"), last
        row = {r["name"]: r for r in status["actors"]}
        assert row["test-faulty"]["last_exit"] == "signal ABRT" and row["test-faulty"]["deaths"] >= 1
        assert row["test-faulty"]["last_output"][-2:] == ["test-faulty starts as abort", "panic: on purpose"]
        assert row["test-faulty-core"]["last_exit"] is None and row["test-faulty-core"]["restarts"] == 0
        assert "last_output" not in row["test-faulty-core"], "only of one that died"
        assert "panic: on purpose" in tree.cli("status").stdout
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "it comes back")
        assert "last_output" in tree.actor("test-faulty"), "they last as long as last_exit"
        tree.change(test_faulty={}, test_faulty_core={})
        tree.ask("reload")
        tree.wait_running()
        assert tree.ask("restart test-faulty") == {"ok": True}
        tree.wait_row("test-faulty", "restarted in order", lambda row: row["last_exit"] == "exit 0")
        assert "last_output" not in tree.actor("test-faulty")


@tap.case
def backoff_grows_and_a_core_crash_loop_escalates():
    with Tree({"test-faulty": {"mode": "crash"}, "test-faulty-core": {"mode": "crash-after-ready"}}) as tree:
        assert tree.wait_exit() == 1
        core = tree.deaths("test-faulty-core")
        assert [d["cause"] for d in core] == ["exit 111"] * 5, core
        for wanted, death in zip((1000, 2000, 4000, 8000), core):
            assert wanted * 0.8 <= death["next_ms"] <= wanted * 1.2, (wanted, death)
        assert core[4]["next_ms"] == -1
        assert tree.facts(level="error", actor="test-faulty-core"), "the reason is logged"
        assert len(tree.deaths("test-faulty")) >= 4, "a side actor never escalates"


@tap.case
def a_configuration_error_is_not_restarted_until_the_configuration_changes():
    with Tree({"test-faulty": {"mode": "config"}, "test-faulty-core": {}}) as tree:
        row = tree.wait_state("test-faulty", "failed")
        assert row["last_exit"] == "exit 100" and row["incarnation"] == 1, row
        assert tree.supervisor()["state"] == "degraded"
        assert tree.ask("reload") == {"ok": True}
        time.sleep(1.5)     # longer than the first backoff
        assert tree.incarnations("test-faulty", "test-faulty-core") == [1, 1]
        tree.change(test_faulty={"mode": "ok"}, test_faulty_core={})
        assert tree.ask("reload") == {"ok": True}
        tree.wait_running()
        assert tree.incarnations("test-faulty", "test-faulty-core") == [2, 1]


@tap.case
def a_configuration_error_of_a_core_actor_escalates_at_once():
    with Tree({"test-faulty-core": {"mode": "config"}, "test-faulty": {}}) as tree:
        assert tree.wait_exit() == 1
        assert len(tree.deaths("test-faulty-core")) == 1


@tap.case
def exit_0_without_a_stop_is_a_death():
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
    with Tree({"test-faulty": {"mode": "spin-ignore-abort"}}) as tree:
        death = tree.wait_death("test-faulty")
        assert death["cause"] == "watchdog" and death["uptime_ms"] >= 5000, death


@tap.case
def an_allocating_actor_dies_alone_at_its_limit():
    if SANITIZED:
        return      # the shadow memory fits no limit, so there is none in this build
    with Tree({"test-faulty": {"mode": "allocate"}, "test-faulty-core": {}}) as tree:
        tree.wait_running("test-faulty-core")
        death = tree.wait_death("test-faulty")
        assert death["cause"] == "memory limit" and "out of memory" in death["last_output"], death
        assert tree.actor("test-faulty-core")["restarts"] == 0
        assert tree.supervisor()["deaths_by_cause"]["memory limit"] >= 1


@tap.case
def an_unsynced_actor_counts_for_readiness():
    with Tree({"test-faulty": {"mode": "unsynced"}}) as tree:
        row = tree.wait_state("test-faulty", "running")
        assert row["synced"] is False and tree.supervisor()["state"] == "running"
        # Degraded after 60 s: test_policy.c has the limit.


@tap.case
def a_stopped_supervisor_restarts_no_actor():
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
        time.sleep(4 * BEAT_S)      # long enough for the watchdog
        assert {name: row["pid"] for name, row in tree.actors().items()} == before
        late = tree.facts(msg="the loop ran late; every deadline is moved by the delay")
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


# ---- what actors send ----

@tap.case
def a_reported_peer_is_restarted_and_then_a_reporter_that_goes_on():
    reporter = {"mode": "report", "target": "metrics", "count": 60, "after": "500ms"}
    with Tree({"metrics": ON, "test-faulty": reporter}, stand_ins=["muster-metrics"]) as tree:
        death = tree.wait_death("metrics")
        assert death["cause"] == "reported", death
        tree.wait_death("metrics", 3)
        assert tree.wait_death("test-faulty")["cause"] == "report limit"
        tree.wait_log("reports the same peer too often")
        tree.wait_log("names no running peer")       # while the reported peer is down
        tree.wait_death("test-faulty", 2)           # its next incarnation is not given three more
        assert len(tree.deaths("metrics")) == 3, tree.deaths("metrics")
        tree.wait_running("metrics")


# Three reported deaths and two others are five early ones, which would end the tree. (issue 10.12)
@tap.case
def reports_about_a_core_actor_do_not_end_the_tree():
    reporter = {"mode": "report", "target": "test-faulty-core", "count": 60, "after": "100ms"}
    with Tree({"test-faulty-core": {}, "test-faulty": reporter}) as tree:
        tree.wait_death("test-faulty-core", 3)
        for death in range(4, 6):
            tree.wait_running("test-faulty-core")
            os.kill(tree.actor("test-faulty-core")["pid"], signal.SIGKILL)
            tree.wait_death("test-faulty-core", death)
        causes = [death["cause"] for death in tree.deaths("test-faulty-core")]
        assert causes == ["reported"] * 3 + ["signal KILL"] * 2, causes
        tree.wait_running("test-faulty-core")


@tap.case
def a_report_without_a_peer_or_without_a_link_restarts_no_actor():
    reporter = {"mode": "report", "target": "test-producer", "count": 2}      # it has no link with that one
    with Tree({"test-producer": {}, "test-faulty": reporter}) as tree:
        tree.wait_log("names no running peer", 2)
        tree.change(test_producer={}, test_faulty={"mode": "report", "target": "-", "count": 2})
        tree.ask("reload")
        tree.wait_log("a sender without a session", 2)
        assert tree.supervisor()["unknown_senders"] == 2
        assert not tree.deaths("test-faulty") and not tree.deaths("test-producer")


@tap.case
def malformed_lifeline_records_are_counted():
    with Tree({"test-faulty": {"mode": "bad-records"}}) as tree:
        row = tree.wait_row("test-faulty", "bad records are counted", lambda row: row["bad_records"] >= 13)
        assert row["state"] == "running" and row["incarnation"] == 1, row
        assert len(tree.facts(msg="malformed lifeline record")) == 1


@tap.case
def an_actor_that_does_not_read_its_lifeline_blocks_no_other_and_gets_the_latest_records():
    with Tree({"test-faulty": {"mode": "no-read", "after": "10s"}, "test-faulty-core": {}}) as tree:
        tree.wait_running()
        for _ in range(250):        # more records than its socket holds
            assert tree.ask("level test-faulty debug") == {"ok": True}
            assert tree.ask("level test-faulty info") == {"ok": True}
        tree.ask("level test-faulty error")
        assert tree.actor("test-faulty")["state"] == "running"
        tree.wait_log("received: level error")
        assert re.findall(r"^received: level (\w+)$", tree.log(), re.M)[-1] == "error"
        assert 100 < tree.log().count("received: level") < 500, "some were replaced by newer ones"
        assert not tree.deaths("test-faulty")


@tap.case
def a_level_reaches_the_actor():
    with Tree({"test-faulty": {}}) as tree:
        tree.wait_running()
        assert tree.ask("level test-faulty debug") == {"ok": True}
        tree.wait_log("received: level debug")
        assert tree.ask("level all warn") == {"ok": True}
        tree.wait_log("received: level warn")
        tree.ask("restart test-faulty")
        wait_for(lambda: tree.actor("test-faulty")["incarnation"] == 2, "it restarts")
        assert tree.actor("test-faulty")["level"] == "warn", "a level outlives the incarnation"


@tap.case
def an_actor_whose_row_requires_the_tree_gets_it():
    with Tree({"metrics": ON, "test-faulty": {}}, stand_ins=["muster-metrics"]) as tree:
        tree.wait_running()
        tree.wait_log("tree: ", 2)
        os.kill(tree.actor("test-faulty")["pid"], signal.SIGKILL)
        seen = tree.log().count("tree: ")
        tree.wait_log("tree: ", seen + 1)


@tap.case
def an_actor_that_floods_its_lifeline_does_not_flood_the_log():
    """Its status is sent on with the tree, but not more than ten times a second."""
    started = time.monotonic()
    actors = {"metrics": ON, "test-faulty": {"mode": "flood-lifeline", "count": 500}}
    with Tree(actors, stand_ins=["muster-metrics"]) as tree:
        tree.wait_log("flood of the lifeline is over")
        row = tree.wait_row("test-faulty", "the last record", lambda row: row["status"] == "line 499")
        sent = tree.log().count("tree: ")
        assert sent <= 10 * (time.monotonic() - started) + 10, (sent, row)


class Unread(Tree):
    """Its stderr is a pipe that is never read."""

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
        wait_for(lambda: tree.supervisor().get("log_lines_dropped", 0) > 0, "lines dropped")
        row = tree.wait_state("test-faulty", "running")
        time.sleep(1)
        assert tree.actor("test-faulty")["pid"] == row["pid"] and tree.stop() == 0


@tap.case
def a_log_reader_that_does_not_read_blocks_no_actor():
    flood_unread()


@tap.case
def nor_does_one_whose_pipe_belongs_to_another_user():
    """It cannot be opened again, so O_NONBLOCK cannot be set."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise tap.Skip("needs root and setpriv")
    flood_unread(wrapper=["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"], owner="nobody",
                 supervisor={"user": ""})


if __name__ == "__main__":
    tap.main()
