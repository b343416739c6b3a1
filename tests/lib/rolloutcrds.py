"""tests/lib/rolloutcrds.py - the kinds of OpenShift that node-state reads, and the insights we write.

Of the kinds of OpenShift these definitions have what matters to a reader: names, scopes, status subresources.
The insights' are those of deploy/crds.
"""
import kube
import muster
from kube import Resource
from muster import wait_for

MCO_GROUP, CONFIG_GROUP, INSIGHT_GROUP = (
    "machineconfiguration.openshift.io", "config.openshift.io", "openshift.muller.dev")
NODE_INSIGHTS, POOL_INSIGHTS = "nodeprogressinsights", "machineconfigpoolprogressinsights"
INSIGHTS = (NODE_INSIGHTS, POOL_INSIGHTS)
INPUTS = ("machineconfigpools", "machineconfigs", "clusterversions")
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _crd(group, kind, status):
    plural = kind.lower() + "s"
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": _ANY, "status": _ANY}}}}
    if status:
        version["subresources"] = {"status": {}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Cluster", "versions": [version], "names": {
                "plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"}}}


def openshift():
    return [_crd(MCO_GROUP, "MachineConfigPool", True), _crd(MCO_GROUP, "MachineConfig", False),
            _crd(CONFIG_GROUP, "ClusterVersion", True)]


def insights():
    return sorted((muster.ROOT / "deploy/crds").glob("*insights.yaml"))


def install(server):
    server.install(*openshift(), *insights())


def take_away(server, groups=(MCO_GROUP, CONFIG_GROUP, INSIGHT_GROUP)):
    """Until no kind of these groups is served any more."""
    def ours():
        crds = server.kube.list("customresourcedefinitions")["items"]
        return [crd for crd in crds if crd["spec"]["group"] in groups]
    for crd in ours():
        server.kube.delete("customresourcedefinitions", crd["metadata"]["name"])
    wait_for(lambda: not ours(), "the kinds are gone")
    for group in groups:
        path = f"apis/{group}"
        wait_for(lambda: server.kube.raw("GET", path).code == 404, f"{group} is not served")


def use_group(group):
    """Sets the API group of the insights from now on."""
    for plural, kind in ((NODE_INSIGHTS, "NodeProgressInsight"),
                         (POOL_INSIGHTS, "MachineConfigPoolProgressInsight")):
        kube.RESOURCES[plural] = Resource(f"apis/{group}/v1alpha1", kind, namespaced=False)


use_group(INSIGHT_GROUP)
kube.RESOURCES.update({
    "machineconfigpools": Resource(f"apis/{MCO_GROUP}/v1", "MachineConfigPool", namespaced=False),
    "machineconfigs": Resource(f"apis/{MCO_GROUP}/v1", "MachineConfig", namespaced=False),
    "clusterversions": Resource(f"apis/{CONFIG_GROUP}/v1", "ClusterVersion", namespaced=False),
})
