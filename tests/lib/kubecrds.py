"""tests/lib/kubecrds.py - the definitions of kinds that tests use: one of our own, and those of the peers.

Those of the peers are read from their Go modules when a test runs; none of them is kept in the tree.
"""
import copy

import kube
import kubetools
from kube import Resource

CAPI = ("sigs.k8s.io/cluster-api", "v1.13.6", "config/crd/bases")
KARPENTER = ("sigs.k8s.io/karpenter", "v1.15.0", "pkg/apis/crds")

_CONDITION = {
    "type": "object", "required": ["type", "status"],
    "properties": {key: {"type": "string"} for key in ("type", "status", "reason", "message")} | {
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "observedGeneration": {"type": "integer", "format": "int64"}}}


def _schema(color):
    """The versions differ in the name of one field; nothing converts between them."""
    return {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer", "minimum": 0, "maximum": 1000},
            color: {"type": "string"},
            "mode": {"type": "string", "enum": ["idle", "busy", "off"]}}},
        "status": {"type": "object", "properties": {
            "phase": {"type": "string"},
            "conditions": {"type": "array", "items": _CONDITION, "x-kubernetes-list-type": "map",
                           "x-kubernetes-list-map-keys": ["type"]}}}}}}


def _version(name, color):
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
               {"name": "Color", "type": "string", "jsonPath": f".spec.{color}"}]
    return {"name": name, "served": True, "storage": False, "schema": _schema(color),
            "subresources": {"status": {}}, "additionalPrinterColumns": columns}


_WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{kube.TEST_GROUP}"},
    "spec": {
        "group": kube.TEST_GROUP, "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList",
                  "shortNames": ["wd"]},
        "versions": [_version("v1", "color"), _version("v1beta1", "colour")]}}


def widgets(*served):
    """The Widget; served: only these of its versions (v1, v1beta1). The first that is served is stored: what
    the schema of the stored version does not have is lost."""
    crd = copy.deepcopy(_WIDGETS)
    versions = crd["spec"]["versions"]
    for version in versions:
        version["served"] = not served or version["name"] in served
    next(version for version in versions if version["served"])["storage"] = True
    return crd


def from_module(source, *plurals):
    """The files of these resources in a Go module, downloaded now if need be."""
    name, version, folder = source
    files = sorted((kubetools.module(name, version) / folder).glob("*.yaml"))
    return [next(file for file in files if file.stem.split("_")[-1] == plural) for plural in plurals]


kube.RESOURCES.update({
    "machinedeployments": Resource("apis/cluster.x-k8s.io/v1beta2", "MachineDeployment"),
    "machinedeployments.v1beta1": Resource("apis/cluster.x-k8s.io/v1beta1", "MachineDeployment"),
    "clusters": Resource("apis/cluster.x-k8s.io/v1beta2", "Cluster"),
    "nodeclaims": Resource("apis/karpenter.sh/v1", "NodeClaim", namespaced=False),
})
