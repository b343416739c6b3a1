"""tests/lib/demo_openshift.py - ./dev demo: an update rolls over a simulated OpenShift, seen by its insights.

    muster-sim  ->  kube-watcher  ->  node-state  ->  insight  ->  kube-watcher  ->  muster-sim

What is drawn is read from the API server, as any client would: the insights that muster keeps there. The
scenario waits for progress, not for the clock, so it is the same on a slow machine.
"""
import collections
import os
import re
import signal
import time

import muster
from demoview import bar
from kubeservers import SimServer
from muster import Muster, wait_for
from openshift import Cluster, condition
from rolloutcrds import NODE_INSIGHTS, POOL_INSIGHTS

ABOUT = "An update rolls over an OpenShift of 30 nodes; node-state is killed in the middle of it."
SIZES = {"masters": 3, "infra": 3, "workers": 24}
AT_ONCE = 4                     # workers
OLD, NEW = "4.20.3", "4.20.4"
SECONDS = 25
WAVE_S, WAVES = 51, 7           # simulated seconds per node; groups of workers, with some time to spare
TIMEOUT_FACTOR = 10             # times as long as it should take
ORDER = ("Completed", "Rebooting", "Updating", "Draining", "Paused", "Pending")
COLORS = {"Completed": 32, "Progressing": 36, "Degraded": 31, "Excluded": 33, "Pending": 0}
COUNTED = re.compile(r"^oue_downstream_notification_duration_seconds_count\{.*\} (\d+)", re.M)


class Tree(Muster):
    """musterd with everything that makes insights."""

    def __init__(self, server):
        super().__init__("")
        kubeconfig = server.write_kubeconfig(self.folder / "kubeconfig", server.token)
        self.configure({"supervisor": {"log-format": "console"}, "actors": {
            "kube-watcher": {"kubeconfig": str(kubeconfig), "writes-per-second": 500},
            "node-state": {"enabled": True}, "insight": {"enabled": True}, "metrics": muster.METRICS}})


def notifications(tree):
    """How many notifications this incarnation of node-state has sent; None while it is not available."""
    try:
        found = COUNTED.findall(tree.metrics_page())
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
        now, seen = time.monotonic(), notifications(self.tree)
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

    def __init__(self, world, tree, fleet, demo):
        self.world, self.tree, self.fleet, self.demo = world, tree, fleet, demo
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
        self.demo.report(f"the daemon of {self.degraded} fails: its node is degraded")
        return True

    def recover(self):
        """Waits until the insights of the node and its pool are degraded, and leaves time to read them."""
        insight = self.fleet.nodes[self.degraded]
        if condition(insight, "Degraded").get("status") != "True":
            return False
        if self.fleet.pools["worker"]["status"]["assessment"] != "Degraded":
            return False
        draw(self.demo, self.fleet)
        self.demo.view.rest(3)
        self.world.do("recover")
        self.demo.report(f"{self.degraded} recovers")
        return True

    def kill(self):
        if self.fleet.done("worker") < SIZES["workers"] // 2:
            return False
        row, began = self.tree.actor("node-state"), time.monotonic()
        os.kill(self.tree.pid("node-state"), signal.SIGKILL)
        self.demo.report("kill -9 node-state, in the middle of it")

        def back():
            now = self.tree.actor("node-state")
            return now["incarnation"] > row["incarnation"] and now["state"] == "running" and now["synced"]
        wait_for(back, "node-state is back", every=0.02)
        self.back_s = time.monotonic() - began
        self.demo.report(f"node-state is back and complete after {self.back_s * 1000:.0f} ms")
        return True

    def unpause(self):
        """Ends the pause of the pool, as the last step."""
        done = self.fleet.done
        if done("master") < SIZES["masters"] or done("worker") < SIZES["workers"] * 2 // 3:
            return False
        self.world.do("unpause", pool="infra")
        self.demo.report("infra is no longer paused")
        return True


def roll(world, tree, fleet, demo):
    """The update from its order to its end."""
    seconds = demo.asked.seconds
    scenario = Scenario(world, tree, fleet, demo)
    deadline = time.monotonic() + TIMEOUT_FACTOR * max(seconds, 6)
    fleet.began = time.monotonic()
    world.do("pause", pool="infra")
    world.do("rollout", version=NEW)
    demo.report(f"oc adm upgrade --to={NEW}; infra is paused")
    while scenario.steps or not fleet.complete():
        if time.monotonic() > deadline:
            raise AssertionError(f"the update is not over after {TIMEOUT_FACTOR} times {seconds} s")
        fleet.refresh()
        scenario.advance()
        draw(demo, fleet)
        time.sleep(0.1)
    draw(demo, fleet, last=True)
    return scenario


# ---- The view ----

def draw(demo, fleet, last=False):
    demo.figures["nodes"] = fleet.done()
    states = [(name, item["status"]) for name, item in sorted(fleet.pools.items())]
    pools = "  ".join(f"{name} {status.get('completionPercent', 0)}% {status['assessment']}"
                      for name, status in states)
    line = f"{fleet.seconds():5.1f} s  {pools}  {fleet.rate:.0f} notifications/s"
    demo.draw(screen_rows(fleet), line, last)


def screen_rows(fleet):
    yield (f"{fleet.seconds():5.1f} s   {fleet.done()} of {len(fleet.nodes)} nodes updated   "
           f"{fleet.rate:.0f} notifications/s, {fleet.total} in all")
    yield ""
    for name, item in sorted(fleet.pools.items()):
        yield pool_row(name, item["status"], fleet.nodes)
    yield ""
    yield from under_way(fleet.nodes)


def pool_row(name, status, nodes):
    percent = status.get("completionPercent", 0)
    mine = [item for item in nodes.values() if item["status"]["poolResource"]["name"] == name]
    counted = collections.Counter(reason(item) or "?" for item in mine)
    phases = ", ".join(f"{counted[phase]} {phase.lower()}" for phase in ORDER if counted[phase])
    return f"  {name:<8}{bar(percent, 100)} {percent:>3} % {status['assessment']:<12}{phases}"


def under_way(nodes, most=8):
    """One row for each node that updates or is degraded, and empty rows up to a fixed number."""
    rows = []
    for name, item in sorted(nodes.items()):
        status = item["status"]
        degraded = condition(item, "Degraded").get("status") == "True"
        if degraded or condition(item, "Updating").get("status") == "True":
            text = " ".join(status.get("message", "").split()) if degraded else ""
            rows.append(f"  {name:<12}{reason(item):<12}"
                        f"{status.get('estimatedToComplete', ''):<8}{'DEGRADED ' + text if degraded else ''}")
    return (rows + [""] * most)[:most]


# ---- The scene ----

def add_options(parser):
    parser.add_argument("--seconds", type=int, default=SECONDS,
                        help="that the update should take, about (%(default)s)")


def stay(demo, tree, server):
    demo.stay(f"cluster:  KUBECONFIG={server.kubeconfig} kubectl get npi,mcp",
              f"inside:   MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster explain node/worker-00",
              f"          MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster tap --link nodes",
              f"metrics:  curl {tree.metrics_url()}",
              f"again:    curl {server.control}/cluster "
              "-d '{\"op\": \"rollout\", \"version\": \"4.20.5\"}'")


def summarize(demo, fleet, scenario, up_s, roll_s):
    lost = fleet.recreated + (sum(SIZES.values()) - len(fleet.nodes))
    demo.check(not lost, f"{lost} insights vanished or were made again")
    demo.summary(
        f"- {len(fleet.nodes)} nodes in {len(fleet.pools)} pools went from {OLD} to {NEW} "
        f"in {roll_s:.1f} s; all insights were there {up_s:.1f} s after the start",
        f"- phases seen: {', '.join(sorted(fleet.phases - {''}))}",
        f"- about {fleet.total} notifications from node-state; each insight is written only when it changes",
        f"- {scenario.degraded} was degraded, and its pool with it, until it recovered; "
        "infra waited while paused",
        f"- node-state was killed and was back after {scenario.back_s * 1000:.0f} ms; "
        f"{f'{lost} lost' if lost else 'nothing was lost: no insight vanished or was made again'}",
        "Try ./dev demo --stay, and in another terminal: muster explain node/worker-00, muster trace "
        "node/worker-00,",
        "muster tap --link nodes, kubectl get npi; docs/simulator.md has more that can happen.")


def play(demo):
    demo.figures.update(nodes=0)
    demo.view.colors = {f"% {word:<12}": number for word, number in COLORS.items()}
    words = [word for role, n in SIZES.items() for word in (f"--{role}", str(n))]
    speed = WAVE_S * WAVES / max(demo.asked.seconds, 1)
    with SimServer(options=["--crds", muster.ROOT / "deploy/crds", "--openshift", "--release", OLD, *words,
                            "--speed", f"{speed:.1f}"]) as server:
        world = Cluster(server)
        world.do("pool", name="worker", max_unavailable=AT_ONCE)
        demo.headline(f"muster-sim serves an OpenShift {OLD} of {sum(SIZES.values())} nodes, "
                      f"{speed:.0f} times as fast as real time")
        with Tree(server) as tree, open(tree.log_path, errors="replace") as log:
            began = time.monotonic()
            demo.headline("musterd starts kube-watcher, node-state, insight and metrics")
            tree.wait_running()
            fleet = Fleet(server, tree)
            wanted = sum(SIZES.values()), 3
            wait_for(lambda: fleet.refresh() or (len(fleet.nodes), len(fleet.pools)) == wanted,
                     "an insight for every node and pool")
            up_s = time.monotonic() - began
            print(log.read(), end="")
            demo.show(tree, "status")
            demo.headline(f"the update to {NEW}, from the insights in the API server")
            scenario = roll(world, tree, fleet, demo)
            roll_s = fleet.seconds()
            demo.headline("and why a node is as it is")
            demo.show(tree, "explain", f"node/{scenario.degraded}", most=30)
            stay(demo, tree, server)
            demo.headline("stop, stage by stage")
            log.read()
            code = tree.stop()
            print(log.read(), end="")
            demo.check(code == 0, f"musterd ended with {code}")
    summarize(demo, fleet, scenario, up_s, roll_s)
