"""tests/real/test_lke.py - lke-claimer on a real kube-apiserver with the real Karpenter CRDs, in both tiers.

A hundred NodeClaims at once, then fifty deletions, while the API refuses calls and loses answers and actors
are killed at random (the seed is printed; ./dev test --seed N replays it); then ten minutes without a write,
where a minute of the settings is three seconds.

muster-test: parallel
muster-test: timeout=900
"""
import os
import pathlib
import random
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from kubeservers import RealServer
from kubesuite import case
from lketree import (CLAIMS, LKE, STATE, LkeTree, check_history, check_owners, claim_bodies, claims,
                     instances, joined, owners, prepare, wait_gone, wait_ready)
from muster import wait_for
from providers import Provider

COUNT = 100
SEED = int(os.environ.get("MUSTER_SEED") or random.SystemRandom().getrandbits(32))
WATCHER = "kube-watcher"
KILLS = {WATCHER: 3, STATE: 4, LKE: 4}      # the fifth end of kube-watcher in five minutes ends musterd
PAUSE_S = (0.2, 2.0)                        # between two kills
MINUTE_S = 3
SETTINGS = {"resync-interval": f"{2 * MINUTE_S}s", "orphan-ttl": f"{5 * MINUTE_S}s"}
QUIET_S = 10 * MINUTE_S
NEVER_MS = 3_600_000
OTHERS = {"group": "karpenter.example.com", "kind": "OtherNodeClass", "name": "default"}
WRITES = ("create", "update", "patch", "delete", "deletecollection")


class Checks(threading.Thread):
    """check_owners again and again, in a thread."""

    def __init__(self, linode, server):
        super().__init__(daemon=True)
        self.linode, self.server = linode, server
        self.ending, self.failure, self.count = threading.Event(), None, 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.ending.set()
        self.join()
        if kind is None and self.failure:
            raise self.failure

    def run(self):
        while not self.ending.wait(0.5):
            try:
                check_owners(self.linode, self.server)
                self.count += 1
            except AssertionError as wrong:
                self.failure = wrong
                return


class Kills:
    """kill -9 of one actor, or of two at once, at random moments."""

    def __init__(self, tree):
        self.tree, self.chance, self.left = tree, random.Random(SEED), dict(KILLS)

    def some(self, number):
        for _ in range(number):
            kubesuite.pause(self.chance.uniform(*PAUSE_S))
            names = [name for name, left in self.left.items() if left > 0]
            chosen = self.chance.sample(names, min(len(names), self.chance.choice((1, 1, 2))))
            ended = {name: self.tree.kill(name) for name in chosen}
            for name, incarnation in ended.items():
                self.left[name] -= 1
                self.tree.wait_back(name, incarnation)

    def count(self):
        return sum(KILLS.values()) - sum(self.left.values())


def inject_faults(linode):
    for kind, call, more in (("status", "tag-instance", {"code": 429, "retry_after": "1", "count": 3}),
                             ("lost", "tag-instance", {"after": 5, "count": 3}),
                             ("lost", "create-pool", {}), ("status", "instances", {"code": 503}),
                             ("lost", "delete-node", {"after": 10, "count": 2}),
                             ("status", "delete-node", {"code": 429, "retry_after": "1", "after": 15})):
        linode.fault(kind, call, **more)


def life(tier, server):
    names, kube = [f"c{number}" for number in range(COUNT)], server.kube
    gone, stay = names[:COUNT // 2], names[COUNT // 2:]
    [foreign] = kube.create_many(CLAIMS, claim_bodies("foreign", reference=OTHERS))
    with Provider("linode", speed=50) as linode, joined(linode, kube), \
            LkeTree(linode, tier, SETTINGS, server=server) as tree, Checks(linode, server) as checks:
        kills = Kills(tree)
        tree.wait_running()
        inject_faults(linode)
        kube.create_many(CLAIMS, claim_bodies(*names))
        wait_for(lambda: linode.state()["pools"], "a pool is made")
        kills.some(3)
        wait_ready(linode, *names, server=server, timeout=240)
        state = linode.state()
        assert len(state["pools"]) == 1 and len(state["nodes"]) == COUNT, state
        # C8 C14: half of them go.
        before = len(linode.audit())
        kube.delete_many(CLAIMS, gone)
        wait_for(lambda: linode.effects("DELETE"), "a machine is deleted")
        kills.some(3)
        wait_gone(server, *gone, timeout=240)
        calls = len(linode.audit()) - before
        wait_for(lambda: sorted(owners(linode).values()) == sorted([name] for name in stay),
                 "no machine of a deleted NodeClaim is left, and none of nobody")
        wait_ready(linode, *stay, server=server)
        assert len(kube.list("nodes")["items"]) == len(stay)
        given = check_history(linode)
        assert given == COUNT, f"C1 {given} machines were given to {COUNT} NodeClaims"
        rest(linode, server)
        assert claims(server)["foreign"] == foreign, f"C2a {claims(server)['foreign']}"
        tap.note(f"{tier}, seed {SEED}: {before} calls for {COUNT} NodeClaims, {calls} for {len(gone)} "
                 f"deletions, {kills.count()} kills, {checks.count} checks")
        kube.delete_many(CLAIMS, [*stay, "foreign"])
        wait_gone(server, *stay, timeout=120)
        wait_for(lambda: linode.state() == {"pools": [], "nodes": []}, "nothing is left at the provider")


def rest(linode, server):
    """A1: ten minutes of lists, and no write to the cluster or to the provider."""
    def lists():
        return len([row for row in linode.audit("GET") if row["class"] == "instances"])
    server.forget_audit()
    changed, seen = len(linode.effects()), lists()
    kubesuite.pause(QUIET_S)
    written = [row for row in server.audit()
               if row["verb"] in WRITES and row["user-agent"].startswith("muster")]
    assert not written, f"A1 {written}"
    assert len(linode.effects()) == changed, f"A1 {linode.effects()[changed:]}"
    assert lists() - seen >= 3, "it still observes"


@case
def A2_C1_C5_C8_a_hundred_NodeClaims_with_kills_in_Standard(server):
    life("standard", server)


@case
def A2_C1_C5_C8_a_hundred_NodeClaims_with_kills_in_Enterprise(server):
    life("enterprise", server)


@case
def C8_C9_deleted_before_their_Nodes_in_Enterprise_while_nodes_lag(server):
    """No machine joins. Some go before they have a machine, the others once they have it; nothing leaks."""
    names = [f"e{number}" for number in range(10)]
    with Provider("linode", speed=50) as linode, \
            LkeTree(linode, "enterprise", SETTINGS, server=server) as tree, Checks(linode, server):
        tree.wait_running()
        linode.set("nodes_lag_ms", NEVER_MS)
        server.kube.create_many(CLAIMS, claim_bodies(*names))
        wait_for(lambda: linode.state()["pools"], "a pool is made")
        server.kube.delete_many(CLAIMS, names[:5])
        wait_for(lambda: {name for found in owners(linode).values() for name in found} >= set(names[5:]),
                 "each of the others has its machine", 120)
        assert instances(linode) and not server.kube.list("nodes")["items"]
        server.kube.delete_many(CLAIMS, names[5:])
        wait_gone(server, *names, timeout=120)
        wait_for(lambda: linode.state() == {"pools": [], "nodes": []}, "no machine is left", 120)
        assert check_history(linode) >= 5


kubesuite.run(RealServer, prepare=prepare)
