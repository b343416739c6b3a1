"""tests/lib/demo.py - ./dev demo: an update rolls over a simulated OpenShift, seen through its insights.

    muster-sim  ->  kube-watcher  ->  node-state  ->  insight  ->  kube-watcher  ->  muster-sim

What is drawn is read from the API server, as any client would: the insights that muster keeps there. The
scenario waits for progress, not for the clock, so it is the same on a slow machine.
"""
import argparse
import os
import re
import signal
import sys
import time
import urllib.request

import muster
from demoview import View
from kubeservers import SimServer
from muster import Muster, wait_for
from openshift import Cluster, condition
from rolloutcrds import NODE_INSIGHTS, POOL_INSIGHTS

SIZES = {"masters": 3, "infra": 3, "workers": 24}
AT_ONCE = 4                     # workers
OLD, NEW = "4.20.3", "4.20.4"
SECONDS = 25
WAVE_S, WAVES = 51, 7           # simulated seconds per node; groups of workers, with some time to spare
TIMEOUT_FACTOR = 10             # times as long as it should take
COUNTED = re.compile(r"^oue_downstream_notification_duration_seconds_count\{.*\} (\d+)", re.M)


def headline(text):
    print(f"\n== {text}", flush=True)


def show(tree, *arguments, most=None):
    """The output of the command, or an empty text."""
    lines = tree.cli(*arguments).stdout.splitlines()
    if lines:
        print("\n".join([f"$ muster {' '.join(arguments)}", *lines[:most]]), flush=True)


class Tree(Muster):
    """musterd with everything that makes insights."""

    def __init__(self, server):
        super().__init__("")
        self.metrics_url = f"http://127.0.0.1:{muster.free_port()}/metrics"
        kubeconfig = server.write_kubeconfig(self.folder / "kubeconfig", server.token)
        self.configure({"supervisor": {"log-format": "console"}, "actors": {
            "kube-watcher": {"kubeconfig": str(kubeconfig), "writes-per-second": 500},
            "node-state": {"enabled": True}, "insight": {"enabled": True},
            "metrics": {"metrics-bind-address": self.metrics_url.split("/")[2],
                        "health-probe-bind-address": f"127.0.0.1:{muster.free_port()}"}}})

    def notifications(self):
        """How many notifications this incarnation of node-state has sent; None while it is not available."""
        try:
            with urllib.request.urlopen(self.metrics_url, timeout=5) as answer:
                found = COUNTED.findall(answer.read().decode())
        except OSError:
            return None
        return sum(map(int, found)) if found else None


class Fleet:
    """The insights, and what was counted on the way."""

    def __init__(self, server, tree):
        self.kube, self.tree, self.began = server.kube, tree, time.monotonic()
        self.nodes, self.pools, self.uids = {}, {}, {}
        self.phases, self.recreated = set(), 0
        self.total = self.last = 0
        self.rate, self.rated = 0.0, time.monotonic()

    def refresh(self):
        self.pools = self.listed(POOL_INSIGHTS)
        self.nodes = self.listed(NODE_INSIGHTS)
        self.phases |= {reason(item) for item in self.nodes.values()}
        self.count()

    def listed(self, resource):
        items = {item["metadata"]["name"]: item for item in self.kube.list(resource)["items"]}
        for name, item in items.items():
            uid = item["metadata"]["uid"]
            self.recreated += self.uids.setdefault((resource, name), uid) != uid
        return {name: item for name, item in items.items() if item.get("status")}

    def count(self):
        now, seen = time.monotonic(), self.tree.notifications()
        if seen is None or now - self.rated < 0.5:
            return
        added = seen - self.last if seen >= self.last else seen      # a new incarnation begins at 0
        self.total += added
        self.rate, self.rated, self.last = added / (now - self.rated), now, seen

    def seconds(self):
        return time.monotonic() - self.began

    def done(self, pool=None):
        """How many nodes (of a pool) have the new version."""
        return sum(item["status"].get("version") == NEW for name, item in self.nodes.items()
                   if pool is None or name.startswith(pool))

    def complete(self):
        """Every node has an insight, and every insight is complete."""
        return (len(self.nodes) == sum(SIZES.values()) == self.done()
                and {reason(item) for item in self.nodes.values()} == {"Completed"}
                and {item["status"]["assessment"] for item in self.pools.values()} == {"Completed"})


def reason(insight):
    return condition(insight, "Updating").get("reason", "")


class Scenario:
    """What happens during the update. Each step waits for its condition, acts, and prints a line."""

    def __init__(self, world, tree, fleet, view):
        self.world, self.tree, self.fleet, self.view = world, tree, fleet, view
        self.degraded, self.back_s = None, None
        self.steps = [self.degrade, self.recover, self.kill, self.unpause]

    def advance(self):
        if self.steps and self.steps[0]():
            self.steps.pop(0)

    def degrade(self):
        """Degrades a worker whose config is being applied."""
        at_work = [name for name, item in self.fleet.nodes.items()
                   if name.startswith("worker") and reason(item) == "Updating"]
        if not at_work or self.fleet.done("worker") < SIZES["workers"] // 6:
            return False
        self.degraded = at_work[0]
        self.world.do("degrade", names=[self.degraded])
        self.view.report(f"the daemon of {self.degraded} fails: its node is degraded")
        return True

    def recover(self):
        """Waits until the insights of the node and its pool are degraded, and leaves time to read them."""
        insight = self.fleet.nodes[self.degraded]
        if condition(insight, "Degraded").get("status") != "True":
            return False
        if self.fleet.pools["worker"]["status"]["assessment"] != "Degraded":
            return False
        self.view.draw(self.fleet)
        self.view.rest(3)
        self.world.do("recover")
        self.view.report(f"{self.degraded} recovers")
        return True

    def kill(self):
        if self.fleet.done("worker") < SIZES["workers"] // 2:
            return False
        row, began = self.tree.actor("node-state"), time.monotonic()
        os.kill(row["pid"], signal.SIGKILL)
        self.view.report("kill -9 node-state, in the middle of it")

        def back():
            now = self.tree.actor("node-state")
            return now["incarnation"] > row["incarnation"] and now["state"] == "running" and now["synced"]
        wait_for(back, "node-state is back", every=0.02)
        self.back_s = time.monotonic() - began
        self.view.report(f"node-state is back and complete after {self.back_s * 1000:.0f} ms")
        return True

    def unpause(self):
        """Ends the pause of the pool, as the last step."""
        done = self.fleet.done
        if done("master") < SIZES["masters"] or done("worker") < SIZES["workers"] * 2 // 3:
            return False
        self.world.do("unpause", pool="infra")
        self.view.report("infra is no longer paused")
        return True


def roll(world, tree, fleet, view, seconds):
    """The update from its order to its end."""
    scenario = Scenario(world, tree, fleet, view)
    deadline = time.monotonic() + TIMEOUT_FACTOR * max(seconds, 6)
    fleet.began = time.monotonic()
    world.do("pause", pool="infra")
    world.do("rollout", version=NEW)
    view.report(f"oc adm upgrade --to={NEW}; infra is paused")
    while scenario.steps or not fleet.complete():
        if time.monotonic() > deadline:
            raise AssertionError(f"the update is not over after {TIMEOUT_FACTOR} times {seconds} s")
        fleet.refresh()
        scenario.advance()
        view.draw(fleet)
        time.sleep(0.1)
    view.draw(fleet, last=True)
    return scenario


def stay(tree, server):
    headline("it stays up until you press Ctrl-C")
    print(f"cluster:  KUBECONFIG={server.kubeconfig} kubectl get npi,mcp\n"
          f"inside:   MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster explain node/worker-00\n"
          f"          MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster tap --link nodes\n"
          f"metrics:  curl {tree.metrics_url}\n"
          f"again:    curl {server.control}/cluster -d '{{\"op\": \"rollout\", \"version\": \"4.20.5\"}}'")
    try:
        signal.pause()
    except KeyboardInterrupt:
        print()


def summary(fleet, scenario, up_s, roll_s):
    headline("summary")
    wrong = fleet.recreated + (sum(SIZES.values()) - len(fleet.nodes))
    print(f"- {len(fleet.nodes)} nodes in {len(fleet.pools)} pools went from {OLD} to {NEW} "
          f"in {roll_s:.1f} s; all insights were there {up_s:.1f} s after the start\n"
          f"- phases seen: {', '.join(sorted(fleet.phases - {''}))}\n"
          f"- about {fleet.total} notifications from node-state; "
          "each insight is written only when it changes\n"
          f"- {scenario.degraded} was degraded, and its pool with it, until it recovered; "
          "infra waited while paused\n"
          f"- node-state was killed and was back after {scenario.back_s * 1000:.0f} ms; "
          f"{'nothing was lost: no insight vanished or was made again' if not wrong else f'{wrong} lost'}\n"
          "Try ./dev demo --stay, and in another terminal: muster explain node/worker-00, muster trace "
          "node/worker-00,\n"
          "muster tap --link nodes, kubectl get npi; docs/simulator.md has more that can happen.")
    return 1 if wrong else 0


def main():
    options = argparse.ArgumentParser(prog="./dev demo",
                                      description="An update of a simulated cluster, watched.")
    options.add_argument("--stay", action="store_true", help="leave it running, and print how to inspect it")
    options.add_argument("--seconds", type=int, default=SECONDS,
                         help="that the update should take, about (%(default)s)")
    asked = options.parse_args()
    words = [word for role, n in SIZES.items() for word in (f"--{role}", str(n))]
    speed = WAVE_S * WAVES / max(asked.seconds, 1)
    with SimServer(options=["--crds", muster.ROOT / "deploy/crds", "--openshift", "--release", OLD, *words,
                            "--speed", f"{speed:.1f}"]) as server:
        world = Cluster(server)
        world.do("pool", name="worker", max_unavailable=AT_ONCE)
        headline(f"muster-sim serves an OpenShift {OLD} of {sum(SIZES.values())} nodes, "
                 f"{speed:.0f} times as fast as real time")
        with Tree(server) as tree, open(tree.log_path, errors="replace") as log:
            began = time.monotonic()
            headline("musterd starts kube-watcher, node-state, insight and metrics")
            tree.wait_running()
            fleet = Fleet(server, tree)
            wanted = sum(SIZES.values()), 3
            wait_for(lambda: fleet.refresh() or (len(fleet.nodes), len(fleet.pools)) == wanted,
                     "an insight for every node and pool")
            up_s = time.monotonic() - began
            print(log.read(), end="")
            show(tree, "status")
            headline(f"the update to {NEW}, from the insights in the API server")
            view = View()
            scenario = roll(world, tree, fleet, view, asked.seconds)
            roll_s = fleet.seconds()
            headline("and why a node is as it is")
            show(tree, "explain", f"node/{scenario.degraded}", most=30)
            if asked.stay:
                stay(tree, server)
            headline("stop, stage by stage")
            log.read()
            code = tree.stop()
            print(log.read(), end="")
    sys.exit(summary(fleet, scenario, up_s, roll_s) or code)


if __name__ == "__main__":
    main()
