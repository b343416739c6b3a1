"""tests/lib/capacrds.py - the kinds of Cluster API and its AWS provider, as far as capa-annotator reads them.

For muster-sim: names, versions and scopes; any field is taken. The real ones are in Go modules (kubecrds).
"""
import anycrds

CAPI, INFRA, CONTROL = (f"{part}cluster.x-k8s.io" for part in ("", "infrastructure.", "controlplane."))
DEPLOYMENTS, CLUSTERS = "machinedeployments", "clusters"
TEMPLATES, AWS_CLUSTERS, CONTROL_PLANES = "awsmachinetemplates", "awsclusters", "awsmanagedcontrolplanes"
KINDS = {DEPLOYMENTS: (CAPI, "MachineDeployment"), CLUSTERS: (CAPI, "Cluster"),
         TEMPLATES: (INFRA, "AWSMachineTemplate"), AWS_CLUSTERS: (INFRA, "AWSCluster"),
         CONTROL_PLANES: (CONTROL, "AWSManagedControlPlane")}

for _plural, (_group, _kind) in KINDS.items():
    anycrds.register(_group, _plural, _kind, ("v1beta2", "v1beta1"))


def crds(core=("v1beta2", "v1beta1"), leave_out=()):
    """core: the versions of Cluster API's own group that are served."""
    return [anycrds.crd(group, plural, kind, core if group == CAPI else ("v1beta2",))
            for plural, (group, kind) in KINDS.items() if plural not in leave_out]
