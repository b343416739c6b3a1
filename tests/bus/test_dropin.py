"""tests/bus/test_dropin.py - musterd in the place of node-state-controller: flags, Lease, insights.

muster-test: parallel
muster-test: timeout=600
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import rolloutcrds
import rolloutworld
import tap
from kubeservers import SimServer
from muster import BIN, USER, Muster, wait_for

NAME = "node-state-controller"
LEASE = "f729794d.muller.dev"
REMOVED = "--enable-node-state-controller=true"
ACTORS = ("kube-watcher", "node-state", "insight", "metrics")
ANY = "127.0.0.1:0"


class DropIn(Muster):
    """As a Deployment of the original runs it: a name, flags, no file."""

    def __init__(self, *flags, command=(str(BIN / NAME),)):
        super().__init__("")
        self.config.unlink()
        self.command = [*command, *flags, *(f"--{name}={value}" for name, value in USER.items())]
        self.env["MUSTER_RUN_DIR"] = str(self.run_dir)

    def address(self, which):
        return self.run_dir / "metrics" / f"{which}.addr"

    def get(self, which, path):
        url = f"http://{self.address(which).read_text().strip()}{path}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.read().decode()


def run(*words):
    """For calls that end by themselves, before they would need a run directory."""
    return subprocess.run(list(map(str, words)), text=True, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, MUSTER_RUN_DIR="/nonexistent"))


def cluster_flags(server):
    return ["--kubeconfig", str(server.kubeconfig), "--zap-encoder=json"]


def written(server, resource):
    """Names of those that have a status."""
    return {item["metadata"]["name"] for item in server.kube.list(resource)["items"] if item.get("status")}


@tap.case
def B7_the_removed_flag_is_unknown_and_named():
    for command in ([BIN / NAME], [BIN / "musterd", NAME]):
        got = run(*command, "--leader-elect", REMOVED)
        lines = got.stderr.splitlines()
        assert got.returncode == 2 and got.stdout == "", got
        assert lines[0] == "flag provided but not defined: -enable-node-state-controller", lines[0]
        assert "--enable-node-controller" in lines[1] and "docs/migration.md" in lines[1], lines[1]
        assert lines[2] == f"Usage of {NAME}:", lines[2]


@tap.case
def help_and_the_flags_as_a_file():
    got = run(BIN / NAME, "-h")
    assert got.returncode == 0 and "-health-probe-bind-address string" in got.stdout, got
    got = run(BIN / NAME, "--print-config", "--leader-elect", "--enable-machine-config-pool-controller=f")
    assert got.returncode == 0 and "    leader-elect: true\n" in got.stdout, got
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(got.stdout)
        file.flush()
        check = run(BIN / "muster", "check", file.name)
        assert check.returncode == 0, check
        assert "node-state       on, because insight needs it" in check.stdout, check


@tap.case
def what_cannot_be_is_refused_with_what_to_do():
    off = [f"--enable-{which}-controller=false"
           for which in ("node", "machine-config-pool", "cluster-version", "cluster-operator")]
    secure = ["--metrics-bind-address=:8443", "--metrics-secure=true"]
    for flags, words in ((off, "all four controllers are disabled"), (off[:2], "muster does not have"),
                         (secure, "--metrics-secure=false")):
        got = run(BIN / NAME, *flags)
        assert got.returncode == 100 and words in got.stderr and "Usage" not in got.stderr, got


@tap.case
def root_has_to_choose_a_user_and_the_flag_is_named():
    """(issue 10.2)"""
    if USER:
        got = run(BIN / NAME, "--health-probe-bind-address=0")
        assert got.returncode == 100 and "supervisor.user" in got.stderr and "--user" in got.stderr, got
    got = run(BIN / NAME, "--print-config", "--user=someone")
    assert got.returncode == 0 and '  user: "someone"\n' in got.stdout, got


@tap.case
def B7_a_missing_dependency_stops_the_start_naming_both():
    with Muster({"actors": {"insight": {"enabled": True}, "node-state": {"enabled": False}}}) as tree:
        assert tree.wait_exit() == 100
        assert "actor insight needs node-state" in tree.log(), tree.log()


@tap.case
def the_file_of_a_wrong_group_is_refused():
    with Muster({"actors": {"kube-watcher": {"insight-group": "Not A Domain"}}}) as tree:
        assert tree.wait_exit() == 100
        assert "insight-group" in tree.log() and "is not a domain" in tree.log(), tree.log()


@tap.case
def B7_it_runs_as_the_original_and_logs_what_it_enabled():
    with SimServer() as server:
        rolloutcrds.install(server)
        rolloutworld.populate(server, [rolloutworld.node("w1"), rolloutworld.node("m1", "master")])
        flags = [*cluster_flags(server), "--leader-elect", f"--metrics-bind-address={ANY}",
                 "--metrics-secure=false", f"--health-probe-bind-address={ANY}",
                 "--enable-cluster-operator-controller=false"]
        with DropIn(*flags) as tree:
            tree.wait_running(*ACTORS)
            why = tree.facts(msg="actor enabled, because another needs it")
            assert [(f["actor"], f["needs"]) for f in why] == [("node-state", "insight")], why
            lost = tree.facts(msg="these insights are not kept by muster")
            assert [f["key"] for f in lost] == ["ClusterVersionProgressInsight"], lost
            for resource, names in ((rolloutcrds.NODE_INSIGHTS, {"m1", "w1"}),
                                    (rolloutcrds.POOL_INSIGHTS, {"master", "worker"})):
                wait_for(lambda: names == written(server, resource), f"{resource} of {names}")
            assert server.kube.get("leases", LEASE, "default")["spec"]["holderIdentity"]
            wait_for(lambda: tree.get("health", "/readyz?verbose").endswith("readyz check passed\n"), "ready")
            wait_for(lambda: "oue_active_node_states" in tree.get("metrics", "/metrics"), "its figures")
            assert tree.stop() == 0


@tap.case
def an_address_is_left_off():
    with SimServer() as server:
        with DropIn(*cluster_flags(server), f"--health-probe-bind-address={ANY}") as tree:
            tree.wait_running(*ACTORS)
            assert tree.address("health").exists() and not tree.address("metrics").exists()
            assert tree.facts(msg="not served: its address is off", key="metrics-bind-address")
            tree.signal(signal.SIGHUP)
            wait_for(lambda: tree.facts(msg="configuration read again"), "the reload")
            assert tree.actor("metrics")["restarts"] == 0 and not tree.facts(msg="actor disabled")
        with DropIn(*cluster_flags(server), "--health-probe-bind-address=0") as tree:
            tree.wait_running(*ACTORS)
            assert not list((tree.run_dir / "metrics").glob("*.addr"))
            wait_for(lambda: "nothing is served" in json.dumps(tree.actor("metrics")), "its status shows it")
            assert tree.stop() == 0


@tap.case
def the_file_of_an_address_that_is_switched_off_is_removed():
    section = {"metrics-bind-address": ANY, "health-probe-bind-address": ANY}
    with Muster({"actors": {"metrics": section}}) as tree:
        tree.wait_running()
        address = tree.run_dir / "metrics" / "metrics.addr"
        assert address.exists()
        tree.configure({"actors": {"metrics": {**section, "metrics-bind-address": "off"}}})
        tree.signal(signal.SIGHUP)
        wait_for(lambda: tree.facts(msg="not served: its address is off"), "the new configuration")
        wait_for(lambda: not address.exists(), "the file of the address is gone")
        tree.wait_running()


tap.main()
