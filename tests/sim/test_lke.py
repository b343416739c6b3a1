"""tests/sim/test_lke.py - lke-claimer with real processes on muster-sim, in both tiers.

muster-test: parallel
muster-test: timeout=400
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from lketree import (CLAIMS, CLASSES, LKE, TYPE, check_owners, claim, claims, condition, events,
                     is_ready, lke, nodepool, owners, wait_gone, wait_ready)
from muster import wait_for

NAMES = [f"c{number}" for number in range(6)]


def classes(rows):
    """How many calls of each class."""
    found = {}
    for row in rows:
        found[row["class"]] = found.get(row["class"], 0) + 1
    return found


def writes(server):
    """How often the actor has written to the cluster, Events left out."""
    return len([row for row in server.order("GET", "audit") if row["user-agent"].startswith("muster-")
                and row["verb"] in ("create", "update", "patch", "delete") and row["resource"] != "events"])


def message(item):
    return condition(item, "Launched")[2]


def whole_life(tier):
    with lke(tier) as (linode, tree):
        server = linode.server
        claim(server, *NAMES)
        wait_ready(linode, *NAMES)
        calls = classes(linode.audit())
        assert calls["tag-instance"] == len(NAMES), calls
        # C5: claims that came after the POST was intended raise the count once more.
        assert calls["create-pool"] == 1 and calls.get("scale-pool", 0) <= 1, calls
        written = writes(server)
        item = claims(server)["c0"]
        labels = item["metadata"]["labels"]
        assert labels["node.kubernetes.io/instance-type"] == TYPE, labels
        assert labels["topology.kubernetes.io/zone"] == "us-ord", labels
        assert labels["karpenter.sh/capacity-type"] == "on-demand", labels
        assert item["status"]["capacity"]["cpu"] == "2", item["status"]
        assert item["status"]["allocatable"]["memory"], item["status"]
        kubesuite.pause(2)
        assert writes(server) == written and classes(linode.audit()) == calls, "A1 A12 it does not rest"
        # C5: two more, one PUT, or one for each if the first was sent before the second came.
        before = calls.get("scale-pool", 0)
        claim(server, "d0", "d1")
        wait_ready(linode, "d0", "d1")
        calls = classes(linode.audit())
        assert calls["create-pool"] == 1 and calls["scale-pool"] - before <= 2, calls
        assert "machine" in tree.explain("d0"), tree.explain("d0")
        # C8: one goes with its machine and its Node; the rest stays.
        machine = int(claims(server)["c0"]["status"]["providerID"].removeprefix("linode://"))
        server.kube.delete(CLAIMS, "c0")
        wait_gone(server, "c0")
        wait_for(lambda: machine not in owners(linode), "its machine is gone")
        assert len(server.kube.list("nodes")["items"]) == len(NAMES) + 1
        assert "delete-pool" not in classes(linode.audit())
        # The pool goes with its last machines.
        left = [*NAMES[1:], "d0", "d1"]
        for name in left:
            server.kube.delete(CLAIMS, name)
        wait_gone(server, *left)
        wait_for(lambda: linode.state() == {"pools": [], "nodes": []}, "nothing is left at the provider")
        assert not server.kube.list("nodes")["items"]
        assert [row["code"] for row in linode.audit() if row["code"] not in (200, 404)] == [], linode.audit()


def C1_C5_C8_C10_the_life_of_NodeClaims_in_Standard():
    whole_life("standard")


def C1_C5_C8_C10_the_life_of_NodeClaims_in_Enterprise():
    whole_life("enterprise")


def A2_C1_killed_while_its_pool_is_made_and_while_it_tags():
    with lke("standard") as (linode, tree):
        linode.fault("late_answer", "create-pool", ms=3000)
        claim(linode.server, *NAMES)
        wait_for(lambda: linode.state()["pools"], "the pool is made, and its answer has not come")
        incarnation = tree.kill(LKE)
        tree.wait_back(LKE, incarnation)
        wait_for(lambda: any(owners(linode).values()), "a machine has a tag", 120)
        incarnation = tree.kill(LKE)
        check_owners(linode)
        tree.wait_back(LKE, incarnation)
        wait_ready(linode, *NAMES, timeout=120)
        assert len(linode.state()["pools"]) == 1, linode.state()
        made = [node for node in linode.state()["nodes"] if node["machine"] != "deleting"]
        assert len(made) == len(NAMES), made


def A4_C1_limits_and_lost_answers():
    with lke("enterprise") as (linode, _):
        faults = [linode.fault("status", "tag-instance", code=429, retry_after="1", count=2),
                  linode.fault("lost", "tag-instance", after=2, count=2),
                  linode.fault("lost", "create-pool"), linode.fault("status", "instances", code=503)]
        claim(linode.server, *NAMES)
        wait_ready(linode, *NAMES, timeout=120)
        assert all(linode.hits(fault) for fault in faults), [linode.hits(fault) for fault in faults]
        assert classes(linode.effects())["create-pool"] == 1, linode.effects()
        assert len([node for node in linode.state()["nodes"]]) == len(NAMES), linode.state()


def C11_C19_bad_input_makes_nothing_and_is_explained():
    with lke("standard") as (linode, _):
        server = linode.server
        claim(server, "no-pool", pool="missing")
        claim(server, "no-class", reference={"group": "karpenter.k8s.linode", "kind": "LinodeNodeClass",
                                             "name": "missing"})
        claim(server, "no-type", kind="g6-unknown")
        claim(server, "too-large", requests={"cpu": "64"})
        claim(server, "foreign", reference={"group": "example.com", "kind": "OtherClass", "name": "default"})
        wanted = {"no-pool": "NodePoolNotFound", "no-class": "NodeClassNotFound",
                  "no-type": "InstanceTypeResolutionFailed", "too-large": "InstanceTypeResolutionFailed"}

        def explained():
            there = claims(server)
            return all((condition(there[name], "Launched") or [0, 0])[1] == reason
                       for name, reason in wanted.items()) and "g6-unknown" in message(there["no-type"])
        wait_for(explained, "each has its condition")
        there = claims(server)
        for name, reason in wanted.items():
            wait_for(lambda: reason in events(linode, name), f"an Event about {name}")
        assert "finalizers" not in there["foreign"]["metadata"] and "status" not in there["foreign"], "C2a"
        assert not linode.effects() and not linode.state()["nodes"], linode.state()
        # What is missing comes: work goes on.
        nodepool(server, "missing")
        wait_ready(linode, "no-pool")


def A4_a_wrong_token_is_named_and_the_right_one_ends_it():
    with lke("standard") as (linode, tree):
        linode.remove_token(linode.token)
        claim(linode.server, "a")

        def named():
            found = condition(claims(linode.server)["a"], "Launched")
            return found and "token" in found[2]
        wait_for(named, "the condition names the token")
        wait_for(lambda: "ProviderFailed" in events(linode, "a"), "an Event")
        linode.add_token("one", linode.token)
        wait_ready(linode, "a")


def C17_a_class_is_Ready_and_held_while_claims_refer_to_it():
    with lke("standard") as (linode, _):
        kube = linode.server.kube
        wait_for(lambda: is_ready(kube.get(CLASSES, "default")), "the class is Ready")
        claim(linode.server, "a")
        wait_ready(linode, "a")
        kube.delete(CLASSES, "default")
        kube.delete(CLAIMS, "a")
        wait_gone(linode.server, "a")
        wait_for(lambda: kube.find(CLASSES, "default") is None, "the class is gone")
        kube.create(CLASSES, {"metadata": {"name": "wrong"}, "spec": {"lkeK8sVersion": "v9"}})
        wait_for(lambda: condition(kube.get(CLASSES, "wrong"), "Ready"), "it has a condition")
        assert condition(kube.get(CLASSES, "wrong"), "ValidationSucceeded")[1] == "LKEK8sVersionUnsupported"


def C9_a_machine_that_nobody_needs_goes_after_the_ttl():
    with lke("standard", settings={"orphan-ttl": "2s", "resync-interval": "1s"}) as (linode, _):
        claim(linode.server, "a", "b")
        wait_for(lambda: len(linode.state()["nodes"]) == 2, "two machines are ordered")
        linode.server.kube.delete(CLAIMS, "a")
        wait_gone(linode.server, "a")
        wait_ready(linode, "b")
        wait_for(lambda: list(owners(linode).values()) == [["b"]], "the machine of nobody is gone")


tap.side_by_side(C1_C5_C8_C10_the_life_of_NodeClaims_in_Standard,
                 C1_C5_C8_C10_the_life_of_NodeClaims_in_Enterprise,
                 A2_C1_killed_while_its_pool_is_made_and_while_it_tags,
                 A4_C1_limits_and_lost_answers,
                 C11_C19_bad_input_makes_nothing_and_is_explained,
                 A4_a_wrong_token_is_named_and_the_right_one_ends_it,
                 C17_a_class_is_Ready_and_held_while_claims_refer_to_it,
                 C9_a_machine_that_nobody_needs_goes_after_the_ttl)
tap.main()
