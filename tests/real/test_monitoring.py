"""tests/real/test_monitoring.py - the alerts and the dashboard, on what /metrics of the demo had.

The demo of all scenes runs once and its page is recorded; a real Prometheus with the shipped rules scrapes
that page, and every query of the dashboard is asked.

muster-test: parallel
muster-test: timeout=900
"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

LIB = pathlib.Path(__file__).resolve().parents[1] / "lib"
sys.path.insert(0, str(LIB))
import kubetools
import muster
import procs
import tap
from muster import ROOT, wait_for

MONITORING = ROOT / "deploy/monitoring"
PROMTOOL = ROOT / "build/tools/promtool"
VARIABLES = {"$instance": ".*", "$__rate_interval": "10s"}
# Series that an undisturbed demo does not have: the query counts what goes wrong.
QUIET = ("muster_skipped_objects",)
place = tempfile.TemporaryDirectory(prefix="monitoring-", dir="/tmp")
FOLDER = pathlib.Path(place.name)
PAGE, RULES = FOLDER / "metrics.txt", FOLDER / "rules.yml"


def spec():
    """What Prometheus reads of the PrometheusRule: its spec, two columns to the left."""
    text = (MONITORING / "rules.yaml").read_text().split("\nspec:\n")[1]
    return re.sub(r"^  ", "", text, flags=re.M)


def alerts():
    return re.findall(r"- alert: (\w+)", spec())


def queries():
    """(panel, expression with its variables replaced), of every panel."""
    for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression


@tap.case
def promtool_accepts_the_rules():
    RULES.write_text(spec())
    promtool = str(PROMTOOL) if PROMTOOL.exists() else "promtool"
    done = subprocess.run([promtool, "check", "rules", str(RULES)], text=True, capture_output=True)
    assert done.returncode == 0 and f"{len(alerts())} rules found" in done.stdout, done
    RULES.with_suffix(".bad").write_text(spec().replace("muster_actor_up == 0", "muster_actor_up =="))
    done = subprocess.run([promtool, "check", "rules", str(RULES.with_suffix(".bad"))], text=True,
                          capture_output=True)
    assert done.returncode != 0, done


@tap.case
def names_of_the_queries_are_documented():
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs/metrics.md").read_text()))
    used = set(re.findall(r"\b((?:muster|oue|capi|workqueue|rest_client|leader_election|process)_\w+)",
                          spec() + " ".join(expression for _, expression in queries())))
    unknown = {name for name in used if re.sub(r"_(bucket|sum|count)$", "", name) not in documented}
    assert not unknown, unknown


@tap.case
def the_demo_gives_its_page():
    done = subprocess.run([sys.executable, str(LIB / "demo.py"), "--json", "--record-metrics", str(PAGE)],
                          text=True, capture_output=True, timeout=600, stdin=subprocess.DEVNULL,
                          preexec_fn=procs.die_with_parent)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "muster_build_info" in PAGE.read_text()


@contextlib.contextmanager
def serving():
    """The recorded page, on a port of its own."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.end_headers()
            self.wfile.write(PAGE.read_bytes())

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextlib.contextmanager
def prometheus(target):
    """The URL of a Prometheus with the shipped rules that scrapes that target."""
    program = kubetools.path("prometheus")
    (FOLDER / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(RULES)],
        "scrape_configs": [{"job_name": "muster", "static_configs": [{"targets": [target]}]}]}))
    port = muster.free_port()
    with open(FOLDER / "prometheus.log", "wb") as log:
        process = subprocess.Popen(
            [program, f"--config.file={FOLDER}/prometheus.yml", f"--storage.tsdb.path={FOLDER}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=dict(os.environ, GOMAXPROCS="1"), preexec_fn=procs.die_with_parent)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: asked(url, "count_over_time(muster_build_info[1h]) >= 4"), "four scrapes", 120)
        yield url
    except AssertionError:
        tap.note((FOLDER / "prometheus.log").read_text()[-3000:])
        raise
    finally:
        process.kill()
        process.wait()


def call(url, path, **query):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
        return json.load(answer)["data"]


def asked(url, query):
    """The series of a query; none while it does not answer."""
    try:
        return call(url, "query", query=query)["result"]
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{query}: {error.read().decode()}") from None
    except OSError:
        return []


@tap.case
def every_query_of_the_dashboard_returns_series():
    with serving() as target, prometheus(target) as url:
        empty = [(title, query) for title, query in queries() if not asked(url, query)
                 and not any(name in query for name in QUIET)]
        assert not empty, f"no series: {empty}"
        loaded = [rule for group in call(url, "rules")["groups"] for rule in group["rules"]]
        assert sorted(rule["name"] for rule in loaded) == sorted(alerts())
        wait_for(lambda: all(rule["health"] == "ok" for group in call(url, "rules")["groups"]
                             for rule in group["rules"]), "every rule was evaluated", 60)
        firing = {alert["labels"]["alertname"] for alert in call(url, "alerts")["alerts"]}
        tap.note(f"{len(list(queries()))} queries, {len(loaded)} rules, pending or firing: "
                 f"{firing or 'none'}")
        assert not firing, firing


tap.main()
