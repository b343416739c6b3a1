"""tests/bus/test_metrics.py - /metrics, /healthz, /readyz of a real tree: always an answer, and a right one.

muster-test: needs=promtool
muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import http.client
import json
import os
import re
import signal
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import time

import muster
import procs
import tap
from kubecerts import Authority
from muster import Muster, wait_for
from samples import PRODUCER, Samples, consumer, pause, resident_kib

ONE, TWO = consumer(1), consumer(2)
TEXT = "text/plain; version=0.0.4; charset=utf-8"
SCRAPES = 1000


class Answer:
    def __init__(self, response):
        self.code, self.headers, self.body = response.status, response.headers, response.read().decode()


def address(run_dir, which):
    return (run_dir / "metrics" / f"{which}.addr").read_text().strip()


def get(run_dir, path, which="metrics", method="GET", body=None):
    host, _, port = address(run_dir, which).rpartition(":")
    connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, body)
        return Answer(connection.getresponse())


def samples_of(text):
    """{series: value} of an exposition; a line twice is a mistake of its own."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            assert series not in found, f"{series} is there twice"
            found[series] = float(value)
    return found


def promtool(page):
    check = subprocess.run(["promtool", "check", "metrics"], input=page, text=True, capture_output=True)
    assert check.returncode == 0 and not check.stdout + check.stderr, check.stdout + check.stderr


def metrics_section(**more):
    return {"metrics-bind-address": "127.0.0.1:0", "health-probe-bind-address": "127.0.0.1:0", **more}


def raw(run_dir, data, timeout=60):
    """Sends bytes, reads until the end."""
    host, _, port = address(run_dir, "metrics").rpartition(":")
    with socket.create_connection((host, int(port)), timeout) as s:
        s.sendall(data)
        answer = b""
        while part := s.recv(65536):
            answer += part
        return answer


@tap.case
def promtool_accepts_the_page():
    with Samples(consumers=2, producer={"keys": 100, "rate": 200}, metrics=True) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 100)
        wait_for(lambda: tree.metric("muster_bus_items_total", actor=PRODUCER, link="samples"), "figures")
        page = get(tree.run_dir, "/metrics")
        assert (page.code, page.headers["Content-Type"]) == (200, TEXT), (page.code, page.headers)
        promtool(page.body)
        found = samples_of(page.body)
        for name in tree.everyone():
            assert found[f'muster_actor_up{{actor="{name}"}}'] == 1
            assert found[f'muster_actor_resident_memory_bytes{{actor="{name}"}}'] > 1e6
            assert f'process_start_time_seconds{{actor="{name}"}}' in found, f"{name} reports no figures"
        families = re.findall(r"^# TYPE (\S+)", page.body, re.M)
        assert len(families) == len(set(families)), "a family is there twice"


@tap.case
def every_path_and_method():
    paths = [("/healthz", 200, "ok"), ("/readyz", 200, "ok"),
             ("/", 200, "<h1>muster"), ("/x", 404, "not found"), ("/metrics/", 404, ""),
             ("/readyz/actor/metrics", 200, "ok"), ("/readyz/actor/nobody", 404, ""),
             ("/healthz/loop", 200, "ok"),
             ("/readyz?verbose", 200, "[+]tree ok\n[+]actor/metrics ok\nreadyz check passed\n")]
    with Muster({"actors": {"metrics": metrics_section()}}) as tree:
        tree.wait_running()
        wait_for(lambda: get(tree.run_dir, "/readyz", "health").code == 200, "ready")
        for which in ("metrics", "health"):
            for path, code, words in paths:
                got = get(tree.run_dir, path, which)
                assert got.code == code and words in got.body, f"{which} {path}: {got.code} {got.body[:200]}"
        page = get(tree.run_dir, "/metrics")
        assert page.code == 200 and "muster_build_info" in page.body
        assert get(tree.run_dir, "/metrics", "health").code == 404, "/metrics is served on its own port only"
        head = get(tree.run_dir, "/metrics", method="HEAD")
        assert head.code == 200 and head.body == "" and int(head.headers["Content-Length"]) > 1000
        assert head.headers["Content-Type"] == TEXT
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            got = get(tree.run_dir, "/metrics", method=method)
            assert (got.code, got.headers["Allow"]) == (405, "GET, HEAD"), f"{method}: {got.code}"
        assert get(tree.run_dir, "/metrics", method="POST", body="x" * 100).code == 413
        page = get(tree.run_dir, "/")
        assert "<script" not in page.body and "<td>metrics</td><td>running</td>" in page.body
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]


@tap.case
def readiness_names_who_is_missing():
    config = {"actors": {"metrics": metrics_section(), "test-faulty": {"mode": "unsynced"}}}
    with Muster(config) as tree:
        tree.wait_running("metrics")
        wait_for(lambda: "running, but" in get(tree.run_dir, "/readyz").body, "the unsynced actor is named")
        got = get(tree.run_dir, "/readyz/actor/test-faulty", "health")
        assert got.code == 503 and "[-]actor/test-faulty failed: running, but" in got.body, got.body
        assert get(tree.run_dir, "/readyz/actor/metrics").code == 200
        assert get(tree.run_dir, "/healthz").code == 200, "alive is not ready"
        config["actors"]["test-faulty"] = {"mode": "config"}
        tree.configure(config)
        tree.signal(signal.SIGHUP)
        gave_up = "[-]actor/test-faulty failed: failed"
        wait_for(lambda: gave_up in get(tree.run_dir, "/readyz").body, "it has failed")
        assert samples_of(get(tree.run_dir, "/metrics").body)['muster_actor_up{actor="test-faulty"}'] == 0
        config["actors"]["test-faulty"] = {"mode": "ok"}
        tree.configure(config)
        tree.signal(signal.SIGHUP)
        wait_for(lambda: get(tree.run_dir, "/readyz").code == 200, "ready once all run")


@tap.case
def a_thousand_scrapes_while_actors_die():
    with Samples(consumers=2, producer={"keys": 50, "rate": 100}, metrics=True) as tree:
        tree.wait_running()
        series = f'process_start_time_seconds{{actor="{ONE}"}}'
        wait_for(lambda: series in tree.scrape(), "the consumer's figures")
        scrapes, deaths, held, killed = 0, 0, 0, 0
        while scrapes < SCRAPES or deaths < 3:
            row = tree.actor(ONE)
            if scrapes % 50 == 0 and row["state"] == "running" and row["incarnation"] > killed:
                killed = tree.kill(ONE)
                deaths += 1
            scrapes += 1
            page = get(tree.run_dir, "/metrics")
            assert page.code == 200, f"scrape {scrapes}: {page.code}"
            found = samples_of(page.body)
            assert series in found, f"scrape {scrapes}: the series of the dead actor are gone"
            held += found[f'muster_actor_up{{actor="{ONE}"}}'] == 0
        tap.note(f"{scrapes} scrapes, {held} of them while it was down, {deaths} deaths")
        assert held > 0, "it was never seen down: nothing was tested"
        tree.wait_restarted(ONE, killed)        # not wait_running: its death may not have been seen yet
        wait_for(lambda: tree.metric("muster_actor_restarts_total", actor=ONE) == deaths, "the count")
        assert tree.metric("muster_actor_deaths_total", actor=ONE) == deaths
        assert tree.metric("muster_supervisor_deaths_total", cause="signal") == deaths
        assert tree.metric("muster_metrics_scrapes_total") > SCRAPES
        assert tree.actor("metrics")["restarts"] == 0


@tap.case
def counters_of_a_restarted_actor_start_again():
    with Samples(consumers=1, producer={"keys": 50, "rate": 500}, metrics=True) as tree:
        tree.wait_running()

        def taken():
            return tree.metric("muster_bus_items_total", actor=ONE, link="samples") or 0
        wait_for(lambda: taken() > 2000, "the consumer has taken items")
        before = tree.metric("process_start_time_seconds", actor=ONE)
        tree.settle()       # so that the new one counts a snapshot, and nothing after it
        tree.wait_restarted(ONE, tree.kill(ONE))
        wait_for(lambda: 0 < taken() < 2000, "the counter fell")
        wait_for(lambda: tree.metric("process_start_time_seconds", actor=ONE) > before, "it started later")


@tap.case
def a_restarted_metrics_actor_has_every_family_again():
    with Samples(consumers=1, producer={"keys": 50, "rate": 10}, metrics=True) as tree:
        tree.wait_running()
        wait_for(lambda: tree.metric("muster_link_keys", actor=PRODUCER, link="samples") == 50, "figures")
        before = {s.split("{")[0] for s in tree.scrape()}
        tree.wait_restarted("metrics", tree.kill("metrics"))
        wait_for(lambda: before <= {s.split("{")[0] for s in tree.scrape()}, "every family is back")


@tap.case
def an_actor_that_is_switched_off_disappears():
    with Samples(consumers=2, producer={"keys": 5}, metrics=True) as tree:
        tree.wait_running()

        def is_shown(name):
            return any(f'actor="{name}"' in series for series in tree.scrape())
        wait_for(lambda: is_shown(TWO) and is_shown(ONE), "figures of both")
        tree.consumers = [ONE]
        tree.write()
        tree.signal(signal.SIGHUP)
        wait_for(lambda: not is_shown(TWO), "the series of the second consumer are gone")
        assert is_shown(ONE)
        assert get(tree.run_dir, f"/readyz/actor/{TWO}").code == 404
        tree.consumers = [ONE, TWO]
        tree.write()
        tree.signal(signal.SIGHUP)
        tree.wait_running()
        wait_for(lambda: is_shown(TWO), "it is back")


@tap.case
def a_taken_port_is_a_configuration_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for setting in ("metrics-bind-address", "health-probe-bind-address"):
            with Muster({"actors": {"metrics": metrics_section(**{setting: f"127.0.0.1:{port}"})}}) as tree:
                wait_for(lambda: tree.actors().get("metrics", {}).get("state") == "failed", "it fails")
                line = tree.facts(actor="metrics", msg="cannot serve")[0]
                assert line["key"] == setting and line["address"] == f"127.0.0.1:{port}", line
                assert "in use" in line["cause"] and line["hint"], line
                row = tree.actor("metrics")
                assert row["incarnation"] == 1 and "100" in row["last_exit"], row


@tap.case
def forms_of_an_address():
    forms = {":0": r"\[::\]:\d+|0\.0\.0\.0:\d+", "localhost:0": r"127\.0\.0\.1:\d+|\[::1\]:\d+"}
    if os.path.exists("/proc/net/if_inet6") and "lo" in open("/proc/net/if_inet6").read():
        forms["[::1]:0"] = r"\[::1\]:\d+"
    for form, want in forms.items():
        with Muster({"actors": {"metrics": metrics_section(**{"metrics-bind-address": form})}}) as tree:
            tree.wait_running()
            bound = address(tree.run_dir, "metrics")
            assert re.fullmatch(want, bound), f"{form}: {bound}"
            port = int(bound.rpartition(":")[2])
            for host in ("127.0.0.1",) if form == ":0" else (bound.rpartition(":")[0].strip("[]"),):
                with socket.create_connection((host, port), 10):
                    pass
            assert get(tree.run_dir, "/healthz").code == 200
            assert bound in tree.actor("metrics")["status"]
            assert tree.facts(actor="metrics", msg="serving", address=bound)


@tap.case
def idle_connections_do_not_keep_others_out():
    with Muster({"actors": {"metrics": metrics_section()}}) as tree:
        tree.wait_running()
        host, _, port = address(tree.run_dir, "metrics").rpartition(":")
        with contextlib.ExitStack() as idle:
            peers = [idle.enter_context(socket.create_connection((host, int(port)), 10)) for _ in range(200)]
            for s in peers[::2]:
                s.sendall(b"GET / HTTP/1.1\r\nX: ")     # half of them with half a request
            for _ in range(5):
                assert get(tree.run_dir, "/healthz").code == 200
        for _ in range(5):
            assert get(tree.run_dir, "/metrics").code == 200
        assert tree.actor("metrics")["restarts"] == 0


@tap.case
def clients_that_do_not_read_share_one_body():
    """Issue 10.7: with a copy for each of them they would take many times the limit of the actor."""
    with Samples(consumers=0, producer={"keys": 5, "series": 1500}, metrics=True, patient=True) as tree:
        tree.wait_running()
        wait_for(lambda: len(get(tree.run_dir, "/metrics").body) > 7_000_000, "the large page")
        page_kib = len(get(tree.run_dir, "/metrics").body) // 1024
        pid = tree.pid("metrics")
        before = resident_kib(pid)
        with contextlib.ExitStack() as idle:
            for which in ("metrics", "health"):
                host, _, port = address(tree.run_dir, which).rpartition(":")
                for _ in range(31):
                    s = idle.enter_context(socket.socket())
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    s.settimeout(60)
                    s.connect((host, int(port)))
                    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                    pause(0.05)         # several bodies, if each were made when it is asked for
            grown = resident_kib(pid) - before
            assert get(tree.run_dir, "/healthz", "health").code == 200
            assert get(tree.run_dir, "/readyz", "health").code == 200
            assert len(get(tree.run_dir, "/metrics").body) > 7_000_000, "a client that reads gets it all"
        row = tree.actor("metrics")
        assert row["restarts"] == 0 and row["pid"] == pid, row
        tap.note(f"a page of {page_kib} KiB, 62 clients: {grown} KiB more")
        assert grown < 3 * page_kib, f"{grown} KiB more for clients that do not read a page of {page_kib} KiB"


@tap.case
def a_request_has_limits():
    with Muster({"actors": {"metrics": metrics_section()}}) as tree:
        tree.wait_running()
        large = raw(tree.run_dir, b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n")
        assert b" 200 " not in large.split(b"\r\n")[0], large[:80]
        for junk in (b"\r\n\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     os.urandom(4000) + b"\r\n\r\n", b"GET " + b"/" * 7000 + b" HTTP/1.1\r\n\r\n",
                     b"GET /%zz?&&&== HTTP/1.1\r\nHost: x\r\n\r\n", b"GET http://[::1 HTTP/1.1\r\n\r\n",
                     b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"):
            with contextlib.suppress(ConnectionError):
                raw(tree.run_dir, junk)
        started = time.monotonic()
        raw(tree.run_dir, b"GET / HTTP/1.1\r\nX: ")      # never finished: the server closes it
        tap.note(f"half a request was closed after {time.monotonic() - started:.1f} s")
        assert get(tree.run_dir, "/metrics").code == 200
        assert tree.actor("metrics")["restarts"] == 0, tree.log()[-3000:]


@tap.case
def metrics_over_tls():
    """--metrics-secure: TLS 1.2 and newer, a certificate that changes; the probes stay plain."""
    with tempfile.TemporaryDirectory(prefix="muster-", dir="/tmp") as folder:
        folder = muster.pathlib.Path(folder)
        authority, served = Authority(folder / "ca"), folder / "tls"
        served.mkdir()

        def install(name):
            pair = authority.sign(name, names="IP:127.0.0.1")
            for source, target in ((pair.key, "tls.key"), (pair.certificate, "tls.crt")):
                shutil.copy(source, served / f".{target}")
                os.rename(served / f".{target}", served / target)

        def handshake(newest=ssl.TLSVersion.TLSv1_3):
            """(answer, name in the server's certificate)"""
            trust = ssl.create_default_context(cafile=authority.certificate)
            trust.minimum_version, trust.maximum_version = ssl.TLSVersion.TLSv1, newest
            trust.set_ciphers("ALL:@SECLEVEL=0")
            host, _, port = address(tree.run_dir, "metrics").rpartition(":")
            with socket.create_connection((host, int(port)), 60) as plain:
                with trust.wrap_socket(plain, server_hostname="127.0.0.1") as s:
                    name = dict(x[0] for x in s.getpeercert()["subject"])["commonName"]
                    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                    answer = b""
                    with contextlib.suppress(ssl.SSLError):     # it ends without a close_notify
                        while part := s.recv(65536):
                            answer += part
                    return answer, name

        install("first")
        with Muster({"actors": {"metrics": metrics_section(**{"tls-dir": str(served)})}}) as tree:
            tree.wait_running()
            for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                answer, name = handshake(newest)
                assert answer.startswith(b"HTTP/1.1 200") and b"\n# TYPE muster_" in answer, answer[:200]
                assert name == "first", name
            try:
                handshake(ssl.TLSVersion.TLSv1_1)
                raise AssertionError("TLS 1.1 was accepted")
            except ssl.SSLError as refused:
                assert "version" in str(refused).lower() or "alert" in str(refused).lower(), refused
            with contextlib.suppress(ConnectionError):
                assert b"200 OK" not in raw(tree.run_dir, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            host, _, port = address(tree.run_dir, "metrics").rpartition(":")
            with contextlib.ExitStack() as idle:        # no handshake, half a handshake
                for n in range(100):
                    s = idle.enter_context(socket.create_connection((host, int(port)), 10))
                    s.sendall(b"\x16\x03\x01" if n % 2 else b"")
                for _ in range(3):
                    assert handshake()[0].startswith(b"HTTP/1.1 200")
                    assert get(tree.run_dir, "/healthz", "health").code == 200
            for _ in range(20):     # gone before the answer: OpenSSL's write must not end the process
                with socket.create_connection((host, int(port)), 60) as plain:
                    trust = ssl.create_default_context(cafile=authority.certificate)
                    with trust.wrap_socket(plain, server_hostname="127.0.0.1") as s:
                        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            install("second")
            assert handshake()[1] == "second"
            wait_for(lambda: tree.facts(actor="metrics", msg="certificate of the metrics reloaded"),
                     "the log line")
            (served / "tls.key").write_text("no key")
            assert handshake()[1] == "second", "the last good pair stays"
            refused = "new certificate of the metrics refused, the previous one is served"
            wait_for(lambda: tree.facts(actor="metrics", msg=refused), "the refusal is logged")
            assert tree.actor("metrics")["restarts"] == 0, tree.log()[-3000:]


class FakeSupervisor:
    """muster-metrics alone, with the test in the place of the supervisor: it sends any record."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="muster-", dir="/tmp")
        self.run_dir = muster.pathlib.Path(self.folder.name)
        (self.run_dir / "metrics").mkdir(0o700)
        self.lifeline, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def arrange():
            procs.die_with_parent()
            os.dup2(theirs.fileno(), 3)
        self.process = subprocess.Popen([str(muster.BIN / "muster-metrics"), "metrics"], preexec_fn=arrange,
                                        pass_fds=(3,), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=dict(os.environ, ZSYS_SIGHANDLER="false"))
        theirs.close()
        self.send(f"boot name=metrics incarnation=1 run-dir={self.run_dir} level=info"
                  " format=json beat-ms=1000 instance=here_1 syscalls=own,bind")
        self.send("config metrics-bind-address=127.0.0.1:0\nhealth-probe-bind-address=127.0.0.1:0\n"
                  "tls-dir=\ntls-cert-name=tls.crt\ntls-key-name=tls.key\n")
        self.send("go")

    def __enter__(self):
        wait_for((self.run_dir / "metrics" / "health.addr").exists, "it serves")
        return self

    def __exit__(self, *_):
        self.lifeline.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.folder.cleanup()

    def send(self, text):
        self.lifeline.send(text.encode(errors="surrogateescape"))

    def value(self, family):
        return samples_of(get(self.run_dir, "/metrics").body).get(family)


@tap.case
def a_hostile_tree_is_refused_and_counted():
    actor = {"name": "a", "pid": 9, "state": "running", "incarnation": 1, "restarts": 0, "last_exit": None,
             "uptime_s": 1, "rss_kib": 1, "synced": True, "mailbox": 0}
    good = {"supervisor": {"pid": 1, "state": "running", "uptime_s": 1, "version": "x"}, "actors": [actor]}
    lists = [[{**actor, "pid": "9"}], [actor, actor], None, [{**actor, "name": "n" * 1000}], [actor] * 1000]
    bad = ["", "{", "[]", "null", "x" * 60000, "[" * 60000, '{"actors":[]}', json.dumps(good)[:-1]]
    bad += [json.dumps({**good, "actors": actors})[:65000] for actors in lists]
    with FakeSupervisor() as it:
        assert get(it.run_dir, "/readyz").code == 503, "ready without any tree"
        it.send("tree " + json.dumps(good))
        wait_for(lambda: get(it.run_dir, "/readyz").code == 200, "the tree is there")
        for text in bad:
            it.send("tree " + text)
        wait_for(lambda: it.value("muster_metrics_status_rejected_total") == len(bad), "each is counted")
        assert it.value('muster_actor_up{actor="a"}') == 1, "the good tree was lost"
        hostile = {**actor, "name": 'x"}\n<b>&\\', "state": "<script>"}
        it.send("tree " + json.dumps({**good, "actors": [hostile]}))
        wait_for(lambda: "&lt;script&gt;" in get(it.run_dir, "/").body, "the hostile names are shown")
        page = get(it.run_dir, "/metrics").body
        promtool(page)
        assert "<script" not in get(it.run_dir, "/").body and it.process.poll() is None


@tap.case
def it_ends_with_its_supervisor():
    with FakeSupervisor() as it:
        it.lifeline.close()
        it.process.wait(60)


tap.main()
