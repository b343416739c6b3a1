"""tests/lib/capacrds.py - the kinds of Cluster API and its AWS provider, as far as capa-annotator reads them.

For muster-sim: names, versions and scopes; any field is taken. The real ones are in Go modules (kubecrds).
"""
import kube
from kube import Resource

CAPI, INFRA, CONTROL = (f"{part}cluster.x-k8s.io" for part in ("", "infrastructure.", "controlplane."))
DEPLOYMENTS, CLUSTERS = "machinedeployments", "clusters"
TEMPLATES, AWS_CLUSTERS, CONTROL_PLANES = "awsmachinetemplates", "awsclusters", "awsmanagedcontrolplanes"
KINDS = {DEPLOYMENTS: (CAPI, "MachineDeployment"), CLUSTERS: (CAPI, "Cluster"),
         TEMPLATES: (INFRA, "AWSMachineTemplate"), AWS_CLUSTERS: (INFRA, "AWSCluster"),
         CONTROL_PLANES: (CONTROL, "AWSManagedControlPlane")}
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

for _plural, (_group, _kind) in KINDS.items():
    kube.RESOURCES[_plural] = Resource(f"apis/{_group}/v1beta2", _kind)
    kube.RESOURCES[f"{_plural}.v1beta1"] = Resource(f"apis/{_group}/v1beta1", _kind)


def _crd(plural, versions):
    group, kind = KINDS[plural]
    rows = [{"name": name, "served": True, "storage": name == versions[0], "subresources": {"status": {}},
             "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _ANY, "status": _ANY}}}}
            for name in versions]
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "versions": rows, "names": {
                "plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"}}}


def crds(core=("v1beta2", "v1beta1"), leave_out=()):
    """core: the versions of Cluster API's own group that are served."""
    return [_crd(plural, core if group == CAPI else ("v1beta2",)) for plural, (group, _) in KINDS.items()
            if plural not in leave_out]
