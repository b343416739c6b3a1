"""tests/real/test_rights.py - the rights that the chart gives are enough, and each that is missing is named.

Once per actor: its ServiceAccount begins with no rule at all. What the log names as forbidden is granted, one
verb of one resource each, until all work of the actor is done: so each right was missing once and was named,
and what is granted in the end is a part of what the chart gives for this actor. Then with all actors in one
Pod: everything that the chart gives, and no request is refused.

insight and node-state have tests/real/test_nodes_rbac.py, Events and the Lease tests/real/test_rbac.py.

muster-test: parallel
muster-test: timeout=900
"""
import contextlib
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capacrds
import lketree
import rolloutcrds
import rolloutworld
import tap
import viptree
import vpsietree
from capatree import Aws, CapaTree
from capatree import World as CapaWorld
from fleettree import FleetTree
from fleettree import World as FleetWorld
from helmchart import ACTORS, only, template
from ipamprovider import IpamProvider
from kubeservers import RealServer
from lketree import LKE, LkeTree, claim_bodies, is_ready
from muster import wait_for
from providers import Provider
from viptree import VipTree
from vpsie import VPSie
from vpsietree import VPSieTree, make_group, scale

RESOURCES_OF_RIGHTS = ("clusterroles", "roles")
DENIED = re.compile(r'cannot (\w+) resource \\*"([^"\\]+)\\*" in API group \\*"([^"\\]*)\\*"')
DONE_S = 300
# Not named in these cases, and why. The verb, and the resource or None for all.
ELSEWHERE = {
    # The server lists by a watch; `list` is for those that cannot.
    ("list", None): "watch-list",
    ("patch", "events"): "test_rbac: a series", ("create", "events"): "test_rbac",
    ("get", "leases"): "test_rbac", ("watch", "leases"): "test_rbac", ("create", "leases"): "test_rbac",
    ("update", "leases"): "test_rbac",
    # Deletes by its own decision: launch-timeout, registration-timeout; a Node that lost its machine.
    ("delete", "nodeclaims"): "test_lke", ("delete", "nodes"): "test_lke, test_vpsie",
    # Asked for only where the admission plugin OwnerReferencesPermissionEnforcement is on.
    ("update", "clusters/finalizers"): "test_capi",
    # Pods past terminationGracePeriod.
    ("delete", "pods"): "test_drain",
    # Live reads after an answer that was lost, or a conflict.
    ("get", None): "a live read after a conflict",
}


class Account:
    """The ServiceAccount of a release of the chart, with the rules that were granted so far."""

    def __init__(self, server, name, values, granted=False):
        self.server, self.namespace = server, f"rights-{name}"
        server.kube.create("namespaces", {"metadata": {"name": self.namespace}})
        rendered = template(values, release=self.namespace, namespace=self.namespace)
        self.name = f"{self.namespace}-muster"
        applied = server.kubectl("apply", "-f", "-", stdin=rendered)
        assert applied.returncode == 0, applied.stderr
        made = server.kubectl("create", "token", self.name, "-n", self.namespace, "--duration=2h")
        assert made.returncode == 0, made.stderr
        self.token, self.user = made.stdout.strip(), f"system:serviceaccount:{self.namespace}:{self.name}"
        self.roles = {kind: server.kube.get(kind, self.name, kind == "roles" and self.namespace or None)
                      for kind in RESOURCES_OF_RIGHTS}
        self.given = {(verb, resource, group) for role in self.roles.values() for rule in role["rules"]
                      for verb in rule["verbs"] for resource in rule["resources"]
                      for group in rule["apiGroups"]}
        self.granted = set()
        if not granted:
            self.write()

    def write(self):
        for kind, role in self.roles.items():
            rules = [{"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                     for verb, resource, group in sorted(self.granted)
                     if (resource == "leases") == (kind == "roles")]
            body = {**role, "metadata": {key: role["metadata"][key] for key in ("name", "namespace")
                                         if key in role["metadata"]}, "rules": rules}
            self.server.kube.replace(kind, body, kind == "roles" and self.namespace or None)

    def may(self, verb, resource, group):
        name, _, sub = resource.partition("/")
        made = self.server.kube.call("POST", "apis/authorization.k8s.io/v1/subjectaccessreviews", body={
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
                "user": self.user, "resourceAttributes": {
                    "verb": verb, "group": group, "resource": name, "subresource": sub,
                    "namespace": self.namespace if name == "leases" else ""}}})
        return made["status"]["allowed"]

    def grant(self, missing):
        unknown = missing - self.given
        assert not unknown, f"these rights are needed, and the chart does not give them: {sorted(unknown)}"
        self.granted |= missing
        self.write()
        wait_for(lambda: all(self.may(*right) for right in missing), "what was granted counts")

    def refused(self):
        rows = [row for row in self.server.audit() if row["user"] == self.user and row["code"] == 403]
        return sorted({(row["verb"], "/".join(filter(None, (row["resource"], row["subresource"]))))
                       for row in rows})


def named(tree):
    """(verb, resource, group) -> the actors whose log names it as forbidden, in warnings and errors."""
    found = {}
    for line in tree.log().splitlines():
        if line.startswith("{") and re.search('"level":"(warn|error)"', line):
            fact = json.loads(line)
            for verb, resource, group in DENIED.findall(line):
                found.setdefault((verb, resource, group), set()).update(
                    filter(None, (fact.get("actor"), fact.get("peer"))))
    return found


def drive(account, tree, *steps):
    """steps: (what, do, done). Grants what is named until all of them are done."""
    deadline = time.monotonic() + DONE_S
    began, rounds = time.monotonic(), 0

    def advance(done):
        nonlocal rounds
        missing = set(named(tree)) - account.granted
        if missing:
            rounds += 1
            account.grant(missing)
            # A kind, or a write, that was forbidden is tried again after a minute.
            names = [name for name, row in tree.actors().items() if row["state"] == "running"
                     and name not in ("node-state", "metrics")]
            for name in sorted(names, key=lambda name: name == "kube-watcher"):
                tree.control(f"restart {name}")
            return False
        return done()
    for what, do, done in steps:
        do()
        try:
            wait_for(lambda: advance(done), what, deadline - time.monotonic(), every=0.2)
        except AssertionError as late:
            raise AssertionError(f"{late}; granted {sorted(account.granted)}; refused by the server "
                                 f"{account.refused()}") from None
    report(account, tree, rounds, time.monotonic() - began)


def report(account, tree, rounds, seconds):
    who = named(tree)
    assert set(who) == account.granted and all(who.values()), (who, account.granted)
    left = {(verb, resource) for verb, resource, _ in account.given - account.granted}
    silent = {right for right in left if right not in ELSEWHERE and (right[0], None) not in ELSEWHERE}
    tap.note(f"{account.namespace}: {len(account.granted)} of {len(account.given)} rights were missing and "
             f"named, in {rounds} rounds and {seconds:.0f} s; not asked for here: "
             f"{', '.join(' '.join(right) for right in sorted(left))}")
    assert not silent, f"these rights are not needed, or nothing reports that they are missing: {silent}"


# -- the work of each actor

def create_pod(server, name, node):
    with contextlib.suppress(Exception):
        server.kube.delete("pods", name, "default")
    server.kube.create("pods", {"metadata": {"name": name}, "spec": {
        "nodeName": node, "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "c", "image": "c"}]}}, "default")


def lke_steps(server, linode, name="one"):
    def mine():
        return lketree.claims(server).get(name)

    def delete():
        create_pod(server, f"of-claim-{name}", mine()["status"]["nodeName"])
        server.kube.delete(lketree.CLAIMS, name)
    yield ("a NodeClaim is Ready", lambda: server.kube.create_many(lketree.CLAIMS, claim_bodies(name)),
           lambda: is_ready(mine()))
    yield "it is gone, drained", delete, lambda: not mine() and not linode.state()["nodes"]


def vpsie_steps(server, vpsie, name="one"):
    def items():
        return list(vpsietree.nodes(vpsie).values())

    def shrink():
        create_pod(server, f"of-worker-{name}", items()[0]["status"]["nodeName"])
        scale(vpsie, name, 0)
    yield ("a worker is Ready", lambda: make_group(vpsie, name, 1),
           lambda: [item.get("status", {}).get("phase") for item in items()] == ["Ready"])
    yield ("it is gone, drained", shrink,
           lambda: not items() and not vpsie.workers("ready", "joined", "running"))


def capa_steps(world, name="one"):
    def deploy():
        world.cluster(name, "eu-west-1")
        world.deployment(name, "m5.large", name)
        world.deployment(f"typo-{name}", "m5.larg", name)
    yield "it is annotated", deploy, lambda: "machine.openshift.io/vCPU" in world.annotations(name)
    yield "an Event is written", lambda: None, lambda: world.events(f"typo-{name}")


def vip_steps(world, name="one"):
    """The second Cluster has a claim without an owner, as the original controller makes it: it is adopted."""
    def adopted():
        world.kube.create(viptree.CLAIMS, {"metadata": {"name": f"vip-cp-old-{name}"}, "spec": {"poolRef": {
            "apiGroup": viptree.IPAM, "kind": "GlobalInClusterIPPool", "name": "control-plane"}}}, "default")
        world.cluster(f"old-{name}")
    yield ("a Cluster has its address", lambda: world.cluster(f"vip-{name}"),
           lambda: world.endpoint(f"vip-{name}").get("host"))
    yield ("a claim is adopted", adopted,
           lambda: world.claim(f"vip-cp-old-{name}")["metadata"].get("ownerReferences"))


# -- cases

def lke_claimer(server):
    account = Account(server, LKE, only(LKE))
    with Provider("linode", speed=50) as linode, lketree.joined(linode, server.kube), \
            LkeTree(linode, server=server, token=account.token) as tree:
        drive(account, tree, *lke_steps(server, linode))


def vpsie_claimer(server):
    account = Account(server, "vpsie-claimer", only("vpsie-claimer"))
    with VPSie(speed=50) as vpsie, vpsie.joined(server), \
            VPSieTree(vpsie, server=server, token=account.token) as tree:
        drive(account, tree, *vpsie_steps(server, vpsie))


def capa_annotator(server):
    account = Account(server, "capa-annotator", only("capa-annotator"))
    with Aws() as aws, CapaTree(server, aws.identity(), token=account.token) as tree:
        drive(account, tree, *capa_steps(CapaWorld(server)))


def vip_claimer(server):
    account = Account(server, "vip-claimer", only("vip-claimer"))
    with VipTree(server, settings={"enable-runtime-extension": False}, token=account.token) as tree, \
            IpamProvider(server.kube):
        drive(account, tree, *vip_steps(viptree.World(server)))


def the_rights_of_all_actors_are_enough_for_all(server):
    """In one Pod, one after the other done by the same musterd; the update is that of test_nodes_rbac."""
    everyone = {name: {"enabled": True} for name in ACTORS}
    account = Account(server, "all", {"actors": everyone}, granted=True)
    server.forget_audit()
    electing = {"leader-elect": True, "lease-namespace": account.namespace}
    with FleetWorld(speed=50) as world, lketree.joined(world.linode, server.kube), \
            world.vpsie.joined(server), IpamProvider(server.kube), \
            FleetTree(world, server=server, token=account.token, watcher=electing) as tree:
        tree.wait_running()
        rolloutworld.populate(server, [rolloutworld.node("w1"), rolloutworld.node("w2")],
                              [rolloutworld.pool("worker")])
        name = "two"
        steps = [*lke_steps(server, world.linode, name), *vpsie_steps(server, world.vpsie, name),
                 *capa_steps(CapaWorld(server), name), *vip_steps(viptree.World(server), name),
                 ("both nodes have an insight", lambda: None,
                  lambda: {"w1", "w2"} <= set(server.kube.names(rolloutcrds.NODE_INSIGHTS)))]
        for what, do, done in steps:
            do()
            wait_for(done, what, 120)
        assert account.refused() == [], account.refused()
        assert not named(tree), named(tree)


def prepare(server):
    lketree.prepare(server, lketree.stand_ins())
    kinds = {crd["metadata"]["name"]: crd for crd in (*capacrds.crds(), *viptree.crds())}
    server.install(*kinds.values(), *vpsietree.CRDS, *rolloutcrds.openshift(), *rolloutcrds.insights())
    viptree.World(server).pool("control-plane")
    viptree.World(server).cluster_class()


def main():
    try:
        server = RealServer()
    except tap.Skip as why:
        print(f"1..0 # SKIP {str(why).splitlines()[0]}", flush=True)
        return

    def case_of(function):
        def run():
            function(server)
        run.__name__ = f"each_right_of_{function.__name__}_is_named_when_it_is_missing"
        return run
    with server:
        prepare(server)
        tap.side_by_side(*map(case_of, (lke_claimer, vpsie_claimer, capa_annotator, vip_claimer)))

        @tap.case
        def the_rights_of_all_actors_are_enough():
            the_rights_of_all_actors_are_enough_for_all(server)
        tap.main()


main()
