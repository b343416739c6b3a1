"""tests/lib/oracle.py - every insight, recomputed from the objects alone.

    world = World(nodes, pools, configs, version) # objects as the API server gives them
    world.nodes()["worker-1"]             # the status of its NodeProgressInsight, without times
    world.pools()["worker"]                 # that of its MachineConfigPoolProgressInsight
    plain(insight["status"])                              # a stored status in the same form

Written from the rules (MCO's choice of a pool, the assessment of a node, the summaries of a pool), not from
our code: it shares nothing with actors/node-state. Times are apart: world.since(name) is what
Available=False must begin with; `late_or_kept` judges a sequence of stored statuses.
"""
import re

MCO = "machineconfiguration.openshift.io/"
GROUP = MCO.rstrip("/")
MESSAGE_MAX, TEXT_MAX, VERSION_MAX = 100, 32768, 64
SUMMARIES = ("Total", "Available", "Progressing", "Outdated", "Draining", "Excluded", "Degraded")
ACTIVE = ("Updating", "Rebooting", "Draining")
# phase -> status of Updating, its message, estimate
PHASES = {
    "Draining": ("True", "The node is draining", "10m0s"),
    "Rebooting": ("True", "The node is rebooting", "10m0s"),
    "Updating": ("True", "The node is updating", "10m0s"),
    "Completed": ("False", "The node is updated", "0s"),
    "Paused": ("False", "The update of the node is paused", None),
    "Pending": ("False", "The update of the node is pending", None),
}
# condition of a Node -> the status it must have, and the message otherwise
NODE_CONDITIONS = {
    "Ready": ("True", "Node is not ready"),
    "DiskPressure": ("False", "Node has disk pressure"),
    "NetworkUnavailable": ("False", "Node has unavailable network"),
}
_NUMBER = r"(0|[1-9]\d*)"
_WORD = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_WORD}(\.{_WORD})*)?{_BUILD}", re.ASCII)
_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_VALUE = re.compile(rf"({_NAME})?", re.ASCII)
_DNS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
LABEL_KEY = re.compile(rf"({_DNS}(\.{_DNS})*/)?{_NAME}", re.ASCII)


# ---- Which pool owns a node ----

def _expression(row, labels):
    """None: there is no such expression."""
    key, operator, values = row.get("key", ""), row.get("operator"), row.get("values") or []
    known = LABEL_KEY.fullmatch(key) and all(LABEL_VALUE.fullmatch(value) for value in values)
    if not known or bool(values) != (operator in ("In", "NotIn")):
        return None
    return {"In": labels.get(key) in values, "NotIn": labels.get(key) not in values,
            "Exists": key in labels, "DoesNotExist": key not in labels}.get(operator)


def selects(selector, labels):
    """As MCO reads it: an empty selector, and one that is wrong, match nothing."""
    wanted = (selector or {}).get("matchLabels") or {}
    rows = (selector or {}).get("matchExpressions") or []
    if not wanted and not rows:
        return False
    if not all(LABEL_KEY.fullmatch(key) and LABEL_VALUE.fullmatch(value) for key, value in wanted.items()):
        return False
    verdicts = [_expression(row, labels) for row in rows]
    return None not in verdicts and all(verdicts) and all(labels.get(k) == v for k, v in wanted.items())


def choose(labels, pools):
    """The name of the pool that owns a node with these labels, or None."""
    if labels.get("kubernetes.io/os") == "windows":
        return None
    matching = {name for name, pool in pools.items() if selects(pool["spec"].get("nodeSelector"), labels)}
    custom = sorted(matching - {"master", "worker"})
    if len(custom) > 1:
        return None
    order = [name for name in ("master", *custom, "worker") if name in matching]
    return order[0] if order else None


# ---- One node ----

def _drains(notes, state):
    desired, applied = notes.get("desiredDrain"), notes.get("lastAppliedDrain")
    if not desired or not applied:
        return False
    return (desired != applied and desired.split("-")[0] == "drain") or state == "Done"


def _causes(node, notes, pool):
    """[(text, time or None)]: why the node is unavailable."""
    image = ""
    if GROUP + "/layering-enabled" in (pool["metadata"].get("labels") or {}):
        image = (pool["metadata"].get("annotations") or {}).get(MCO + "newestImageEquivalentConfig", "")
    if notes.get("desiredImage", "") != image:
        return []
    found = {c["type"]: c for c in node.get("status", {}).get("conditions") or []}
    causes = [(text, found[kind].get("lastTransitionTime")) for kind, (good, text) in NODE_CONDITIONS.items()
              if kind in found and found[kind]["status"] != good]
    if node.get("spec", {}).get("unschedulable"):
        causes.append(("Node is marked unschedulable", None))
    if causes:
        return causes
    config = [notes.get("currentConfig"), notes.get("desiredConfig")]
    images = [notes.get("currentImage"), notes.get("desiredImage")]
    done = config[0] and config[0] == config[1] and notes.get("state") == "Done" and (
        images == [None, None] or (images[0] and images[0] == images[1]))
    if done or notes.get("state") in ("Degraded", "Unreconcilable"):
        return []
    return [("Machine Config Daemon is processing the node", None)]


class Node:
    """One node that a pool owns."""

    def __init__(self, node, pool, versions, target):
        notes = {key[len(MCO):]: value for key, value in (node["metadata"].get("annotations") or {}).items()
                 if key.startswith(MCO)}
        self.name, self.pool = node["metadata"]["name"], pool["metadata"]["name"]
        current, desired, state = (notes.get(key) for key in ("currentConfig", "desiredConfig", "state"))
        self.version, coming = versions.get(current), versions.get(desired)
        updated = bool(self.version) and self.version == target and desired in (None, current)
        updating = not updated and bool(self.version) and bool(coming) and coming == target
        self.degraded = bool(desired) and state in ("Degraded", "Unreconcilable")
        self.outdated = self.version != target or not self.version
        self.phase = self._phase(updated, updating, _drains(notes, state), state, pool)
        causes = [] if updating else _causes(node, notes, pool)
        self.unavailable = " | ".join(text for text, _ in causes)
        self.since = min((when for _, when in causes if when), default=None)
        self.reason = notes.get("reason", "")

    @staticmethod
    def _phase(updated, updating, draining, state, pool):
        if updating:
            if draining:
                return "Draining"
            return {"Rebooting": "Rebooting", "Done": "Completed"}.get(state, "Updating")
        if updated:
            return "Completed"
        return "Paused" if pool["spec"].get("paused") else "Pending"

    def status(self):
        updating, text, estimate = PHASES[self.phase]
        status = {
            "name": self.name, "scopeType": scope(self.pool),
            "poolResource": {"group": GROUP, "resource": "machineconfigpools", "name": self.pool},
            "message": (self.reason if self.degraded else self.unavailable)[:MESSAGE_MAX],
            "conditions": {
                "Updating": (updating, self.phase, text),
                "Available": ("False", "Unavailable", self.unavailable) if self.unavailable
                else ("True", "AsExpected", "The node is available"),
                "Degraded": ("True", "Degraded", self.reason[:TEXT_MAX]) if self.degraded
                else ("False", "AsExpected", "The node is not degraded")}}
        if self.version and len(self.version) <= VERSION_MAX and SEMVER.fullmatch(self.version):
            status["version"] = self.version
        if estimate and not self.degraded and not self.unavailable:
            status["estimatedToComplete"] = estimate
        return status


def scope(pool):
    return "ControlPlane" if pool == "master" else "WorkerPool"


# ---- One pool ----

def _pool_status(pool, nodes):
    phases = [node.phase for node in nodes]
    counts = dict(zip(SUMMARIES, (
        len(nodes), sum(not node.unavailable for node in nodes),
        phases.count("Updating") + phases.count("Rebooting"), sum(node.outdated for node in nodes),
        phases.count("Draining"), phases.count("Paused"),
        sum(node.degraded for node in nodes))))
    active, done = any(phase in ACTIVE for phase in phases), phases.count("Completed")
    if counts["Degraded"]:
        assessment = "Degraded"
    elif pool["spec"].get("paused") and counts["Outdated"]:
        assessment = "Excluded"
    elif active:
        assessment = "Progressing"
    else:
        assessment = "Completed" if nodes and done == len(nodes) else "Pending"
    updating = {"Completed": ("False", "Updated"), "Excluded": ("False", "Paused"),
                "Progressing": ("True", "Progressing"), "Pending": ("False", "Pending"),
                "Degraded": ("True", "Progressing") if active else ("False", "Pending")}[assessment]
    healthy = {"Degraded": ("False", "NodesDegraded"), "Completed": ("True", "AllNodesUpdated"),
               "Excluded": ("True", "Paused"), "Progressing": ("True", "NoProblems"),
               "Pending": ("True", "NoProblems" if nodes else "NoNodes")}[assessment]
    name = pool["metadata"]["name"]
    return {"name": name, "scopeType": scope(name), "assessment": assessment, "summaries": counts,
            "completionPercent": done * 100 // len(nodes) if nodes else 0,
            "conditions": {"Updating": updating, "Healthy": healthy}}


# ---- All of it ----

class World:
    """version: the ClusterVersion, or None."""

    def __init__(self, nodes, pools, configs, version=None):
        by_name = {pool["metadata"]["name"]: pool for pool in pools}
        versions = {config["metadata"]["name"]: (config["metadata"].get("annotations") or {}).get(
            MCO + "release-image-version") for config in configs}
        history = (version or {}).get("status", {}).get("history") or []
        self.target = history[0].get("version", "") if history else ""
        self._nodes = {}
        for node in nodes:
            owner = choose(node["metadata"].get("labels") or {}, by_name)
            if owner:
                self._nodes[node["metadata"]["name"]] = Node(node, by_name[owner], versions, self.target)
        self._pools = by_name

    def nodes(self):
        return {name: node.status() for name, node in self._nodes.items()}

    def pools(self):
        return {name: _pool_status(pool, [node for node in self._nodes.values() if node.pool == name])
                for name, pool in self._pools.items()}

    def since(self, name):
        """When the causes of an Available=False began; None without a time."""
        return self._nodes[name].since


# ---- What is stored ----

def plain(status):
    """A stored status of either kind without times; of a pool's conditions no messages: ours to word."""
    status = {key: value for key, value in (status or {}).items() if value is not None}
    keys = ("status", "reason") if "assessment" in status else ("status", "reason", "message")
    conditions = status.get("conditions") or []
    status["conditions"] = {c["type"]: tuple(c.get(key, "") for key in keys) for c in conditions}
    if len(status["conditions"]) != len(conditions):
        status["conditions"]["twice"] = conditions
    if "summaries" in status:
        status["summaries"] = {row["type"]: row["count"] for row in status["summaries"]}
    elif "poolResource" in status:
        status.setdefault("message", "")
    return status


def times(status):
    """type -> (status, lastTransitionTime)"""
    return {c["type"]: (c["status"], c["lastTransitionTime"]) for c in (status or {}).get("conditions") or []}


def late_or_kept(before, after, since=None, earliest=""):
    """What is wrong with the times of a status that came after another one (None: the first). Unchanged:
    kept. Turned or new: since, for an Available=False whose causes have it; else not before `earliest`."""
    old = times(before)
    for kind, (status, when) in times(after).items():
        if kind in old and old[kind][0] == status:
            if when != old[kind][1]:
                yield f"{kind} stayed {status}, but its time went from {old[kind][1]} to {when}"
        elif (kind, status) == ("Available", "False") and since:
            if when != since:
                yield f"{kind} turned {status} at {when}, its causes began at {since}"
        elif when < earliest:
            yield f"{kind} turned {status} at {when}, before {earliest}"
