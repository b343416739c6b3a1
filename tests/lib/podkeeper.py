"""tests/lib/podkeeper.py - what kubelets, a ReplicaSet and the disruption controller do, on any API server.

    with PodKeeper(server.kube) as keeper:
        keeper.make(pod("a", "vm-1", {"app": "web"}), pod("b", "vm-1"))     # running and ready
        keeper.budget("web", {"app": "web"}, least=2, replaced=True)
        keeper.on("vm-1")                           # names of the Pods on that Node
        keeper.least_ready({"app": "web"}, 3)       # at any instant after there were three

Meanwhile a Pod that is being deleted is finished at once, the status of each PodDisruptionBudget follows the
Pods, and where a budget is `replaced`, a Pod that is gone gets a successor on another Node.
"""
import http.client
import queue
import threading

from kube import STRATEGIC, KubeError, rv
from muster import wait_for

ELSEWHERE = "another-node"
WATCH_S = 5
CONNECTIONS = 4


def pod(name, node, labels=None, owner=None, annotations=None):
    """owner: the kind of its controller."""
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}]
    return {"metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {},
                         "ownerReferences": owners if owner else []},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}}


class PodKeeper:
    """The history is that of one watch: each change of a Pod, in the order in which the server made it."""

    def __init__(self, kube, namespace="default"):
        self.kube, self.namespace = kube, namespace
        self.pods = {}              # name -> Pod, as the watch has it
        self.history = []           # (type, Pod)
        self.budgets = {}           # name -> (labels, least, replaced)
        self.deleted = queue.Queue()        # metadata of Pods that are to be finished
        self.changed = queue.Queue()        # (name of a budget, whether a Pod of it is gone)
        self.version, self.successors = None, 0
        self.failure = None
        self.ending = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.guard, args=(work,), daemon=True)
                        for work in (self.follow, self.finish, self.control)]

    def __enter__(self):
        listed = self.kube.list("pods", self.namespace)
        self.pods = {item["metadata"]["name"]: item for item in listed["items"]}
        self.version = str(rv(listed))
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.ending.set()
        for thread in self.threads:
            thread.join()
        for name in self.budgets:
            self.kube.delete("poddisruptionbudgets", name, self.namespace)
        if kind is None and self.failure:
            raise self.failure

    # -- what a test does

    def make(self, *pods):
        self.kube.create_many("pods", pods, self.namespace)
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        self.kube.bulk({"method": "PATCH", "content": STRATEGIC, "body": {"status": status},
                        "path": self.kube.path("pods", body["metadata"]["name"], self.namespace, "status")}
                       for body in pods)

    def budget(self, name, labels, least, replaced=False):
        """Returns when the server uses it: then so many Pods of it are ready that one may leave, or none."""
        self.kube.create("poddisruptionbudgets", {"metadata": {"name": name}, "spec": {
            "minAvailable": least, "selector": {"matchLabels": labels}}}, self.namespace)
        self.budgets[name] = (labels, least, replaced)
        self.changed.put((name, False))
        wait_for(lambda: self.kube.get("poddisruptionbudgets", name, self.namespace).get("status", {}).get(
            "observedGeneration"), f"the status of budget {name}")

    def wait_ready(self, labels, count):
        wait_for(lambda: len(self.ready(labels)) == count, f"{count} Pods {labels} are ready")

    # -- what was seen

    def on(self, node):
        with self.lock:
            return sorted(name for name, pod in self.pods.items() if pod["spec"].get("nodeName") == node)

    def ready(self, labels):
        with self.lock:
            return sorted(name for name, pod in self.pods.items() if has(pod, labels) and is_ready(pod))

    def least_ready(self, labels, count):
        """The fewest ready Pods of those labels at any instant after there were `count` of them."""
        ready, least = set(), None
        with self.lock:
            history = [(kind, pod) for kind, pod in self.history if has(pod, labels)]
        for kind, pod in history:
            if kind != "DELETED" and is_ready(pod):
                ready.add(pod["metadata"]["name"])
            else:
                ready.discard(pod["metadata"]["name"])
            if least is not None or len(ready) == count:
                least = min(least if least is not None else count, len(ready))
        return least

    # -- the threads

    def guard(self, work):
        while not self.ending.is_set():
            try:
                work()
            except (OSError, http.client.HTTPException):
                continue            # the server is away for a while: a test does that
            except queue.Empty:
                continue
            except KubeError as error:
                self.failure = error
                return

    def follow(self):
        for event in self.kube.watch("pods", self.version, self.namespace, WATCH_S,
                                     allowWatchBookmarks="true"):
            self.version = str(rv(event["object"]))
            if event["type"] != "BOOKMARK":
                self.take(event["type"], event["object"])
            if self.ending.is_set():
                return

    def take(self, kind, pod):
        meta = pod["metadata"]
        with self.lock:
            before = self.pods.get(meta["name"])
            self.history.append((kind, pod))
            if kind == "DELETED":
                del self.pods[meta["name"]]
            else:
                self.pods[meta["name"]] = pod
        if is_deleted(pod) and kind != "DELETED" and not (before and is_deleted(before)):
            self.deleted.put(meta)
        for name, (labels, _, _) in list(self.budgets.items()):
            if has(pod, labels):
                self.changed.put((name, kind == "DELETED"))

    def finish(self):
        """As kubelets whose containers have ended."""
        batch = [self.deleted.get(timeout=0.2)]
        while not self.deleted.empty():
            batch.append(self.deleted.get())
        self.kube.bulk(({"method": "DELETE", "path": self.kube.path("pods", meta["name"], self.namespace),
                         "body": {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}}
                        for meta in batch), CONNECTIONS)

    def control(self):
        name, gone = self.changed.get(timeout=0.2)
        labels, _, replaced = self.budgets[name]
        if gone and replaced:
            self.successors += 1
            self.make(pod(f"successor-{self.successors}", ELSEWHERE, labels))
        while not self.update(name):
            pass

    def update(self, name):
        """The status of a budget, as the disruption controller computes it. False: it changed meanwhile."""
        labels, least, _ = self.budgets[name]
        with self.lock:
            pods = {key: pod for key, pod in self.pods.items() if has(pod, labels)}
        budget = self.kube.get("poddisruptionbudgets", name, self.namespace)
        # Evictions that the server has granted, and whose deletion the watch has not shown yet.
        granted = {key: at for key, at in (budget.get("status", {}).get("disruptedPods") or {}).items()
                   if key in pods and not is_deleted(pods[key])}
        healthy = sum(is_ready(pod) and key not in granted for key, pod in pods.items())
        budget["status"] = {
            "observedGeneration": budget["metadata"]["generation"], "expectedPods": len(pods),
            "desiredHealthy": least, "currentHealthy": healthy, "disruptedPods": granted,
            "disruptionsAllowed": max(0, healthy - least)}
        try:
            self.kube.replace("poddisruptionbudgets", budget, self.namespace, sub="status")
        except KubeError as error:
            if error.code != 409:
                raise
            return False
        return True


def has(pod, labels):
    return labels.items() <= (pod["metadata"].get("labels") or {}).items()


def is_deleted(pod):
    return "deletionTimestamp" in pod["metadata"]


def is_ready(pod):
    conditions = pod.get("status", {}).get("conditions") or []
    return not is_deleted(pod) and any(
        row["type"] == "Ready" and row["status"] == "True" for row in conditions)
