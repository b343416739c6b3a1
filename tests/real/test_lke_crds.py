"""tests/real/test_lke_crds.py - C17: what a real server accepts and refuses as a LinodeNodeClass.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from kube import RESOURCES, Resource
from kubeservers import RealServer
from kubesuite import case, expect_error
from muster import ROOT

CLASSES, FILE = "linodenodeclasses", ROOT / "deploy/crds/linodenodeclasses.yaml"
RESOURCES[CLASSES] = Resource("apis/karpenter.k8s.linode/v1alpha1", "LinodeNodeClass", namespaced=False)

# spec, and the field that the server blames; None: it takes it.
ROWS = [
    ({}, None),
    ({"tags": ["team-a", "env=prod"], "firewallID": 17, "lkeK8sVersion": "v1.31.8+lke1"}, None),
    ({"kubelet": {"maxPods": 60, "podsPerCore": 10, "kubeReserved": {"cpu": "100m", "memory": "1Gi"},
                  "evictionHard": {"memory.available": "5%"}, "clusterDNS": ["10.0.0.10"]}}, None),
    # An object of karpenter-provider-linode: what has no effect here is kept.
    ({"image": "linode/ubuntu22.04", "osDisk": {"size": "10Gi"}, "authorizedUsers": ["a"]}, None),
    ({"tags": ["a" * 50]}, None),
    ({"tags": ["a" * 51]}, "spec.tags[0]"),
    ({"tags": ["a", "a"]}, "spec.tags[1]"),
    ({"tags": ["karpenter.sh/nodeclaim:a"]}, "spec.tags"),
    ({"tags": ["karpenter.sh/nodepool=a"]}, "spec.tags"),
    ({"tags": ["karpenter.k8s.linode/lke-managed:true"]}, "spec.tags"),
    ({"tags": ["nodepool=7"]}, "spec.tags"),
    ({"tags": ["karpenter.sh/nodepools=a"]}, None),
    ({"tags": [f"t{n}" for n in range(33)]}, "spec.tags"),
    ({"firewallID": 0}, "spec.firewallID"),
    ({"lkeK8sVersion": "v1 31"}, "spec.lkeK8sVersion"),
    ({"kubelet": {"maxPods": -1}}, "spec.kubelet.maxPods"),
    ({"kubelet": {"kubeReserved": {"disk": "1"}}}, "spec.kubelet.kubeReserved"),
    ({"kubelet": {"systemReserved": {"cpu": "-1"}}}, "spec.kubelet.systemReserved"),
]


def condition(kind, status, reason):
    return {"type": kind, "status": status, "reason": reason, "message": "", "observedGeneration": 1,
            "lastTransitionTime": "2026-01-02T03:04:05Z"}


@case
def the_definition_is_applied_without_a_warning(server):
    applied = server.kubectl("apply", "--dry-run=server", "-f", FILE)
    lines = [line for line in applied.stderr.splitlines() if "last-applied-configuration" not in line]
    assert applied.returncode == 0 and not lines, applied.stderr


@case
def C17_each_limit_of_a_class_holds(server):
    for number, (spec, blamed) in enumerate(ROWS):
        body = {"metadata": {"name": f"c{number}"}, "spec": spec}
        if blamed is None:
            made = server.kube.create(CLASSES, body)
            assert made["spec"] == spec, made
        else:
            refused = expect_error(422, "Invalid", server.kube.create, CLASSES, body)
            assert blamed in [cause.get("field") for cause in refused.causes], (spec, refused.causes)


@case
def C17_status_and_columns(server):
    made = server.kube.create(CLASSES, {"metadata": {"name": "default"}, "spec": {"firewallID": 17}})
    status = {"conditions": [condition("ValidationSucceeded", "False", "TagValidationFailed"),
                             condition("Ready", "False", "UnhealthyDependents")]}
    body = {"metadata": {"name": "default", "resourceVersion": made["metadata"]["resourceVersion"]},
            "status": status}
    assert server.kube.replace(CLASSES, body, sub="status")["status"] == status
    shown = server.kubectl("get", "lnc", "default", "-o", "wide")
    assert shown.returncode == 0, shown.stderr
    print("\n".join(f"# {line}" for line in shown.stdout.splitlines()), flush=True)
    head, row = (line.split() for line in shown.stdout.splitlines())
    assert head == ["NAME", "READY", "REASON", "FIREWALL", "VERSION", "AGE"], head
    assert row[:4] == ["default", "False", "UnhealthyDependents", "17"], row


@case
def C10_a_claim_of_karpenter_refers_to_it(server):
    spec = {"nodeClassRef": {"group": "karpenter.k8s.linode", "kind": "LinodeNodeClass", "name": "default"},
            "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In",
                              "values": ["g6-standard-2", "g6-standard-4"]}]}
    made = server.kube.create("nodeclaims", {"metadata": {"name": "a"}, "spec": spec})
    # What status.c writes is accepted: conditions with a reason, and quantities.
    status = {"providerID": "linode://5550001", "capacity": {"cpu": "2", "memory": "3788Mi", "pods": "110"},
              "allocatable": {"cpu": "1930m", "memory": "2223Mi", "pods": "110"},
              "conditions": [condition("Launched", "True", "Launched"),
                             condition("Ready", "Unknown", "ReconcilingDependents")]}
    body = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "status": status}
    answer = server.kube.merge("nodeclaims", "a", body, sub="status")
    assert answer["status"] == status, answer["status"]


kubesuite.run(RealServer, prepare=lambda server: server.install(
    FILE, *kubecrds.from_module(kubecrds.KARPENTER, "nodeclaims", "nodepools")))
