"""tests/real/test_lke.py - lke-claimer on a real kube-apiserver with the real Karpenter CRDs.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
from kubeservers import RealServer
from kubesuite import case
from lketree import CLAIMS, LKE, LkeTree, check_owners, claim_bodies, joined, prepare, wait_gone, wait_ready
from muster import wait_for
from providers import Provider

COUNT = 100


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


def life(server, tier, names):
    with Provider("linode", speed=50) as linode, joined(linode, server.kube), \
            LkeTree(linode, tier, server=server) as tree, Checks(linode, server) as checks:
        tree.wait_running()
        for kind, call, more in (("status", "tag-instance", {"code": 429, "retry_after": "1", "count": 3}),
                                 ("lost", "tag-instance", {"after": 5, "count": 3}),
                                 ("lost", "create-pool", {}), ("status", "instances", {"code": 503})):
            linode.fault(kind, call, **more)
        server.kube.create_many(CLAIMS, claim_bodies(*names))
        wait_for(lambda: linode.state()["pools"], "a pool is made")
        incarnation = tree.kill(LKE)
        tree.wait_back(LKE, incarnation)
        wait_ready(linode, *names, server=server, timeout=180)
        state = linode.state()
        assert len(state["pools"]) == 1 and len(state["nodes"]) == len(names), state
        # C8 C14: half of them go, one more kill in between.
        before = len(linode.audit())
        server.kube.delete_many(CLAIMS, names[:len(names) // 2])
        wait_for(lambda: linode.effects("DELETE"), "a machine is deleted")
        incarnation = tree.kill(LKE)
        tree.wait_back(LKE, incarnation)
        wait_gone(server, *names[:len(names) // 2], timeout=180)
        left = len(names) - len(names) // 2
        wait_for(lambda: len(linode.state()["nodes"]) == left, "their machines are gone")
        check_owners(linode, server)
        print(f"# {tier}: {before} calls for {len(names)} NodeClaims, {len(linode.audit()) - before} for "
              f"{len(names) // 2} deletions, {checks.count} checks", flush=True)


@case
def C1_C10_C12_a_hundred_NodeClaims_in_Standard(server):
    life(server, "standard", [f"c{number}" for number in range(COUNT)])


kubesuite.run(RealServer, prepare=prepare)
