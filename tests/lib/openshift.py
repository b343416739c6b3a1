"""tests/lib/openshift.py - commands to the OpenShift of muster-sim, and its objects.

    with SimServer(options=["--openshift", "--workers", "6"]) as server:
        cluster = Cluster(server)
        cluster.do("rollout", version="4.20.4", manual=True)
        while cluster.step(): ...
"""
from rolloutcrds import MCO_GROUP as MCO

POOLS, CONFIGS, VERSIONS = "machineconfigpools", "machineconfigs", "clusterversions"


def mco(node):
    """The annotations of the MCO, without their prefix."""
    notes = node["metadata"].get("annotations") or {}
    return {key.removeprefix(f"{MCO}/"): value for key, value in notes.items() if key.startswith(f"{MCO}/")}


def condition(item, kind):
    """The condition of that type; empty when there is none."""
    found = [row for row in item.get("status", {}).get("conditions", []) if row["type"] == kind]
    return found[0] if found else {}


def is_ready(node):
    return condition(node, "Ready").get("status") == "True"


class Cluster:
    """Sends commands to the cluster, and reads its objects directly from the API."""

    def __init__(self, server):
        self.server, self.kube = server, server.kube

    def do(self, op, **more):
        return self.server.order("POST", "cluster", {"op": op, **more})

    def step(self, **more):
        """node -> the step that it took."""
        return {row["node"]: row["step"] for row in self.do("step", **more)["steps"]}

    def finish(self, most=10000):
        """Steps until no node can move. The steps of each node, in order."""
        way = {}
        for _ in range(most):
            moved = self.step()
            if not moved:
                return way
            for node, step in moved.items():
                way.setdefault(node, []).append(step)
        raise AssertionError(f"the rollout is not over after {most} steps")

    def node(self, name):
        return self.kube.get("nodes", name)

    def nodes(self):
        return {item["metadata"]["name"]: item for item in self.kube.list("nodes")["items"]}

    def pool(self, name):
        return self.kube.get(POOLS, name)

    def pools(self):
        return {item["metadata"]["name"]: item for item in self.kube.list(POOLS)["items"]}

    def history(self):
        """(version, state) of each entry, newest first."""
        rows = self.kube.get(VERSIONS, "version")["status"]["history"]
        return [(row["version"], row["state"]) for row in rows]

    def releases(self):
        """rendered config -> its version."""
        items = {item["metadata"]["name"]: item["metadata"].get("annotations") or {}
                 for item in self.kube.list(CONFIGS)["items"]}
        key = f"{MCO}/release-image-version"
        return {name: notes[key] for name, notes in items.items() if key in notes}
