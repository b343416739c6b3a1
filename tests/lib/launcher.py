"""tests/lib/launcher.py - performs the life of Karpenter's NodeClaims on any API server, without a provider.

    with Launcher(server.kube, types, delay=5) as launcher: ...

types: rows of `muster-test-linode read`. A NodeClaim gets the cheapest type that it allows; its Node comes
after the delay, ready. It takes the place of lke-claimer, and writes what Karpenter core expects: labels and
a finalizer, one write of the status, the Node registered and initialized, and in the end all of it removed.
"""
import datetime
import http.client
import threading
import time

from joiner import Joiner, node
from kube import MERGE, KubeError

FINALIZER, INSTANCE_TYPE = "karpenter.sh/termination", "node.kubernetes.io/instance-type"
ROUND_S = 0.1


class Launcher:
    def __init__(self, kube, types, delay=0):
        self.kube, self.delay = kube, delay
        self.types = {row["id"]: row for row in types}
        self.nodes = {}             # name of the NodeClaim -> (when it is there, its Node)
        self.made = 0
        self.ending = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.joiner = Joiner(self.machines, kube)

    def __enter__(self):
        self.joiner.__enter__()
        self.thread.start()
        return self

    def __exit__(self, kind, *more):
        self.ending.set()
        self.thread.join()
        self.joiner.__exit__(kind, *more)
        if kind is None and self.failure:
            raise self.failure

    def machines(self):
        now = time.monotonic()
        return {name: ("running", body) for name, (ready_at, body) in list(self.nodes.items())
                if ready_at <= now}

    def run(self):
        while not self.ending.wait(ROUND_S):
            try:
                for claim in self.kube.list("nodeclaims")["items"]:
                    self.step(claim)
            except (OSError, http.client.HTTPException):
                continue
            except KubeError as error:
                if error.code not in (404, 409):        # another writer was faster: the next round reads it
                    self.failure = error
                    return

    def step(self, claim):
        name = claim["metadata"]["name"]
        if "deletionTimestamp" in claim["metadata"]:
            self.terminate(claim)
        elif not claim.get("status", {}).get("providerID"):
            self.launch(claim)
        elif name in self.joiner.state and not is_true(claim, "Initialized"):
            self.register(claim)

    def launch(self, claim):
        kind = self.cheapest(claim)
        labels = kind["labels"] | claim["metadata"].get("labels", {})
        claim = self.kube.merge("nodeclaims", claim["metadata"]["name"], {"metadata": {
            "resourceVersion": claim["metadata"]["resourceVersion"], "labels": labels,
            "finalizers": sorted({FINALIZER, *claim["metadata"].get("finalizers", [])})}})
        self.made += 1
        provider_id = f"linode://{self.made}"
        self.write(claim, ["Launched"], providerID=provider_id, capacity=kind["capacity"],
                   allocatable=kind["allocatable"])
        name = claim["metadata"]["name"]
        body = node(name, {"InternalIP": f"192.168.128.{self.made}"}, provider_id, kind["capacity"])
        body["status"]["allocatable"] = kind["allocatable"]
        body["metadata"]["labels"] |= {INSTANCE_TYPE: kind["id"]}
        self.nodes[name] = (time.monotonic() + self.delay, body)

    def cheapest(self, claim):
        allowed = next(row["values"] for row in claim["spec"]["requirements"] if row["key"] == INSTANCE_TYPE)
        return min((self.types[value] for value in allowed), key=lambda row: row["price"])

    def register(self, claim):
        meta = claim["metadata"]
        labels = meta["labels"] | {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
        owner = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": meta["name"],
                 "uid": meta["uid"], "blockOwnerDeletion": True}
        self.kube.merge("nodes", meta["name"], {
            "metadata": {"labels": labels, "finalizers": [FINALIZER], "ownerReferences": [owner]},
            "spec": {"taints": claim["spec"].get("taints")}})
        self.write(claim, ["Registered", "Initialized", "Ready"], nodeName=meta["name"])

    def terminate(self, claim):
        """Its Node has no Pods left when Karpenter deletes it for being empty."""
        name = claim["metadata"]["name"]
        self.nodes.pop(name, None)
        found = self.kube.find("nodes", name)
        if found is None:
            self.kube.merge("nodeclaims", name, {"metadata": {"finalizers": None}})
        elif "deletionTimestamp" in found["metadata"]:
            self.kube.merge("nodes", name, {"metadata": {"finalizers": None}})

    def write(self, claim, true, **status):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        meta = claim["metadata"]
        kept = [row for row in claim.get("status", {}).get("conditions", []) if row["type"] not in true]
        new = [{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": now,
                "observedGeneration": meta["generation"]} for kind in true]
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]},
                "status": {"conditions": kept + new, **status}}
        self.kube.patch(MERGE, "nodeclaims", meta["name"], body, sub="status")


def is_true(claim, kind):
    conditions = claim.get("status", {}).get("conditions", [])
    return any(row["type"] == kind and row["status"] == "True" for row in conditions)
