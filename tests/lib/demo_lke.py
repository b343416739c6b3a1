"""tests/lib/demo_lke.py - ./dev demo lke: NodeClaims get their machines, and what that costs in API calls.

Two clusters, one of each tier, on a muster-sim each, with the Linode API and its limits; a musterd for each
of them. What is drawn is read from the API server, from the provider's audit log, and from the metrics of
lke-claimer (the budget that is left, as the API reported it last).
"""
import collections
import contextlib
import re

import muster
from demoview import bar
from lketree import (CLAIM_TAGS, POOLS, claim_bodies, claims, condition, is_ready, lke, nodepool,
                     stand_ins, wrong_owners)
from muster import wait_for

ABOUT = "30 NodeClaims over three pools and both tiers become Ready; calls spent and budget left."
# (tier, NodePool, instance type): each is one pool at the provider
KEYS = [("standard", "general", "g6-standard-2"), ("standard", "batch", "g6-dedicated-4"),
        ("enterprise", "general", "g6-standard-2")]
WAVES = (4, 6)                  # NodeClaims of each pool; the second ones come when the first are launched
SPEED = 8                       # a machine is a Ready Node after about twelve seconds
TIMEOUT_S = 240
LIMITS = {"instances": 200, "tag-instance": 1600}   # a minute: of lists, of all other calls
BUDGET = re.compile(r'^muster_provider_budget\{.*\bclass="([^"]*)".*\} (\d+)', re.M)
WRITES = ("POST", "PUT", "DELETE")
PHASES = ("waiting", "machine", "Node", "Ready")


class Tier:
    """One cluster: what it has, and what it has cost so far."""

    def __init__(self, name, linode, tree):
        self.name, self.linode, self.tree = name, linode, tree
        self.claims, self.machines, self.calls, self.budget = {}, [], [], {}

    def refresh(self, demo):
        for text in wrong_owners(self.linode):
            demo.violation(f"{self.name}: {text}")
        self.claims = claims(self.linode.server)
        self.machines = self.linode.state()["nodes"]
        self.calls = self.linode.audit()
        with contextlib.suppress(OSError):      # not served yet
            self.budget.update({name: int(left) for name, left in BUDGET.findall(self.tree.metrics_page())})

    def phases(self, pool):
        """How many of its NodeClaims wait, have a machine, have a Node, are Ready."""
        mine = [item for item in self.claims.values()
                if item["metadata"]["labels"]["karpenter.sh/nodepool"] == pool]
        return collections.Counter(map(phase, mine))

    def left(self, call_class):
        return f"{self.budget.get(call_class, LIMITS[call_class]):>4} of {LIMITS[call_class]}"


def phase(item):
    if is_ready(item):
        return "Ready"
    if (condition(item, "Registered") or [""])[0] == "True":
        return "Node"
    return "machine" if item.get("status", {}).get("providerID") else "waiting"


class Scene:
    def __init__(self, demo, tiers):
        self.demo, self.tiers, self.rounds = demo, tiers, 0

    def refresh(self, last=False):
        self.rounds += 1
        for tier in self.tiers.values():
            tier.refresh(self.demo)
        everything = [row for tier in self.tiers.values() for row in tier.calls]
        figures = self.demo.figures
        figures["claims"] = sum(len(tier.claims) for tier in self.tiers.values())
        figures["ready"] = sum(is_ready(item) for tier in self.tiers.values()
                               for item in tier.claims.values())
        figures["writes"] = sum(row["method"] in WRITES for row in everything)
        figures["calls"] = len(everything)
        self.demo.draw(self.rows(), self.line(), last)

    def line(self):
        figures = self.demo.figures
        lists = min(tier.budget.get("instances", LIMITS["instances"]) for tier in self.tiers.values())
        return (f"{self.demo.seconds():5.1f} s  {figures['claims']} NodeClaims, {figures['ready']} Ready; "
                f"{figures['calls']} calls, {figures['writes']} of them writes; {lists} lists left of "
                f"{LIMITS['instances']} a minute")

    def rows(self):
        figures = self.demo.figures
        yield (f"{self.demo.seconds():5.1f} s   {figures['ready']} of {figures['claims']} NodeClaims Ready   "
               f"{figures['calls']} calls spent, {figures['writes']} of them writes")
        yield ""
        for tier, pool, kind in KEYS:
            counted = self.tiers[tier].phases(pool)
            states = ", ".join(f"{counted[name]} {name}" for name in PHASES if counted[name])
            yield f"  {tier:<11}{pool:<9}{kind:<15}{bar(counted['Ready'], sum(WAVES))} {states}"
        yield ""
        yield f"  {'budget left':<22}{'lists a minute':<20}other calls a minute"
        for name, tier in self.tiers.items():
            yield f"  {name:<22}{tier.left('instances'):<20}{tier.left('tag-instance')}"

    def wait(self, fact, what):
        """wait_for, drawn."""
        wait_for(lambda: self.refresh() or fact(), what, TIMEOUT_S, every=0.2)

    def create(self, wave):
        """Every pool gets its NodeClaims of that wave at once."""
        for tier, pool, kind in KEYS:
            names = [f"{pool}-{wave}{number}" for number in range(WAVES[wave])]
            self.tiers[tier].linode.server.kube.create_many(
                "nodeclaims", claim_bodies(*names, pool=pool, kind=kind))
        self.demo.report(f"{len(KEYS)} times {WAVES[wave]} NodeClaims are made")

    def launched(self):
        return all(self.tiers[tier].phases(pool)["waiting"] == 0 for tier, pool, _ in KEYS)


@contextlib.contextmanager
def tier_of(name):
    with lke(name, speed=SPEED, actors={"metrics": muster.METRICS}, crds=stand_ins()) as (linode, tree):
        yield Tier(name, linode, tree)


def check_end(demo, tiers):
    """What holds when all are Ready: one machine for each, one POST for each pool, no error but a 404."""
    for name, tier in tiers.items():
        pools = {pool for tier_name, pool, _ in KEYS if tier_name == name}
        made = [row for row in tier.calls if row["class"] == "create-pool"]
        owned = [node for node in tier.machines if any(tag.startswith(CLAIM_TAGS) for tag in node["tags"])]
        demo.check(len(made) == len(pools), f"{name}: {len(made)} pools were made for {len(pools)}")
        demo.check(len(tier.machines) == len(owned) == len(tier.claims),
                   f"{name}: {len(tier.machines)} machines, {len(owned)} of them owned, for "
                   f"{len(tier.claims)} NodeClaims")
        demo.check(not [row for row in tier.calls if row["code"] == 429], f"{name}: a limit was exceeded")


def stay(demo, tiers):
    lines = []
    for name, tier in tiers.items():
        run = f"MUSTER_RUN_DIR={tier.tree.run_dir} {muster.BIN}/muster"
        lines += [f"{name}:", f"  KUBECONFIG={tier.linode.server.kubeconfig} kubectl get nodeclaims,nodes",
                  f"  {run} explain nodeclaim/general-00", f"  {run} trace nodeclaim/general-00",
                  f"  curl {tier.tree.metrics_url()}"]
    demo.stay(*lines)


def play(demo):
    demo.figures.update(claims=0, ready=0, writes=0, calls=0)
    demo.headline(f"two LKE clusters, {SPEED} times as fast as real time, limits as the API has them; "
                  "a musterd for each")
    with contextlib.ExitStack() as stack:
        tiers = {name: stack.enter_context(tier_of(name)) for name in dict.fromkeys(key[0] for key in KEYS)}
        scene = Scene(demo, tiers)
        for tier, pool, _ in KEYS:
            server = tiers[tier].linode.server
            if server.kube.find(POOLS, pool) is None:
                nodepool(server, pool)
        demo.headline("NodeClaims come, and get their machines")
        for wave in range(len(WAVES)):
            scene.create(wave)
            scene.wait(scene.launched, "every NodeClaim has its machine")
            demo.report("every NodeClaim has a machine of its own")
        wanted = len(KEYS) * sum(WAVES)
        scene.wait(lambda: demo.figures["ready"] == wanted, f"{wanted} NodeClaims are Ready")
        scene.refresh(last=True)
        check_end(demo, tiers)
        demo.headline("and why a NodeClaim has its machine")
        demo.show(tiers["enterprise"].tree, "explain", "nodeclaim/general-00", most=30)
        stay(demo, tiers)
    summarize(demo, scene)


def summarize(demo, scene):
    figures, tiers = demo.figures, scene.tiers
    per_class = collections.Counter(row["class"] for tier in tiers.values() for row in tier.calls)
    demo.summary(
        f"- {figures['ready']} of {figures['claims']} NodeClaims in {len(KEYS)} pools of {len(tiers)} "
        f"clusters are Ready, each with a machine of its own, after {demo.seconds():.1f} s",
        f"- {figures['calls']} API calls, {figures['writes']} of them writes: "
        f"{', '.join(f'{number} {name}' for name, number in per_class.most_common())}",
        f"- {len(demo.violations)} violations; checked {scene.rounds} times: no machine of two NodeClaims, "
        "no NodeClaim with two machines",
        "Try ./dev demo lke --stay, and in another terminal kubectl get nodeclaims and muster explain.")
