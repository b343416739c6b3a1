"""tests/lib/joiner.py - machines of a provider as Nodes of any API server.

    with Joiner(machines, server.kube): ...     # server: RealServer or SimServer

machines() -> {name of the Node: (state, the Node)}. A machine is a Node once it is "running"; its Ready is
Unknown when it is "offline"; the Node goes with the machine.
"""
import datetime
import http.client
import threading

from kube import KubeError

ROUND_S = 0.05


class Joiner:
    """What the kubelets of the machines and a cloud controller do, in a thread."""

    def __init__(self, machines, kube):
        self.machines, self.kube = machines, kube
        self.state = {}         # name -> state of the machine that its Node shows
        self.failure = None
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.ending.set()
        self.thread.join()
        if kind is None and self.failure:
            raise self.failure

    def run(self):
        while not self.ending.wait(ROUND_S):
            try:
                self.follow(self.machines())
            except (OSError, http.client.HTTPException):
                continue        # one of the servers is away for a while: a test does that
            except KubeError as error:
                if error.code == 429 or error.code >= 500:
                    continue
                self.failure = error
                return

    def follow(self, machines):
        for name, (state, node) in machines.items():
            if self.state.get(name) == state:
                continue
            if state == "running":
                self.join(name, node)
                self.state[name] = state
            elif state == "offline" and name in self.state:
                self.set_ready(name, "Unknown")
                self.state[name] = state
        for name in [name for name in self.state if name not in machines]:
            self.remove(name)
            del self.state[name]

    def join(self, name, node):
        """As a kubelet registers itself, ready at once. The taint that admission puts on a new Node is
        removed, as the node lifecycle controller does."""
        try:
            made = self.kube.create("nodes", node)
        except KubeError as error:
            if error.code != 409:
                raise
            made = self.kube.get("nodes", name)     # it was made, and the answer was lost
        taints = [taint for taint in made["spec"].get("taints", [])
                  if taint["key"] != "node.kubernetes.io/not-ready"]
        if taints != made["spec"].get("taints", []):
            self.kube.merge("nodes", name, {"spec": {"taints": taints or None}})

    def set_ready(self, name, status):
        self.kube.patch("application/strategic-merge-patch+json", "nodes", name,
                        {"status": {"conditions": [ready_condition(status)]}}, sub="status")

    def remove(self, name):
        try:
            self.kube.delete("nodes", name)
        except KubeError as error:
            if error.code != 404:
                raise


def node(name, addresses, provider_id=None, resources=None, labels=None):
    """The Node of a machine. addresses: {type: address} beside its Hostname."""
    resources = resources or {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": {"providerID": provider_id} if provider_id else {},
            "status": {"capacity": resources, "allocatable": resources,
                       "addresses": [{"type": "Hostname", "address": name},
                                     *({"type": kind, "address": address}
                                       for kind, address in addresses.items())],
                       "conditions": [ready_condition("True")]}}


def ready_condition(status):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    reason = {"True": "KubeletReady", "Unknown": "NodeStatusUnknown", "False": "KubeletNotReady"}[status]
    return {"type": "Ready", "status": status, "reason": reason, "message": f"the VM is {reason}",
            "lastHeartbeatTime": now, "lastTransitionTime": now}
