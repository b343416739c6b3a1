"""tests/lib/providercrds.py - kinds of providers of Cluster API whose definitions are in no package.

The pools of the in-cluster IPAM provider, and of the providers for Proxmox and RKE2 what deploy/vip names.
Only fields that muster or a test goes by have types; the others are taken as they come.
"""
import kube
from kube import Resource

IPAM, INFRA, BOOTSTRAP, CONTROL = (f"{part}.cluster.x-k8s.io" for part in (
    "ipam", "infrastructure", "bootstrap", "controlplane"))
GLOBAL_POOLS, POOLS = "globalinclusterippools", "inclusterippools"
PROXMOX_CLUSTERS, CONTROL_PLANES = "proxmoxclusters", "rke2controlplanes"
# The contract of Cluster API that the providers implement, as the label of their definitions has it.
CONTRACT = "cluster.x-k8s.io/v1beta1"

_TEXT, _NUMBER, _FLAG = ({"type": kind} for kind in ("string", "integer", "boolean"))
_TEXTS = {"type": "array", "items": _TEXT}
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _object(required=(), **properties):
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def _open(**properties):
    return {**_ANY, "properties": properties}


_POOL = {
    "spec": _object(("addresses", "prefix"), addresses=_TEXTS, excludedAddresses=_TEXTS, gateway=_TEXT,
                    prefix={**_NUMBER, "minimum": 0, "maximum": 128}, allocateReservedIPAddresses=_FLAG,
                    addressReuseGracePeriodSeconds={**_NUMBER, "minimum": 0}),
    "status": _object(ipAddresses=_object(("free", "outOfRange", "total", "used"), free=_NUMBER,
                                          outOfRange=_NUMBER, total=_NUMBER, used=_NUMBER))}
# A host of no characters is refused: what is rendered without an address fails (seed 001).
_ENDPOINT = _object(("host", "port"), host={**_TEXT, "minLength": 1},
                    port={**_NUMBER, "minimum": 1, "maximum": 65535})
_PROXMOX = _open(controlPlaneEndpoint=_ENDPOINT, allowedNodes=_TEXTS, dnsServers=_TEXTS)
_RKE2 = _open(registrationMethod=_TEXT, registrationAddress=_TEXT, version=_TEXT, replicas=_NUMBER,
              serverConfig=_open(tlsSan=_TEXTS, cni=_TEXT))

# plural -> group, version, kind, namespaced, its schema; a template has the schema below spec.template.spec.
KINDS = {
    GLOBAL_POOLS: (IPAM, "v1alpha2", "GlobalInClusterIPPool", False, _POOL),
    POOLS: (IPAM, "v1alpha2", "InClusterIPPool", True, _POOL),
    PROXMOX_CLUSTERS: (INFRA, "v1alpha1", "ProxmoxCluster", True, {"spec": _PROXMOX, "status": _ANY}),
    "proxmoxclustertemplates": (INFRA, "v1alpha1", "ProxmoxClusterTemplate", True, _PROXMOX),
    "proxmoxmachines": (INFRA, "v1alpha1", "ProxmoxMachine", True, {"spec": _ANY, "status": _ANY}),
    "proxmoxmachinetemplates": (INFRA, "v1alpha1", "ProxmoxMachineTemplate", True, _ANY),
    CONTROL_PLANES: (CONTROL, "v1beta1", "RKE2ControlPlane", True, {"spec": _RKE2, "status": _ANY}),
    "rke2controlplanetemplates": (CONTROL, "v1beta1", "RKE2ControlPlaneTemplate", True, _RKE2),
    "rke2configs": (BOOTSTRAP, "v1beta1", "RKE2Config", True, {"spec": _ANY, "status": _ANY}),
    "rke2configtemplates": (BOOTSTRAP, "v1beta1", "RKE2ConfigTemplate", True, _ANY),
}

for _plural, (_group, _version, _kind, _namespaced, _) in KINDS.items():
    kube.RESOURCES[_plural] = Resource(f"apis/{_group}/{_version}", _kind, _namespaced)


def _crd(plural):
    group, version, kind, namespaced, schema = KINDS[plural]
    if kind.endswith("Template"):
        schema = {"spec": _object(("template",), template=_object(("spec",), metadata=_ANY, spec=schema))}
    row = {"name": version, "served": True, "storage": True,
           "schema": {"openAPIV3Schema": {"type": "object", "properties": schema}},
           "subresources": {"status": {}} if "status" in schema else {}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}",
                         "labels": {} if group == IPAM else {CONTRACT: version}},
            "spec": {"group": group, "scope": "Namespaced" if namespaced else "Cluster", "versions": [row],
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind,
                               "listKind": kind + "List"}}}


def crds(*plurals):
    """None named: all."""
    return [_crd(plural) for plural in plurals or KINDS]
