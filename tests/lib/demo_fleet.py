"""tests/lib/demo_fleet.py - ./dev demo: all scenes in one fleet, under one musterd, side by side.

An OpenShift is updated while NodeClaims and a NodeGroup get their machines, Clusters their VIPs and
MachineDeployments their annotations; in the middle of it node-state is killed. Each part is a generator that
yields the next condition to wait for. What is drawn is read from the API server and from the provider's audit
log.

The figures of --json are what the cluster has at the end: nodes (Nodes of OpenShift and of both providers),
claims and vpsienodes (those that are Ready), vips (Clusters with their address), annotated
(MachineDeployments), insights (NodeProgressInsights and MachineConfigPoolProgressInsights).
"""
import pathlib
import time

import demo_annotator
import demo_openshift
import demo_vip
import demo_vpsie
import muster
from demo_lke import PHASES, WRITES, Tier
from demo_openshift import AT_ONCE, NEW, OLD, SIZES, Fleet, Scenario, condition, pool_row, under_way
from demoview import bar
from fleettree import FleetTree, World
from lketree import claim_bodies, is_ready
from muster import wait_for
from openshift import Cluster
from viptree import GLOBAL_POOLS
from vpsietree import make_group, scale

ABOUT = "All of them in one fleet, about a minute; node-state is killed in the middle of it."
SECONDS = 45
TIMEOUT_S = 300
POOL, FIRST, GROWN = "control-plane", "10.2.0.20-10.2.0.22", "10.2.0.20-10.2.0.23"
CLAIMS = ("g6-standard-2", 6), ("g6-dedicated-4", 4)    # instance type and number of NodeClaims, in turn
WORKERS = 5, 3                                          # the NodeGroup grows to, and shrinks to
KEYS = ("nodes", "claims", "vpsienodes", "vips", "annotated", "insights")


class Update(Scenario):
    """The update, without the pauses that its own scene has for reading."""

    def recover(self):
        if condition(self.fleet.nodes[self.degraded], "Degraded").get("status") != "True":
            return False
        self.world.do("recover")
        self.demo.report(f"{self.degraded} recovers")
        return True


class Scene:
    def __init__(self, demo, world, tree):
        self.demo, self.world, self.tree = demo, world, tree
        self.openshift = Cluster(world.server)
        self.fleet = Fleet(world.server, tree)
        self.update = Update(self.openshift, tree, self.fleet, demo)
        self.lke = Tier("standard", world.linode, tree)
        self.vpsie = demo_vpsie.Scene(demo, world.vpsie)
        self.vip = demo_vip.Scene(demo, world.server, tree)
        self.aws = demo_annotator.Scene(demo, world.aws)
        self.nodes, self.waiting, self.took = 0, {}, {}

    # -- what is there

    def refresh(self):
        self.fleet.refresh()
        self.lke.refresh(self.demo)
        for scene in (self.vpsie, self.vip, self.aws):
            scene.observe()
        self.nodes = len(self.world.server.kube.list("nodes")["items"])
        figures = (self.nodes, self.claims_ready(), len(self.vpsie.of_phase("Ready")),
                   len(self.vip.given()), self.aws.annotated(),
                   len(self.fleet.nodes) + len(self.fleet.pools))
        self.demo.figures.update(zip(KEYS, figures))

    def claims_ready(self):
        return sum(map(is_ready, self.lke.claims.values()))

    # -- the parts

    def rollout(self):
        """Of the OpenShift; its scenario has the kill."""
        self.openshift.do("pause", pool="infra")
        self.openshift.do("rollout", version=NEW)
        self.demo.report(f"oc adm upgrade --to={NEW}; infra is paused")
        yield lambda: self.update.advance() or (not self.update.steps and self.fleet.complete())
        self.demo.report(f"all {sum(SIZES.values())} nodes of the OpenShift run {NEW}")

    def machines(self):
        for number, (kind, count) in enumerate(CLAIMS):
            names = [f"claim-{number}{index}" for index in range(count)]
            self.world.server.kube.create_many("nodeclaims", claim_bodies(*names, kind=kind))
            self.demo.report(f"{count} NodeClaims for {kind}")
            wanted = sum(count for _, count in CLAIMS[:number + 1])
            yield lambda: self.claims_ready() == wanted
        self.demo.report("every NodeClaim is Ready, with a machine of its own")

    def workers(self):
        most, left = WORKERS
        make_group(self.world.vpsie, "web", most)
        self.demo.report(f"NodeGroup web: 0 -> {most}")
        yield lambda: len(self.vpsie.of_phase("Ready")) == most
        scale(self.world.vpsie, "web", left)
        self.demo.report(f"NodeGroup web: {most} -> {left}")
        yield lambda: len(self.vpsie.items) == left == len(self.world.vpsie.workers(*demo_vpsie.RUNNING))

    def addresses(self):
        kube, world = self.world.server.kube, self.vip.world
        world.cluster_class(variables=["clusterVip"])
        world.pool(POOL, addresses=[FIRST])
        yield self.vip.pool_is_read
        self.vip.make("one", "two", "three")
        self.demo.report("three Clusters, and a pool of three addresses")
        yield lambda: self.vip.count() == 3
        self.vip.make("four")
        yield lambda: self.vip.clusters[3].waited
        self.demo.report("a fourth Cluster: the hook names the exhausted pool, and Cluster API calls again")
        kube.merge(GLOBAL_POOLS, POOL, {"spec": {"addresses": [GROWN]}})
        self.demo.report("the pool grows by one address")
        yield lambda: self.vip.count() == 4
        self.vip.ended.set()

    def annotations(self):
        late, unknown = demo_annotator.LATE, demo_annotator.UNKNOWN
        self.aws.deploy()
        self.demo.report(f"{len(demo_annotator.FLEET)} MachineDeployments on AWS; the template of `{late}` "
                         "does not exist yet")
        yield lambda: self.aws.waits_for_late()
        self.demo.report(f"`{unknown}` names a type that EC2 does not have: an Event, and nothing is written")
        self.aws.world.template(late, demo_annotator.FLEET[late][1])
        yield lambda: self.aws.is_right(*demo_annotator.FLEET)

    def run(self):
        """Every part to its end."""
        began = time.monotonic()
        parts = {part.__name__: part() for part in (self.rollout, self.machines, self.workers,
                                                    self.addresses, self.annotations)}
        self.waiting = {name: next(part) for name, part in parts.items()}
        while self.waiting:
            if time.monotonic() > began + TIMEOUT_S:
                raise AssertionError(f"not within {TIMEOUT_S} s: {', '.join(self.waiting)}")
            self.refresh()
            for name, fact in list(self.waiting.items()):
                if fact():
                    self.waiting[name] = next(parts[name], None)
                if self.waiting[name] is None:
                    del self.waiting[name]
                    self.took[name] = time.monotonic() - began
            self.demo.draw(self.rows(), self.line())
            time.sleep(0.3)
        self.refresh()
        self.demo.draw(self.rows(), self.line(), last=True)

    # -- the view

    def line(self):
        figures = self.demo.figures
        return (f"{self.demo.seconds():5.1f} s  {self.fleet.done()} of {sum(SIZES.values())} nodes updated  "
                f"{figures['claims']} NodeClaims, {figures['vpsienodes']} VPSieNodes Ready  "
                f"{figures['vips']} VIPs  {figures['annotated']} annotated")

    def rows(self):
        figures, lke = self.demo.figures, self.lke.phases("general")
        yield (f"{self.demo.seconds():5.1f} s   {figures['nodes']} Nodes, {figures['insights']} insights   "
               f"{self.fleet.rate:.0f} notifications/s, {self.fleet.total} in all")
        yield ""
        for name, item in sorted(self.fleet.pools.items()):
            yield pool_row(name, item["status"], self.fleet.nodes)
        yield from under_way(self.fleet.nodes, most=4)
        yield ""
        yield progress("NodeClaims", lke["Ready"], sum(lke.values()),
                       ", ".join(f"{lke[name]} {name}" for name in PHASES if lke[name]))
        workers = [item.get("status", {}).get("phase", "") for item in self.vpsie.items.values()]
        yield progress("VPSieNodes", workers.count("Ready"), len(workers),
                       ", ".join(f"{workers.count(name)} {name}" for name in sorted(set(workers)) if name))
        yield progress("VIPs", figures["vips"], len(self.vip.clusters), "  ".join(
            f"{name} {host or '-'}" for name, host in self.vip.hosts.items()))
        yield progress("annotated", figures["annotated"], len(self.aws.found),
                       "  ".join(f"`{name}`: {self.aws.why[name]}" for name in self.aws.failed())[:60])


def progress(name, done, wanted, text):
    return f"  {name:<11}{bar(done, wanted, 16)} {done:>2} of {wanted:<4}{text}"


# -- its end

def check_end(demo, scene):
    """What holds when every part is over."""
    machines = scene.lke.machines
    claims = sum(count for _, count in CLAIMS)
    demo.check(len(machines) == claims, f"{len(machines)} machines for {claims} NodeClaims")
    demo.check(not [row for row in scene.lke.calls if row["code"] == 429], "a limit of the API was exceeded")
    demo.check(scene.vpsie.posts == WORKERS[0], f"{scene.vpsie.posts} requests for {WORKERS[0]} VPSieNodes")
    demo.check(not scene.fleet.recreated, f"{scene.fleet.recreated} insights were made again")
    wanted = sum(SIZES.values()) + claims + WORKERS[1]
    demo.check(scene.nodes == wanted, f"{scene.nodes} Nodes, not {wanted}")
    scene.aws.count()


def table(demo, scene):
    """What was wanted, what is there, how long it took and what it cost."""
    figures, took = demo.figures, scene.took
    writes = sum(row["method"] in WRITES for row in scene.lke.calls)
    rows = [
        ("nodes updated", sum(SIZES.values()), scene.fleet.done(), took["rollout"],
         f"{figures['insights']} insights, about {scene.fleet.total} notifications"),
        ("NodeClaims Ready", sum(count for _, count in CLAIMS), figures["claims"], took["machines"],
         f"{len(scene.lke.calls)} calls of the Linode API, {writes} of them writes"),
        ("VPSieNodes Ready", WORKERS[1], figures["vpsienodes"], took["workers"],
         f"0 -> {WORKERS[0]} -> {WORKERS[1]}, {scene.vpsie.posts} machines requested"),
        ("VIPs", len(scene.vip.clusters), figures["vips"], took["addresses"],
         f"{sum(each.waited for each in scene.vip.clusters)} waited for its pool to grow"),
        ("annotated", len(demo_annotator.FLEET) - 1, figures["annotated"], took["annotations"],
         f"{scene.aws.written} writes; `{demo_annotator.UNKNOWN}` has an Event"),
    ]
    yield f"  {'':<18}{'wanted':>6}{'there':>7}{'after':>9}"
    for name, wanted, there, seconds, cost in rows:
        demo.check(wanted == there, f"{name}: {there} of {wanted}")
        yield f"  {name:<18}{wanted:>6}{there:>7}{seconds:>7.1f} s  {cost}"


def stay(demo, world, tree):
    run = f"MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster"
    demo.stay(f"cluster:  KUBECONFIG={world.server.kubeconfig} kubectl get nodes,nodeclaims,vn,clusters,npi",
              f"inside:   {run} status", f"          {run} explain nodeclaim/claim-00",
              f"          {run} explain cluster/default/four", f"          {run} trace node/worker-00",
              f"          {run} tap --link nodes", f"metrics:  curl {tree.metrics_url()}",
              f"again:    curl {world.server.control}/cluster "
              "-d '{\"op\": \"rollout\", \"version\": \"4.20.5\"}'")


def add_options(parser):
    parser.add_argument("--seconds", type=int, default=SECONDS,
                        help="that the OpenShift update should take, about (%(default)s)")
    parser.add_argument("--record-metrics", type=pathlib.Path, metavar="FILE",
                        help="write what /metrics has at the end to this file")


    parser.add_argument("--root", type=pathlib.Path, metavar="FOLDER",
                        help="musterd is PID 1 of this root (./dev image makes build/image/root), not as "
                        "root, and cannot write there")


def play(demo):
    demo.figures.update(dict.fromkeys(KEYS, 0))
    demo.view.colors = {f"% {word:<12}": number for word, number in demo_openshift.COLORS.items()}
    words = [word for role, n in SIZES.items() for word in (f"--{role}", str(n))]
    speed = demo_openshift.WAVE_S * demo_openshift.WAVES / max(demo.asked.seconds, 1)
    demo.headline(f"muster-sim serves an OpenShift {OLD} of {sum(SIZES.values())} nodes, and the APIs of "
                  f"Linode, VPSie and AWS, {speed:.0f} times as fast as real time")
    with World(f"{speed:.1f}", ["--openshift", "--release", OLD, *words]) as world:
        Cluster(world.server).do("pool", name="worker", max_unavailable=AT_ONCE)
        demo.headline("musterd starts all actors: each a process with its own rights and its own credential")
        with FleetTree(world, settings={"vip-claimer": demo_vip.SETTINGS}, root=demo.asked.root) as tree:
            tree.wait_running()
            tree.wait_hooks()
            scene = Scene(demo, world, tree)
            fleet, wanted = scene.fleet, (sum(SIZES.values()), len(SIZES))
            wait_for(lambda: fleet.refresh() or (len(fleet.nodes), len(fleet.pools)) == wanted,
                     "an insight for every node and pool")
            demo.show(tree, "status")
            demo.headline("everything at once, as the API server has it")
            scene.run()
            check_end(demo, scene)
            demo.headline("and why a NodeClaim has its machine")
            demo.show(tree, "explain", "nodeclaim/claim-00", most=16)
            if demo.asked.record_metrics:
                demo.asked.record_metrics.write_text(tree.metrics_page())
            lines = list(table(demo, scene))
            stay(demo, world, tree)
            code = tree.stop()
            demo.check(code == 0, f"musterd ended with {code}")
    demo.summary(
        *lines, "",
        f"- node-state was killed, and was back and complete after {scene.update.back_s * 1000:.0f} ms: "
        "no insight vanished or was made again",
        f"- {len(demo.violations)} violations: no machine of two owners, no owner of two machines, "
        "no address given twice",
        "Try ./dev demo --stay, and in another terminal: muster status -w, muster tap, muster trace "
        "node/worker-00,",
        "muster explain nodeclaim/claim-00; one scene alone: ./dev demo lke (--help lists them).")
