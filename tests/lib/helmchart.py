"""tests/lib/helmchart.py - the chart of deploy/helm, rendered by the real helm.

    text = template({"actors": {"lke-claimer": {"enabled": True}}}, release="lke")
    template({"replicas": 0}, fails=True)               # how helm refuses a wrong value
"""
import json
import subprocess
import tempfile

import kubetools
from muster import ROOT

CHART = ROOT / "deploy/helm/muster"
NAMESPACE = "muster-system"
ACTORS = ("kube-watcher", "node-state", "insight", "lke-claimer", "vpsie-claimer", "capa-annotator",
          "vip-claimer", "metrics")


def template(values=None, release="muster", namespace=NAMESPACE, fails=False):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values or {}, file)
        file.flush()
        done = subprocess.run(
            [kubetools.path("helm"), "template", release, str(CHART), "--namespace", namespace,
             "--kube-version", kubetools.KUBERNETES, "--values", file.name],
            text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert (done.returncode != 0) == fails, f"{values}: exit code {done.returncode}, {done.stderr}"
    return done.stderr if fails else done.stdout


def only(*actors, **settings):
    """Values for these actors, and no other but kube-watcher and metrics. settings: of the first."""
    rows = {name: {"enabled": name in actors or name in ("kube-watcher", "metrics")} for name in ACTORS}
    rows[actors[0]].update(settings)
    return {"actors": rows}
