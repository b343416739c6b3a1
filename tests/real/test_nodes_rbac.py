"""tests/real/test_nodes_rbac.py - the shipped RBAC is enough for node-state and insight, and no more.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import copy
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import rolloutcrds
import rolloutworld as world
from kubeservers import RealServer
from muster import BIN, wait_for
from rolloutcrds import INSIGHTS, NODE_INSIGHTS
from rollouttree import NodesTree
from rolloutworld import node, pool

NAMESPACE, ACCOUNT = "muster-system", "muster"
OURS = ("machineconfigpools", "machineconfigs", "clusterversions", *INSIGHTS)


def prepare(server):
    rolloutcrds.install(server)
    shipped = subprocess.run([str(BIN / "muster"), "check", "--print-rbac"], check=True, text=True,
                             capture_output=True).stdout
    done = server.kubectl("apply", "-f", "-", stdin=shipped)
    assert done.returncode == 0, done.stderr
    made = server.kubectl("create", "token", ACCOUNT, "-n", NAMESPACE)
    assert made.returncode == 0, made.stderr
    server.account = made.stdout.strip()


@contextlib.contextmanager
def running(server):
    """Two workers and two pools that come into being, without an insight."""
    world.sweep(server)
    world.populate(server, [node("w1"), node("w2")], [pool("worker"), pool("spare")])
    with NodesTree(server, downs=0, token=server.account) as tree:
        yield tree


def live(server, tree):
    """All that needs a right, step by step: insights are created, one is written after another client
    changed it, and some are deleted."""
    yield "they are made", tree.wait_settled
    for kind in INSIGHTS:
        for name in tree.insights(kind):
            server.kube.merge(kind, name, {"metadata": {"labels": {"touched": "yes"}}})
    world.annotate(server, "w1", state="Degraded", reason="for the test")
    yield "they move on", tree.wait_settled
    server.kube.delete("nodes", "w2")
    server.kube.delete("machineconfigpools", "spare")
    yield "they go", tree.wait_settled


def the_shipped_rights_are_enough(server):
    server.forget_audit()
    with running(server) as tree:
        for _, settled in live(server, tree):
            settled()
        rows = [row for row in server.audit() if ACCOUNT in row["user"]]
        assert [row for row in rows if row["code"] == 403] == []
        used = {row["verb"] for row in rows if row["resource"] == NODE_INSIGHTS}
        assert used >= {"get", "watch", "create", "update", "delete"}, used
        assert "forbidden" not in tree.log().lower()


def a_right_that_is_taken_away_is_named(server):
    """A right that is not needed must not be shipped."""
    role, unnamed = server.kube.get("clusterroles", "muster"), []
    role["metadata"].pop("resourceVersion")
    for number, rule in enumerate(role["rules"]):
        resource = rule["resources"][0]
        # This server lists by a watch; `list` is for those that cannot, and test_rbac.py names it for nodes.
        for verb in set(rule["verbs"]) - {"list"} if resource.split("/")[0] in OURS else ():
            reduced = copy.deepcopy(role)
            reduced["rules"][number]["verbs"].remove(verb)
            reduced["rules"] = [one for one in reduced["rules"] if one["verbs"]]
            server.kube.replace("clusterroles", reduced)
            with running(server) as tree:
                if not named(server, tree, verb, resource.split("/")[0]):
                    unnamed.append(f"{verb} {resource}")
    server.kube.replace("clusterroles", role)
    assert unnamed == [], f"not logged as missing, and not needed: {unnamed}"


def named(server, tree, verb, resource):
    """The log names this verb on this resource as forbidden, before all is settled without it."""
    def logged():
        lines = [line for line in tree.log().splitlines() if re.search('"level":"(warn|error)"', line)]
        return any(re.search(rf"\b{verb}\b", line) and re.search(rf"\b{resource}\b", line) for line in lines)

    def settles(settled):
        with contextlib.suppress(AssertionError):
            settled(timeout=0.5)
            return True
        return False

    for what, settled in live(server, tree):
        why = f"{verb} {resource}: {what}, or it is named"
        if wait_for(lambda: "logged" if logged() else settles(settled), why) == "logged":
            return True
    return logged()


kubesuite.run(RealServer, the_shipped_rights_are_enough, a_right_that_is_taken_away_is_named, prepare=prepare)
