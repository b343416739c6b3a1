"""tests/e2e/test_capa.py - capa-annotator beside the topology controller of the real Cluster API manager.

F1, F2, FR2, FR3, A1. The manager makes the MachineDeployment, its template and the AWSCluster from a
ClusterClass, with the real CRDs and webhooks of Cluster API and the real CRDs of its AWS provider; AWS is
that of muster-sim. The topology controller applies annotations of its own, server-side, whenever the
topology changes, and makes another template when the instance type changes.

muster-test: parallel
muster-test: timeout=900
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from capacrds import AWS_CLUSTERS, CONTROL_PLANES, DEPLOYMENTS, INFRA, TEMPLATES
from capareal import CAPA
from capatree import M5_LARGE, M6G_XLARGE, Aws, CapaTree, World, ours, writes
from capiserver import CORE, CapiServer
from kubesuite import case
from muster import wait_for

NAMESPACE, CLASS, CLUSTER = "aws", "aws", "prod"
OWNED = "example.com/of-the-topology"
LONG_S = 120


def template(group, version, kind, name, spec):
    return {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": name},
            "spec": {"template": {"spec": spec}}}


CONTROL = template("controlplane.cluster.x-k8s.io", "v1beta1", "RKE2ControlPlaneTemplate", CLASS, {})
BOOTSTRAP = template("bootstrap.cluster.x-k8s.io", "v1beta1", "RKE2ConfigTemplate", CLASS, {})
NETWORK = template(INFRA, "v1beta2", "AWSClusterTemplate", CLASS, {"region": "eu-west-1"})
MACHINES = template(INFRA, "v1beta2", "AWSMachineTemplate", CLASS, {"instanceType": "t3.medium"})


def reference(made):
    return {"templateRef": {"apiVersion": made["apiVersion"], "kind": made["kind"],
                            "name": made["metadata"]["name"]}}


def cluster_class():
    """The type of the workers is a variable: another value is another template."""
    return {"apiVersion": f"{CORE}/v1beta2", "kind": "ClusterClass", "metadata": {"name": CLASS}, "spec": {
        "infrastructure": reference(NETWORK),
        "controlPlane": {**reference(CONTROL), "machineInfrastructure": reference(MACHINES)},
        "workers": {"machineDeployments": [
            {"class": "worker", "bootstrap": reference(BOOTSTRAP), "infrastructure": reference(MACHINES)}]},
        "variables": [{"name": "workerType", "required": True,
                       "schema": {"openAPIV3Schema": {"type": "string"}}}],
        "patches": [{"name": "worker-type", "definitions": [{
            "selector": {"apiVersion": MACHINES["apiVersion"], "kind": MACHINES["kind"],
                         "matchResources": {"machineDeploymentClass": {"names": ["worker"]}}},
            "jsonPatches": [{"op": "replace", "path": "/spec/template/spec/instanceType",
                             "valueFrom": {"variable": "workerType"}}]}]}]}}


def topology(instance_type, annotations):
    return {"classRef": {"name": CLASS}, "version": "v1.33.4+rke2r1", "controlPlane": {"replicas": 1},
            "variables": [{"name": "workerType", "value": instance_type}],
            "workers": {"machineDeployments": [{"class": "worker", "name": "md", "replicas": 0,
                                                "metadata": {"annotations": annotations}}]}}


def prepare(server):
    before = set(server.installed)
    server.install(*kubecrds.from_module(CAPA, TEMPLATES, AWS_CLUSTERS, CONTROL_PLANES, "awsmachines",
                                         "awsclustertemplates"))
    # As the release of the provider has them.
    for name in set(server.installed) - before:
        server.kube.merge("customresourcedefinitions", name, {
            "metadata": {"labels": {f"{CORE}/v1beta1": "v1beta2"}}})
    server.kube.create("namespaces", {"metadata": {"name": NAMESPACE}})
    for made in (CONTROL, BOOTSTRAP, NETWORK, MACHINES, cluster_class()):
        server.apply(json.dumps(made), NAMESPACE)

    def reconciled():
        item = server.kube.get("clusterclasses", CLASS, NAMESPACE)
        return item.get("status", {}).get("variables")
    wait_for(reconciled, "the ClusterClass is reconciled", LONG_S)


def change(server, instance_type, annotations):
    server.kube.merge("clusters", CLUSTER, {"spec": {"topology": topology(instance_type, annotations)}},
                      NAMESPACE)


@case
def F1_F2_A1_the_annotations_stay_whatever_the_topology_controller_applies(server):
    world = World(server, NAMESPACE)
    with Aws() as aws, CapaTree(server, aws.identity()) as tree:
        tree.wait_running()
        server.kube.create("clusters", {"metadata": {"name": CLUSTER}, "spec": {
            "topology": topology("m5.large", {OWNED: "1"})}}, NAMESPACE)
        made, = wait_for(lambda: server.kube.list(DEPLOYMENTS, NAMESPACE)["items"],
                         f"a MachineDeployment: {server.kube.get('clusters', CLUSTER, NAMESPACE)}", LONG_S)
        name = made["metadata"]["name"]
        world.wait_annotated(name, M5_LARGE, LONG_S)
        first = world.get(name)["spec"]["template"]["spec"]["infrastructureRef"]["name"]
        # Another value, then none: the topology controller applies its set, without ours.
        for annotations in ({OWNED: "2"}, {}):
            change(server, "m5.large", annotations)
            wait_for(lambda: world.annotations(name).get(OWNED) == annotations.get(OWNED),
                     f"the topology has {annotations}", LONG_S)
            assert ours(world.annotations(name)) == M5_LARGE, world.annotations(name)
        managers = {row["manager"]: str(row) for row in world.get(name)["metadata"]["managedFields"]}
        assert "capacity.cluster-autoscaler" not in managers["capi-topology"], managers
        # Another type is another template, of another name.
        change(server, "m6g.xlarge", {OWNED: "3"})
        world.wait_annotated(name, M6G_XLARGE, LONG_S)
        second = world.get(name)["spec"]["template"]["spec"]["infrastructureRef"]["name"]
        assert second != first, first
        wait_for(lambda: world.annotations(name).get(OWNED) == "3", "the topology's own is there", LONG_S)
        kubesuite.pause(2)
        assert ours(world.annotations(name)) == M6G_XLARGE, world.annotations(name)
        # Labels are patched with a resourceVersion: while the manager writes, too, such a patch is refused.
        rows = [(row["verb"], row["code"]) for row in writes(server)]
        assert set(rows) <= {("patch", 200), ("patch", 409)} and rows.count(("patch", 200)) == 2, rows


kubesuite.run(CapiServer, prepare=prepare)
