"""tests/bus/test_dropin_capa.py - musterd in the place of capa-annotator: F5, FR8, health, metrics, Lease.

muster-test: parallel
muster-test: timeout=300
"""
import os
import pathlib
import subprocess
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capacrds
import tap
from capatree import M5_LARGE, Aws, World, ours
from muster import BIN, USER, Muster, wait_for

NAME, LEASE = "capa-annotator", "capa-annotator-leader"
ANY = "127.0.0.1:0"


class DropIn(Muster):
    """As a Deployment of the original runs it: a name, flags, the web identity, no file."""

    def __init__(self, aws, *flags):
        super().__init__("", env=aws.identity())
        self.config.unlink()
        self.command = [str(BIN / NAME), "--kubeconfig", str(aws.server.kubeconfig),
                        f"--metrics-bind-address={ANY}", f"--health-addr={ANY}", *flags,
                        *(f"--{name}={value}" for name, value in USER.items())]
        self.env["MUSTER_RUN_DIR"] = str(self.run_dir)

    def get(self, which, path):
        address = self.run_dir / "metrics" / f"{which}.addr"
        with urllib.request.urlopen(f"http://{address.read_text().strip()}{path}", timeout=20) as answer:
            return answer.read().decode()


@tap.case
def F5_FR8_AC14_AC15_it_annotates_serves_health_and_metrics_and_holds_the_Lease_of_the_original():
    with Aws() as aws:
        aws.server.install(*capacrds.crds())
        for name in ("team-a", "team-b"):
            aws.server.kube.create("namespaces", {"metadata": {"name": name}})
        a, b = World(aws.server, "team-a"), World(aws.server, "team-b")
        for world in (a, b):
            world.cluster("prod", "eu-west-1")
            world.deployment("web", "m5.large")
        flags = ("--leader-elect", "--leader-elect-lease-duration=15s", "--namespace=team-a",
                 "--leader-elect-resource-namespace=team-b", "-v=2")
        with DropIn(aws, *flags) as tree:
            tree.wait_running(NAME, "kube-watcher", "metrics")
            a.wait_annotated("web", M5_LARGE)
            assert ours(b.annotations("web")) == {}, "FR8.2"
            lease = aws.server.kube.get("leases", LEASE, "team-b")["spec"]
            assert lease["leaseDurationSeconds"] == 15 and lease["holderIdentity"], lease
            wait_for(lambda: tree.get("health", "/readyz").endswith("ok"), "it is ready")
            assert tree.get("health", "/healthz"), "it is healthy"
            wait_for(lambda: "muster_capa_machinedeployments" in tree.get("metrics", "/metrics"),
                     "its figures")
            assert tree.stop() == 0


@tap.case
def FR8_6_feature_gates_is_an_unknown_flag():
    done = subprocess.run([BIN / NAME, "--feature-gates=A=true"], text=True, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, MUSTER_RUN_DIR="/nonexistent"))
    assert done.returncode == 2 and "flag provided but not defined: -feature-gates" in done.stderr, done


tap.main()
