"""bench/lke.py - what NodeClaims cost in calls of the Linode API, and how long they take.

Called by `./dev bench lke`. On muster-sim, which enforces the limits, with real processes at the speed of
real time, both tiers side by side; and in virtual time beside the algorithm of the design document, on a
model of the same API (tests/lib/lkevirtual.py). A table for people, build/bench/lke.json for scripts;
docs/performance.md describes each figure. Nothing passes or fails by a figure.
"""
import concurrent.futures
import contextlib
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/lke.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
import lkevirtual
from figures import figure
from lkedocument import Document, Planned
from lketree import (CLAIMS, CLASSES, CLUSTERS, TYPE, LkeTree, check_owners, claim_bodies, claims, is_ready,
                     nodepool, prepare)
from muster import wait_for
from providers import Provider

CLAIMED, DELETED, QUIET_S = 100, 50, 240
WAIT_S = 240
WRITES = 500                    # a second, to the cluster; kube-watcher by itself has no limit
TIERS = ("standard", "enterprise")
MUTATIONS = ("POST", "PUT", "DELETE")
CATALOGUES = ("types", "availability")      # read once a day: not counted
PROVISION_S = {"standard": lkevirtual.ID_S, "enterprise": lkevirtual.TAGS_S}
POOL_TAGS = ["karpenter.sh/nodepool:general", "karpenter.k8s.linode/lke-managed:true",
             "karpenter.k8s.linode/linodenodeclass:default"]


# ---- On muster-sim ----

class Cluster:
    """A cluster of that tier with lke-claimer, at rest."""

    def __init__(self, tier, machines=0, pools=1):
        self.tier, self.machines, self.pools = tier, machines, pools
        self.linode = Provider("linode", join=True, speed=1)
        self.tree = None

    def __enter__(self):
        self.linode.__enter__()
        server = self.linode.server
        prepare(server)
        for number in range(1, self.pools):
            nodepool(server, f"general-{number}")
        if self.machines:
            self.linode.api.call("POST", f"v4beta/lke/clusters/{CLUSTERS[self.tier]}/pools", body={
                "type": TYPE, "count": self.machines, "tags": POOL_TAGS})
            time.sleep(PROVISION_S[self.tier] + 1)
        self.tree = LkeTree(self.linode, self.tier, watcher={"writes-per-second": WRITES})
        self.tree.__enter__()
        self.tree.wait_running(timeout=WAIT_S)
        wait_for(lambda: is_ready(server.kube.get(CLASSES, "default")), "the class is Ready", WAIT_S)
        return self

    def __exit__(self, *wrong):
        self.tree.__exit__(*wrong)
        self.linode.__exit__(*wrong)

    def calls(self, since=0):
        """(writes, other calls) of lke-claimer from that row on, catalogues left out."""
        rows = [row for row in self.linode.audit()[since:] if row["class"] not in CATALOGUES]
        writes = sum(row["method"] in MUTATIONS for row in rows)
        return writes, len(rows) - writes

    def mark(self):
        return len(self.linode.audit())

    def claim(self):
        """100 NodeClaims of each NodePool at once; seconds until the last one is launched."""
        bodies = [body for number in range(self.pools)
                  for body in claim_bodies(*(f"c{number}-{i}" for i in range(CLAIMED)),
                                           pool=f"general-{number}" if number else "general")]
        began = time.monotonic()
        self.linode.server.kube.create_many(CLAIMS, bodies)
        wait_for(lambda: sum(bool(item.get("status", {}).get("providerID"))
                             for item in claims(self.linode.server).values()) == len(bodies),
                 f"{len(bodies)} NodeClaims are launched", WAIT_S, every=0.1)
        took_s = time.monotonic() - began
        check_owners(self.linode)
        return took_s


# tier -> (what ends it, its Cluster, the calls until then, since when it has nothing to do)
resting = {}


def life(tier):
    """100 NodeClaims for 100 claimable machines, 50 deletions; from then on it has nothing to do."""
    found = {}
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(tier, machines=CLAIMED))
        server, start = cluster.linode.server, cluster.mark()
        found["s"] = cluster.claim()
        found["writes"], found["others"] = cluster.calls(start)
        assert len(cluster.linode.state()["nodes"]) == CLAIMED, "machines were made"
        wait_for(lambda: all(map(is_ready, claims(server).values())), "all are Ready", WAIT_S, every=1)
        start = cluster.mark()
        server.kube.delete_many(CLAIMS, sorted(claims(server))[:DELETED])
        wait_for(lambda: len(claims(server)) == CLAIMED - DELETED, "they are gone", WAIT_S)
        wait_for(lambda: len(cluster.linode.state()["nodes"]) == CLAIMED - DELETED, "their machines", WAIT_S)
        found["deletes"] = sum(cluster.calls(start))
        resting[tier] = (stack.pop_all(), cluster, cluster.mark(), time.monotonic())
    return found


def quiet():
    """What was measured meanwhile in virtual time does not change how many calls come."""
    assert len(resting) == len(TIERS), "the section before has failed"
    with contextlib.ExitStack() as stack:
        for end, *_ in resting.values():
            stack.enter_context(end)
        time.sleep(max(0, max(row[-1] for row in resting.values()) + QUIET_S - time.monotonic()))
        found = {tier: sum(cluster.calls(start)) * 60 / (time.monotonic() - since_s)
                 for tier, (_, cluster, start, since_s) in resting.items()}
        assert all(found.values()), "it does not list any more: does it still run?"
    show("nothing to do", "calls/minute", found, "quiet_calls_per_minute")


def growth(tier, pools):
    """100 NodeClaims of each of so many NodePools, and no machines."""
    with Cluster(tier, pools=pools) as cluster:
        start = cluster.mark()
        took_s = cluster.claim()
        writes, others = cluster.calls(start)
    return {"s": took_s, "writes": writes, "others": others}


def bound_s(tier, writes):
    """The larger of what the writes need at the rate of the limit, and of what a machine needs to come."""
    return max(writes * lkevirtual.WINDOW_S / lkevirtual.LIMITS["general"], PROVISION_S[tier])


# A process ends with the thread that started it (procs.die_with_parent): these last as long as the benchmark.
threads = concurrent.futures.ThreadPoolExecutor(len(TIERS))


def both(measure, *arguments):
    """tier -> what it found, measured side by side."""
    begun = {tier: threads.submit(measure, tier, *arguments) for tier in TIERS}
    return {tier: task.result() for tier, task in begun.items()}


def show(name, unit, values, key=None):
    """A row for each tier; the key has the worse one."""
    for tier, value in values.items():
        figure(f"{name}, {tier}", unit, [value])
    if key:
        figures.keys[key] = round(max(values.values()), 4)


def column(found, name):
    return {tier: row[name] for tier, row in found.items()}


def scaling():
    for pools in (1, 3):
        number = pools * CLAIMED
        found = both(growth, pools)
        show(f"{number} NodeClaims, no machines", "s", column(found, "s"))
        show("  writes", "calls", column(found, "writes"))
        show("  other calls", "calls", column(found, "others"))
        show("  time to the bound", "ratio", {tier: row["s"] / bound_s(tier, row["writes"])
                                              for tier, row in found.items()}, f"scale_{number}_bound_ratio")


def lives():
    found = both(life)
    show(f"{CLAIMED} NodeClaims, {CLAIMED} claimable machines", "s", column(found, "s"), "claims_100_s")
    show("  writes", "calls", column(found, "writes"), "claims_100_writes")
    show("  other calls", "calls", column(found, "others"), "claims_100_other_calls")
    show(f"{DELETED} deletions", "calls", column(found, "deletes"), "deletes_50_calls")


# ---- In virtual time ----

def virtual():
    for machines in (CLAIMED, 0):
        name = f"{CLAIMED} NodeClaims, {machines or 'no'} machines"
        for tier in TIERS:
            ours = Planned(BIN / "bench-lke_plan", tier, CLAIMED, machines)
            ours.run()
            document = Document(tier, CLAIMED, machines)
            document.world.run()
            assert len(document.world.owners()) == CLAIMED
            ratio = document.world.now / ours.world.now
            figure(f"{name}, {tier}: ours", "s", [ours.world.now])
            figure("  calls", "calls", [ours.world.total()])
            if not machines:
                writes = ours.world.total() - ours.world.calls["pools"] - ours.world.calls["instances"]
                figure("  time to the bound", "ratio", [ours.world.now / bound_s(tier, writes)])
            figure("  the document's algorithm", "s", [document.world.now])
            figure("  calls", "calls", [document.world.total()])
            figure("  the document's time to ours", "ratio", [ratio])
            if machines and tier == "standard":
                figures.keys.update(seed_100_calls=document.world.total(),
                                    seed_100_s=round(document.world.now, 1), time_ratio_100=round(ratio, 1))


SECTIONS = [
    ("On muster-sim: machines have to be made", scaling),
    ("On muster-sim: machines are there", lives),
    ("In virtual time, on a model of the API", virtual),
    ("On muster-sim: nothing to do since then", quiet),
]
REQUIRED = ("claims_100_writes", "claims_100_other_calls", "claims_100_s", "scale_100_bound_ratio",
            "scale_300_bound_ratio", "deletes_50_calls", "quiet_calls_per_minute", "seed_100_calls",
            "seed_100_s", "time_ratio_100")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
