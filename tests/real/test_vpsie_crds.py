"""tests/real/test_vpsie_crds.py - D15, D22: what a real server accepts and completes with the CRDs of VPSie.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
from kube import RESOURCES, Resource
from kubeservers import RealServer
from kubesuite import case, expect_error
from muster import ROOT

BASE = "apis/autoscaler.vpsie.com/v1alpha1"
GROUPS, NODES = "nodegroups", "vpsienodes"
RESOURCES[GROUPS] = Resource(BASE, "NodeGroup", namespaced=True)
RESOURCES[NODES] = Resource(BASE, "VPSieNode", namespaced=True)
FILES = [ROOT / "deploy/crds" / f"{name}.yaml" for name in (GROUPS, NODES)]
WHEN = "2026-01-09T10:01:00Z"

# A VPSieNode as the original controller leaves it (D22).
ORIGINAL = {
    "vpsieInstanceID": 0, "instanceType": "small", "nodeGroupName": "web", "datacenterID": "dc-1",
    "resourceIdentifier": "c1", "project": "p", "osImageID": "o", "kubernetesVersion": "v1.30.0",
    "sshKeyIDs": ["k"], "nodeName": "n1", "ipAddress": "10.0.0.5", "ipv6Address": "", "vpsieGroupID": 77,
    "vpsieNodeIdentifier": "u1",
}
STATUS = {
    "phase": "Ready", "nodeName": "n1", "vpsieStatus": "running", "hostname": "h",
    "resources": {"cpu": 2, "memoryMB": 4096, "diskGB": 80, "bandwidthGB": 3000}, "createdAt": WHEN,
    "provisionedAt": WHEN, "joinedAt": WHEN, "readyAt": WHEN, "lastError": "", "observedGeneration": 1,
    "conditions": [{"type": "NodeReady", "status": "True", "reason": "Ready", "message": "",
                    "lastTransitionTime": WHEN, "lastUpdateTime": WHEN}],
}
DEFAULTS = {
    "scaleUpPolicy": {"stabilizationWindowSeconds": 60, "cpuThreshold": 80, "memoryThreshold": 80},
    "scaleDownPolicy": {"stabilizationWindowSeconds": 600, "cpuThreshold": 50, "memoryThreshold": 50,
                        "cooldownSeconds": 600},
    "spotConfig": {"maxSpotPercentage": 80, "interruptionGracePeriod": "120s", "allowedInterruptionRate": 20},
    "multiRegion": {"distributionStrategy": "balanced", "minNodesPerRegion": 1},
    "costOptimization": {"strategy": "auto", "optimizationInterval": "24h", "minMonthlySavings": 10,
                         "maxPerformanceImpact": 5},
}


def create(server, resource, name, spec):
    return server.kube.create(resource, {"metadata": {"name": name, "namespace": "default"}, "spec": spec},
                              namespace="default")


@case
def the_server_finds_nothing_to_warn_about(server):
    for path in FILES:
        applied = server.kubectl("apply", "--dry-run=server", "-f", path)
        lines = [line for line in applied.stderr.splitlines() if "last-applied-configuration" not in line]
        assert applied.returncode == 0 and not lines, applied.stderr


@case
def D15_a_NodeGroup_gets_the_defaults_of_the_original(server):
    policies = {name: {} for name in DEFAULTS}
    made = create(server, GROUPS, "web", {"minNodes": 1, "maxNodes": 5, "kubeSizeID": 3, **policies})
    got = {name: made["spec"][name] for name in DEFAULTS}
    assert got == DEFAULTS, got
    # min > max is not for the schema: the controller answers with a condition that has words.
    create(server, GROUPS, "odd", {"minNodes": 5, "maxNodes": 1})
    expect_error(422, "Invalid", create, server, GROUPS, "bad", {"minNodes": -1, "maxNodes": 1})
    expect_error(422, "Invalid", create, server, GROUPS, "bad", {"minNodes": 1})


@case
def D22_an_object_of_the_original_is_kept_whole(server):
    made = create(server, NODES, "web-1", ORIGINAL)
    assert made["spec"] == ORIGINAL, made["spec"]
    body = {"metadata": made["metadata"], "spec": made["spec"], "status": STATUS}
    answer = server.kube.replace(NODES, body, sub="status", namespace="default")
    assert answer["status"] == STATUS, answer["status"]
    body = {**body, "metadata": answer["metadata"], "status": {**STATUS, "phase": "Sleeping"}}
    expect_error(422, "Invalid", server.kube.replace, NODES, body, sub="status", namespace="default")


@case
def kubectl_has_short_names_and_columns(server):
    for short, head in (("ng", ["NAME", "MIN", "MAX", "DESIRED", "CURRENT", "READY", "AGE"]),
                        ("vns", ["NAME", "PHASE", "NODE", "VPS", "IP", "NODEGROUP", "AGE"])):
        shown = server.kubectl("get", short, "-n", "default")
        assert shown.returncode == 0, shown.stderr
        print("\n".join(f"# {line}" for line in shown.stdout.splitlines()), flush=True)
        assert shown.stdout.splitlines()[0].split() == head, shown.stdout


kubesuite.run(RealServer, prepare=lambda server: server.install(*FILES))
