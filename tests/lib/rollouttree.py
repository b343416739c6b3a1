"""tests/lib/rollouttree.py - a musterd with node-state, insight, and test consumers that report all.

    with NodesTree(server, downs=2) as tree:
        tree.wait_settled()                     # every insight is as the oracle has it
        tree.received(since)                        # every notification that test-down-1 got
        tree.writes()                           # what insight wrote, from the audit of the server

test-down-N are queried as test-kube-N are (tests/actors/down.c).
"""
import os
import re
import signal
import urllib.request

import kubetree
import oracle
import rolloutcrds
from kubetree import KubeTree, Question
from muster import wait_for
from rolloutcrds import INSIGHTS, NODE_INSIGHTS, POOL_INSIGHTS
from rolloutworld import items, world_of

STATE, INSIGHT, WATCHER = "node-state", "insight", kubetree.WATCHER
WRITES = ("create", "update", "patch", "delete", "deletecollection")


def down(number=1):
    return f"test-down-{number}"


class NodesTree(KubeTree):
    """downs: how many actors downstream beside insight; settings: {actor: {setting: value}} beyond."""

    def __init__(self, server, downs=1, insight=True, metrics=False, settings=None, **more):
        super().__init__(server, readers=0, **more)
        self.downs = [down(number) for number in range(1, downs + 1)]
        if insight:
            self.settings[INSIGHT] = {}
        for name in self.downs:
            self.settings[name] = {"socket": str(self.run_dir / name / "ask.sock")}
        for name, values in (settings or {}).items():
            self.settings[name] = {**self.settings.get(name, {}), **values}
        page = {"enabled": False}
        if metrics:
            page = {f"{what}-bind-address": "127.0.0.1:0" for what in ("metrics", "health-probe")}
        self.configure({"supervisor": {"log-format": "json"}, "actors": {"metrics": page, **self.settings}})

    # -- actors downstream

    def begin(self, op, number=1, **fields):
        return Question(self.settings[down(number)]["socket"], {"op": op, **fields})

    def states(self, number=1):
        """key -> {"uid", "rv", "type", "fields"}: nodes/... and machineconfigpools/..."""
        return self.dump(number)["states"]

    def state(self, name, number=1):
        """The fields of one node's state, or None."""
        row = self.states(number).get(f"nodes/{name}")
        return row and row["fields"]

    def facts_held(self, number=1):
        return self.dump(number)["facts"]

    def received(self, since=0, number=1, link=None):
        """The notifications from that number on; of one link, if given."""
        answer = self.ask("notifications", number, since=since)
        return [row for row in answer["notifications"] if link in (None, row["link"])]

    def mark(self, number=1):
        """The number of the next notification."""
        return self.ask("notifications", number, since=1 << 30)["next"]

    def gone(self, number=1, since=0):
        """Keys of states that were ever reported gone."""
        return {row["key"] for row in self.received(since, number, "nodes") if row["kind"] == "gone"}

    def wait_up(self, timeout=60):
        """Until every actor runs, and the consumers hold a complete snapshot."""
        self.wait_running(timeout=timeout)
        for number in range(1, len(self.downs) + 1):
            self.wait(lambda: self.dump(number)["fresh"], f"{down(number)} is fresh", timeout)

    def wait_states(self, number=1, timeout=60):
        """Until that actor's states are the oracle's."""
        def differences():
            world, held = world_of(self.server), self.states(number)
            yield from compare({f"nodes/{n}": s for n, s in world.nodes().items()},
                               {key: as_status(key, row["fields"]) for key, row in held.items()
                                if key.startswith("nodes/")})
        self.wait_equal_to(differences, f"{down(number)} holds the oracle's states", timeout)

    # -- insights

    def insights(self, resource=NODE_INSIGHTS):
        return {item["metadata"]["name"]: item for item in items(self.server.kube, resource)}

    def wait_settled(self, world=None, timeout=60, kinds=INSIGHTS):
        """Until every insight is as the oracle has it."""
        def differences():
            wanted = world or world_of(self.server)
            for kind, truth in ((NODE_INSIGHTS, wanted.nodes()), (POOL_INSIGHTS, wanted.pools())):
                if kind in kinds:
                    yield from compare(truth, {name: oracle.plain(item.get("status"))
                                               for name, item in self.insights(kind).items()})
        self.wait_equal_to(differences, "the insights are the oracle's", timeout)

    def wait_equal_to(self, differences, what, timeout):
        found = []

        def none():
            found[:] = differences()
            return not found
        try:
            self.wait(none, what, timeout, every=0.2)
        except AssertionError as late:
            raise AssertionError(f"{late}: {len(found)} differences, such as {found[:5]}") from None

    def writes(self, *resources):
        """What we wrote of these resources (of the insights), oldest first."""
        return [row for row in self.server.audit() if row["user-agent"].startswith("muster")
                and row["verb"] in WRITES and row["resource"] in (resources or INSIGHTS)]

    def wait_writes(self, count, *resources):
        """Until that many were answered: an object can be seen before the server has noted who wrote it."""
        def enough():
            found = [row for row in self.writes(*resources) if row["code"]]
            return found if len(found) >= count else None
        return wait_for(enough, f"{count} writes of insights") if count else self.writes(*resources)

    # -- the page of the metrics

    def scrape(self):
        """{series: value}; empty while it is not served."""
        try:
            address = (self.run_dir / "metrics" / "metrics.addr").read_text().strip()
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as page:
                lines = page.read().decode().splitlines()
        except OSError:
            return {}
        return {series: float(value) for series, value in
                (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))}

    def evaluations(self):
        """node -> how often it was evaluated, from the metrics."""
        counts = {}
        for series, value in self.scrape().items():
            found = re.fullmatch(r'oue_node_state_evaluation_total\{(.*)\}', series)
            name = found and re.search(r'\bnode="([^"]*)"', found[1])
            if name:
                counts[name[1]] = counts.get(name[1], 0) + int(value)
        return counts

    # -- faults

    def revive(self, *names):
        """kill -9 of these at once; returns when they are back."""
        dead = {name: self.kill(name) for name in names}
        for name, incarnation in dead.items():
            self.wait_back(name, incarnation)

    def freeze(self, name):
        pid = self.pid(name)
        os.kill(pid, signal.SIGSTOP)
        return pid


def compare(wanted, held):
    for name in sorted(wanted.keys() | held.keys()):
        if name not in held:
            yield f"{name} is missing"
        elif name not in wanted:
            yield f"{name} is too many"
        elif wanted[name] != held[name]:
            ours, truth = held[name], wanted[name]
            keys = [key for key in truth.keys() | ours.keys() if truth.get(key) != ours.get(key)]
            yield f"{name}: " + "; ".join(f"{key} {ours.get(key)!r}, not {truth.get(key)!r}" for key in keys)


def as_status(key, fields):
    """A state on the bus in the form of the oracle."""
    status = {"name": key.split("/")[1], "scopeType": fields["scope"], "message": fields["message"],
              "poolResource": {"group": rolloutcrds.MCO_GROUP, "resource": "machineconfigpools",
                               "name": fields["pool"]},
              "conditions": {row[0]: tuple(row[1:4]) for row in fields["conditions"]}}
    optional = {"version": fields["version"], "estimatedToComplete": fields["estimate"]}
    return status | {name: value for name, value in optional.items() if value}
