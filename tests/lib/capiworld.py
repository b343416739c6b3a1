"""tests/lib/capiworld.py - what a test makes and observes of Clusters on a real Cluster API (capiserver).

    with World(server) as world:
        world.make_class("team-a", "proxmox-rke2")              # a copy of the shipped one
        world.make_cluster("team-a", "c1", "proxmox-rke2")
        world.wait_rendered("team-a", "c1")
        world.check_first_attempt("team-a", "c1")               # and it had its address from the beginning

Every condition that a Cluster ever had is kept: a failure that lasted a moment is found later.
"""
import contextlib
import http.client
import re
import threading

from kube import KubeError
from muster import ROOT, wait_for
from providercrds import CONTROL_PLANES, PROXMOX_CLUSTERS

SHIPPED = ROOT / "deploy" / "vip"
CLASS = "proxmox-rke2"
CONDITION = "TopologyReconciled"
LONG_S = 120
TOPOLOGY = "topology/cluster"


class World:
    def __init__(self, server):
        self.server, self.kube = server, server.kube
        self.history = {}           # (namespace, name) -> [(status, reason, message)], without repetitions
        self.applied = set()        # files of SHIPPED
        self.ended = threading.Event()
        threading.Thread(target=self.observe, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()

    def observe(self):
        while not self.ended.is_set():
            with contextlib.suppress(OSError, ValueError, KubeError, http.client.HTTPException):
                for event in self.kube.watch("clusters", seconds=300):
                    self.note(event["object"])
                    if self.ended.is_set():
                        return

    def note(self, cluster):
        meta = cluster["metadata"]
        rows = self.history.setdefault((meta["namespace"], meta["name"]), [])
        for row in cluster.get("status", {}).get("conditions", []):
            found = (row["status"], row["reason"], row.get("message", ""))
            if row["type"] == CONDITION and (not rows or rows[-1] != found):
                rows.append(found)

    # -- objects

    def apply(self, name, namespace=None):
        self.applied.add(name)
        return self.server.apply(SHIPPED / name, namespace)

    def namespace(self, name):
        if self.kube.find("namespaces", name) is None:
            self.kube.create("namespaces", {"metadata": {"name": name}})

    def shipped_class(self, namespace, version="v1beta2"):
        self.namespace(namespace)
        self.apply("templates.yaml", namespace)
        self.apply(f"clusterclass-{version}.yaml", namespace)
        self.wait_class(namespace, CLASS)

    def make_class(self, namespace, name, hook=True):
        """The shipped one under another name; hook: with the patch that calls GeneratePatches."""
        self.namespace(namespace)
        self.apply("templates.yaml", namespace)
        text = (SHIPPED / "clusterclass-v1beta2.yaml").read_text()
        text, renamed = re.subn(rf"^(kind: ClusterClass\nmetadata:\n  name: ){CLASS}$", rf"\g<1>{name}",
                                text, flags=re.M)
        assert renamed == 1
        if not hook:
            text, left_out = re.subn(r"^    - name: control-plane-endpoint\n(?:      .*\n)+", "", text,
                                     flags=re.M)
            assert left_out == 1
        self.server.apply(text, namespace)
        self.wait_class(namespace, name)

    def wait_class(self, namespace, name):
        """Its variables are known: before that no Cluster is admitted."""
        def reconciled():
            item = self.kube.get("clusterclasses", name, namespace)
            return item.get("status", {}).get("observedGeneration") == item["metadata"]["generation"] and any(
                row["type"] == "VariablesReady" and row["status"] == "True"
                for row in item["status"].get("conditions", []))
        wait_for(reconciled, f"ClusterClass {namespace}/{name} is reconciled", LONG_S)

    def make_cluster(self, namespace, name, cluster_class, host=None):
        spec = {"topology": {"classRef": {"name": cluster_class}, "version": "v1.33.4+rke2r1",
                             "controlPlane": {"replicas": 1}}}
        if host:
            spec["controlPlaneEndpoint"] = {"host": host, "port": 6443}
        return self.kube.create("clusters", {"metadata": {"name": name}, "spec": spec}, namespace)

    # -- what is there

    def cluster(self, namespace, name):
        return self.kube.get("clusters", name, namespace)

    def endpoint(self, namespace, name):
        return self.cluster(namespace, name)["spec"].get("controlPlaneEndpoint", {})

    def claims(self, namespace):
        return {item["metadata"]["name"]: item
                for item in self.kube.list("ipaddressclaims", namespace)["items"]}

    def address(self, namespace, name):
        """That of the Cluster's claim."""
        return self.kube.get("ipaddresses", f"vip-cp-{name}", namespace)["spec"]["address"]

    def rendered(self, namespace, name):
        """(infrastructure cluster, control plane), or None."""
        spec = self.cluster(namespace, name)["spec"]
        if not spec.get("infrastructureRef") or not spec.get("controlPlaneRef"):
            return None
        return (self.kube.get(PROXMOX_CLUSTERS, spec["infrastructureRef"]["name"], namespace),
                self.kube.get(CONTROL_PLANES, spec["controlPlaneRef"]["name"], namespace))

    def condition(self, namespace, name):
        """The newest (status, reason, message) of TopologyReconciled."""
        return (self.history.get((namespace, name)) or [("", "", "")])[-1]

    def events(self, namespace, name):
        """reason -> note of the Events about that Cluster."""
        return {event["reason"]: event.get("note", "")
                for event in self.kube.list("events", namespace)["items"]
                if event["regarding"].get("name") == name and event["regarding"]["kind"] == "Cluster"}

    # -- waiting and checking

    def wait_rendered(self, namespace, name):
        wait_for(lambda: self.rendered(namespace, name), f"{namespace}/{name} is rendered", LONG_S)
        wait_for(lambda: self.condition(namespace, name)[0] == "True",
                 f"{namespace}/{name}: {CONDITION}, {self.history.get((namespace, name))}", LONG_S)
        return self.rendered(namespace, name)

    def wait_blocked(self, namespace, name, text):
        """It waits, and its condition has the reason for people."""
        def blocked():
            status, reason, message = self.condition(namespace, name)
            return (status, reason) == ("False", "ClusterCreating") and text in message
        wait_for(blocked, f"{namespace}/{name} is blocked with {text!r}: "
                          f"{self.history.get((namespace, name))}", LONG_S)
        assert self.rendered(namespace, name) is None, "rendered without an address"

    def check_first_attempt(self, namespace, name):
        """V2, V7, V11: both objects were created with the address and never changed, and no pass failed."""
        infra, control = self.rendered(namespace, name)
        host = self.address(namespace, name)
        endpoint = {"host": host, "port": 6443}
        assert self.endpoint(namespace, name) == endpoint, self.endpoint(namespace, name)
        assert infra["spec"].get("controlPlaneEndpoint") == endpoint, infra["spec"]
        assert control["spec"].get("registrationAddress") == host, control["spec"]
        assert control["spec"]["serverConfig"].get("tlsSan") == [host], control["spec"]
        for item in (infra, control):
            assert item["metadata"]["generation"] == 1, (item["kind"], item["metadata"]["generation"])
        self.check_no_failure(namespace, name)

    def check_no_failure(self, namespace, name):
        """No reconcile of its topology failed, not even once."""
        rows = self.history[namespace, name]
        assert not [row for row in rows if row[1] == "ReconcileFailed"], rows
        errors = [row for row in self.server.manager_errors(TOPOLOGY) if f'"{namespace}/{name}"' in row]
        assert errors == [], errors

    def check_one_claim(self, namespace, name):
        """Exactly one, with label and owner: the garbage collector deletes it after the Cluster."""
        cluster, found = self.cluster(namespace, name), self.claims(namespace)
        mine = [item for item in found.values() if item["metadata"].get("labels", {}).get(
            "cluster.x-k8s.io/cluster-name") == name]
        assert [item["metadata"]["name"] for item in mine] == [f"vip-cp-{name}"], sorted(found)
        owner, = mine[0]["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == (
            "Cluster", name, cluster["metadata"]["uid"], True), owner
