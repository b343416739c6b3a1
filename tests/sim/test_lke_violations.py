"""tests/sim/test_lke_violations.py - what stops a pool key, and what ends a NodeClaim that cannot live.

Contract C7 (contradictions at the provider), C6 and C10 (timeouts), C16 (another program), C18 (a machine
that is gone), with real processes on muster-sim.

muster-test: parallel
muster-test: timeout=400
"""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import joiner
import kubesuite
import tap
from lketree import (CLAIM_TAGS, CLAIMS, LKE, LkeTree, by_hand, check_owners, claim, claim_bodies, claims,
                     condition, events, instances, lke, machine_of, own_pool, owners, prepare, set_tags,
                     wait_gone, wait_ready)
from muster import METRICS, wait_for
from providers import Provider

SOON = {"resync-interval": "1s"}
TAG = CLAIM_TAGS[0]
LISTS = 4                       # of a key that stopped: it would have acted on the first


def lists(linode):
    return len([row for row in linode.audit() if row["class"] == "instances" and row["code"] == 200])


def stops_and_resumes(linode, names, correct):
    """These NodeClaims wait for the contradiction to end, and nothing is changed meanwhile."""
    server = linode.server
    for name in names:
        wait_for(lambda: (condition(claims(server)[name], "Launched") or [0, 0])[1] == "InvariantViolation",
                 f"{name} has the condition")
        wait_for(lambda: "InvariantViolation" in events(linode, name), f"{name} has the Event")
    changed, seen = len(linode.effects()), lists(linode)
    wait_for(lambda: lists(linode) >= seen + LISTS, f"{LISTS} more lists")
    assert len(linode.effects()) == changed, linode.effects()[changed:]
    assert condition(claims(server)[names[0]], "Launched")[0] == "Unknown", "C6"
    correct()
    wait_ready(linode, *names)


def C7_two_pools_for_one_key():
    """The unclaimed machines of both are old enough to go, and stay all the same."""
    with Provider("linode", join=True, speed=50) as linode:
        prepare(linode.server)
        first, second = own_pool(linode, 1), own_pool(linode, 1)
        wait_for(lambda: len(linode.state()["nodes"]) == 2, "both have their machine")
        with LkeTree(linode, settings={**SOON, "orphan-ttl": "1s"}) as tree:
            tree.wait_running()
            claim(linode.server, "a")
            stops_and_resumes(linode, ["a"], lambda: by_hand(
                linode, "DELETE", f"lke/clusters/70001/pools/{second['id']}"))
            assert [pool["id"] for pool in linode.state()["pools"]] == [first["id"]], linode.state()


def C7_defect_3_two_instances_with_one_tag():
    """The original counts them as none, and makes a third."""
    with lke("standard", settings=SOON) as (linode, _):
        claim(linode.server, "a")
        wait_ready(linode, "a")
        [pool] = linode.state()["pools"]
        by_hand(linode, "PUT", f"lke/clusters/70001/pools/{pool['id']}", {"count": 2})
        wait_for(lambda: len(instances(linode)) == 2, "a second machine")
        spare = next(item for item in instances(linode) if item["id"] != machine_of(linode, "a"))
        set_tags(linode, spare["id"], [TAG + "a"])
        claim(linode.server, "b")
        stops_and_resumes(linode, ["b"], lambda: set_tags(linode, spare["id"], ["team-b"]))
        assert machine_of(linode, "b") == spare["id"] and len(instances(linode)) == 2
        [tags] = [item["tags"] for item in instances(linode) if item["id"] == spare["id"]]
        assert "team-b" in tags and TAG + "b" in tags, f"C15 {tags}"


def C7_one_instance_with_two_tags():
    with lke("enterprise", settings=SOON) as (linode, _):
        claim(linode.server, "a")
        wait_ready(linode, "a")
        machine = machine_of(linode, "a")
        [tags] = [item["tags"] for item in instances(linode) if item["id"] == machine]
        set_tags(linode, machine, [*tags, TAG + "x"])
        claim(linode.server, "b")
        stops_and_resumes(linode, ["b"], lambda: set_tags(linode, machine, tags))
        assert machine_of(linode, "a") == machine != machine_of(linode, "b")


def A5_C7_metrics_of_claims_machines_and_violations():
    settings = {**SOON, "orphan-ttl": "1s"}
    with lke("standard", settings=settings, actors={"metrics": METRICS}) as (linode, tree):
        def wait_series(name, labels, value):
            wait_for(lambda: tree.series(f"muster_lke_{name}", LKE).get(labels) == value,
                     f"{name}{{{labels}}} is {value}")
        claim(linode.server, "a", "b")
        wait_ready(linode, "a", "b")
        wait_series("nodeclaims", 'state="initialized"', 2)
        wait_series("machines", 'state="claimed"', 2)
        wait_series("launch_duration_seconds_count", "", 2)
        [pool] = linode.state()["pools"]
        by_hand(linode, "PUT", f"lke/clusters/70001/pools/{pool['id']}", {"count": 3})
        wait_series("orphans_removed_total", "", 1)
        second = own_pool(linode, 1)
        claim(linode.server, "c")
        wait_series("stopped_pool_keys", "", 1)
        wait_series("nodeclaims", 'state="waiting"', 1)
        wait_series("warnings_total", 'reason="InvariantViolation"', 1)
        by_hand(linode, "DELETE", f"lke/clusters/70001/pools/{second['id']}")
        wait_ready(linode, "c")
        wait_series("stopped_pool_keys", "", 0)


def C16_a_claim_that_another_program_launches_is_left_alone():
    with Provider("linode", join=True, speed=50) as linode:
        kube = linode.server.kube
        prepare(linode.server)
        pool = own_pool(linode, 1)
        wait_for(lambda: instances(linode), "it has a machine")
        claim(linode.server, "theirs", "also-theirs")
        now = "2026-05-01T10:00:00Z"
        kube.merge(CLAIMS, "theirs", {"status": {"providerID": "linode://123"}}, sub="status")
        kube.merge(CLAIMS, "also-theirs", {"status": {"conditions": [{
            "type": "Launched", "status": "True", "reason": "Launched", "message": "",
            "lastTransitionTime": now}]}}, sub="status")
        before = {name: item["metadata"]["resourceVersion"] for name, item in claims(linode.server).items()}
        with LkeTree(linode, settings=SOON) as tree:
            tree.wait_running()
            for name in before:
                wait_for(lambda: "LaunchedElsewhere" in events(linode, name), f"an Event about {name}")
            claim(linode.server, "ours")
            wait_ready(linode, "ours")
            there = claims(linode.server)
            for name, version in before.items():
                assert there[name]["metadata"]["resourceVersion"] == version, there[name]
                assert events(linode, name) == ["LaunchedElsewhere"], events(linode, name)
            kube.delete(CLAIMS, "theirs")
            wait_gone(linode.server, "theirs")
            assert len(linode.state()["nodes"]) == 1 and linode.state()["pools"][0]["id"] == pool["id"]


@contextlib.contextmanager
def without_nodes(**settings):
    """No machine joins by itself."""
    with Provider("linode", speed=50) as linode:
        prepare(linode.server)
        with LkeTree(linode, settings={**SOON, **settings}) as tree:
            tree.wait_running()
            yield linode, tree


def join(linode, name):
    """The Node of its machine. It has another name than muster-sim gives it, so it stays when that goes."""
    node = f"node-of-{name}"
    joiner.Joiner(dict, linode.server.kube).join(
        node, joiner.node(node, {}, f"linode://{machine_of(linode, name)}"))


def C18_a_machine_that_is_gone_ends_its_claim_once_the_Node_is_not_Ready():
    with without_nodes() as (linode, _):
        kube = linode.server.kube
        claim(linode.server, "a", "b")
        wait_for(lambda: all(owners(linode).values()) and len(owners(linode)) == 2, "both have a machine")
        for name in ("a", "b"):
            wait_for(lambda: claims(linode.server)[name].get("status", {}).get("providerID"),
                     f"{name} is launched")
            join(linode, name)
        wait_ready(linode, "a", "b")
        node = claims(linode.server)["a"]["status"]["nodeName"]
        [label] = [item["label"] for item in instances(linode) if item["id"] == machine_of(linode, "a")]
        by_hand(linode, "DELETE", f"lke/clusters/70001/nodes/{label.removeprefix('lke70001-')}")
        wait_for(lambda: len(instances(linode)) == 1, "the machine is gone")
        seen = lists(linode)
        wait_for(lambda: lists(linode) >= seen + 8, "eight more lists: seconds apart")
        assert not claims(linode.server)["a"]["metadata"].get("deletionTimestamp"), "its Node is Ready"
        kube.patch("application/strategic-merge-patch+json", "nodes", node, {"status": {"conditions": [
            joiner.ready_condition("Unknown")]}}, sub="status")
        wait_gone(linode.server, "a")
        assert "MachineGone" in events(linode, "a"), events(linode, "a")
        assert kube.find("nodes", node) is None
        wait_ready(linode, "b")


def C6_a_claim_that_was_not_launched_in_time_is_deleted():
    with lke("standard", settings={"launch-timeout": "4s"}) as (linode, _):
        claim(linode.server, "a", pool="missing")
        claim(linode.server, "b", reference={"group": "karpenter.k8s.linode", "kind": "LinodeNodeClass",
                                             "name": "missing"})
        wait_gone(linode.server, "a", "b")
        for name in ("a", "b"):
            wait_for(lambda: "LaunchTimeout" in events(linode, name), f"an Event about {name}")
        assert not linode.effects(), linode.effects()


def C10_a_claim_whose_Node_never_joins_is_deleted_with_its_machine():
    with without_nodes(**{"registration-timeout": "3s"}) as (linode, _):
        claim(linode.server, "a")
        wait_for(lambda: any(owners(linode).values()), "it has a machine")
        wait_gone(linode.server, "a")
        assert "RegistrationTimeout" in events(linode, "a"), events(linode, "a")
        wait_for(lambda: linode.state() == {"pools": [], "nodes": []}, "its machine is gone")
        check_owners(linode)


def C2a_a_claim_of_another_class_is_never_touched():
    with lke("standard", settings={"launch-timeout": "1s"}) as (linode, _):
        other = {"group": "karpenter.example.com", "kind": "LinodeNodeClass", "name": "default"}
        [body] = claim_bodies("other", reference=other)
        made = linode.server.kube.create(CLAIMS, body)
        claim(linode.server, "late", pool="missing")
        wait_gone(linode.server, "late")        # so the launch-timeout of the other has passed, too
        kubesuite.pause(1)
        assert claims(linode.server)["other"] == made, claims(linode.server)["other"]
        linode.server.kube.delete(CLAIMS, "other")
        wait_gone(linode.server, "other")
        assert not events(linode, "other") and not linode.effects()


tap.side_by_side(C7_two_pools_for_one_key, C7_defect_3_two_instances_with_one_tag,
                 C7_one_instance_with_two_tags, A5_C7_metrics_of_claims_machines_and_violations,
                 C16_a_claim_that_another_program_launches_is_left_alone,
                 C18_a_machine_that_is_gone_ends_its_claim_once_the_Node_is_not_Ready,
                 C6_a_claim_that_was_not_launched_in_time_is_deleted,
                 C10_a_claim_whose_Node_never_joins_is_deleted_with_its_machine,
                 C2a_a_claim_of_another_class_is_never_touched)
tap.main()
