"""tests/lib/demo_vip.py - ./dev demo vip: three Clusters get VIPs, a fourth waits for an exhausted pool.

The simulated Cluster API calls the hooks and waits as long as they ask for it; then it renders the
infrastructure cluster with the patch that it gets. The IPAM provider is played (ipamprovider). Each Cluster
is drawn with its address, as the API server has it, and with the last answer of the hook.
"""
import json
import threading

import muster
from ipamprovider import IpamProvider
from muster import wait_for
from viptree import GLOBAL_POOLS, World, claimer, patches

ABOUT = "Three Clusters get VIPs before they are rendered; a fourth waits until its pool grows."
POOL = "control-plane"
SETTINGS = {"before-create-timeout": "1s"}
TIMEOUT_S = 120


class Cluster(threading.Thread):
    """What Cluster API does for one: BeforeClusterCreate until it passes, then GeneratePatches."""

    def __init__(self, scene, name):
        super().__init__(daemon=True)
        self.scene, self.name = scene, name
        self.message, self.waited, self.rendered, self.error = "", False, None, None
        scene.world.cluster(name)
        self.start()

    def run(self):
        try:
            self.render()
        except Exception as error:
            self.error = error

    def render(self):
        hooks, world = self.scene.tree.hooks(), self.scene.world
        while True:
            answer = hooks.before_create(world.request(self.name))
            self.message = answer["message"]
            self.waited |= "exhausted" in self.message
            if answer["retryAfterSeconds"] == 0:
                break
            if self.scene.ended.wait(answer["retryAfterSeconds"]):
                return
        answer = hooks.generate_patches(self.name)
        self.rendered = patches(answer)["one"][0]["value"] if answer.get("items") else {}


class Scene:
    def __init__(self, demo, server, tree):
        self.demo, self.server, self.tree = demo, server, tree
        self.world, self.ended = World(server), threading.Event()
        self.clusters, self.first, self.hosts = [], {}, {}

    def make(self, *names):
        self.clusters += [Cluster(self, name) for name in names]

    def pool_is_read(self):
        """By vip-claimer: its gate lets a Cluster pass for which it has read no pool."""
        answer = json.loads(self.tree.cli("explain", f"{GLOBAL_POOLS}/{POOL}", "-o", "json").stdout)
        return bool(answer["actors"].get("vip-claimer", {}).get("held"))

    def refresh(self, last=False):
        self.observe()
        self.demo.figures.update(clusters=len(self.clusters), vips=len(self.given()),
                                 waited=sum(each.waited for each in self.clusters))
        self.demo.draw(self.rows(self.hosts), self.line(), last)

    def given(self):
        return [host for host in self.hosts.values() if host]

    def observe(self):
        """Reads what there is, and checks it."""
        demo, claims = self.demo, self.world.claims()
        self.hosts = hosts = {each.name: self.world.endpoint(each.name).get("host", "")
                              for each in self.clusters}
        given = self.given()
        demo.check(len(set(given)) == len(given), "two Clusters have one address")
        demo.check(len(claims) <= len(self.clusters),
                   f"{len(claims)} claims for {len(self.clusters)} Clusters")
        for each in self.clusters:
            if each.error is not None:
                raise each.error
            if hosts[each.name]:
                kept = self.first.setdefault(each.name, hosts[each.name])
                demo.check(kept == hosts[each.name], f"the address of {each.name} was {kept}")
            if each.rendered is not None:
                demo.check(each.rendered == {"host": hosts[each.name], "port": 6443},
                           f"{each.name} is rendered with {each.rendered}")

    def line(self):
        figures = self.demo.figures
        return (f"{self.demo.seconds():5.1f} s  {figures['clusters']} Clusters, {figures['vips']} with a "
                f"VIP, {self.count()} rendered")

    def count(self):
        return sum(each.rendered is not None for each in self.clusters)

    def rows(self, hosts):
        yield self.line()
        yield ""
        for each in self.clusters:
            done = "rendered" if each.rendered is not None else each.message
            yield f"  {each.name:<8}{hosts[each.name] or '-':<12}{done}"

    def wait(self, fact, what):
        """wait_for, drawn."""
        wait_for(lambda: self.refresh() or fact(), what, TIMEOUT_S, every=0.2)


def play(demo):
    demo.figures.update(clusters=0, vips=0, waited=0)
    demo.headline("musterd starts, with vip-claimer on a simulated Cluster API")
    with claimer(settings=SETTINGS) as (server, tree), IpamProvider(server.kube) as ipam:
        tree.wait_hooks()
        scene = Scene(demo, server, tree)
        scene.world.cluster_class(variables=["clusterVip"])
        ipam.make_pool(POOL, "rke2", ["10.2.0.20-10.2.0.22"])
        scene.wait(scene.pool_is_read, "vip-claimer has read the pool")
        demo.report(f"pool {POOL}: three addresses. Three Clusters of a ClusterClass are created")
        scene.make("one", "two", "three")
        scene.wait(lambda: scene.count() == 3, "three are rendered with their VIPs")
        scene.make("four")
        demo.report("a fourth: the hook names the cause, and Cluster API calls again")
        scene.wait(lambda: scene.clusters[3].waited, "the fourth waits for the exhausted pool")
        demo.show(tree, "explain", "cluster/default/four", most=14)
        server.kube.merge(GLOBAL_POOLS, POOL, {"spec": {"addresses": ["10.2.0.20-10.2.0.23"]}})
        demo.report("the pool grows by one address")
        scene.wait(lambda: scene.count() == 4, "the fourth is rendered")
        scene.refresh(last=True)
        scene.ended.set()
        kubeconfig = tree.settings["kube-watcher"]["kubeconfig"]
        demo.stay(f"KUBECONFIG={kubeconfig} kubectl get clusters,ipaddressclaims",
                  f"MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster explain cluster/default/four")
    demo.summary("- each Cluster was rendered once, with its address, on the first attempt",
                 "- one claim for each, owned by its Cluster: its address is freed with the Cluster",
                 "- the answer named the exhausted pool, and nothing had to be repeated by hand")
