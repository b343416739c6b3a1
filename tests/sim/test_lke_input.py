"""tests/sim/test_lke_input.py - names, tags, types without capacity, answers that cannot be read; orphans.

Contract C4, C9, C11, C15, C19 and A7 with real processes on muster-sim.

muster-test: parallel
muster-test: timeout=400
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from lketree import (CLAIMS, LkeTree, by_hand, check_owners, claim, claim_bodies, claims, condition, events,
                     instances, lke, machine_of, own_pool, owners, prepare, set_tags, tag_value, wait_gone,
                     wait_ready)
from muster import wait_for
from podkeeper import pod
from providers import Provider

LONG = "n" * 200
UNREGISTERED = "karpenter.sh/unregistered"
DEAR = "g6-dedicated-2"


def typed(name, *types):
    [body] = claim_bodies(name)
    body["spec"]["requirements"][0]["values"] = list(types)
    return body


def pools(linode):
    return sorted(pool["type"] for pool in linode.state()["pools"])


def long_names(style):
    """253 characters are a name; two that differ at their end only have different tags of 50 at most."""
    names = [LONG + "." + "a" * 52, LONG + "." + "b" * 52]
    with lke("enterprise", settings={"tag-style": style}) as (linode, _):
        claim(linode.server, *names)
        wait_ready(linode, *names)
        mark = ":" if style == "colon" else "="
        for name in names:
            [tags] = [item["tags"] for item in instances(linode) if item["id"] == machine_of(linode, name)]
            assert f"karpenter.sh/nodeclaim{mark}{tag_value(name)}" in tags, (tag_value(name), tags)
            assert all(len(tag) <= 50 for tag in tags), tags
        linode.server.kube.delete(CLAIMS, names[0])
        wait_gone(linode.server, names[0])
        wait_for(lambda: list(owners(linode).values()) == [[tag_value(names[1])]], "the other one stays")


def C4_C19_long_names_with_colons():
    long_names("colon")


def C4_C19_long_names_as_the_existing_provider_has_them():
    long_names("equals")


def C15_tags_of_others_are_kept():
    """By whoever wrote them: on the machine before it is claimed, and afterwards when our own was removed."""
    with Provider("linode", join=True, speed=50) as linode:
        prepare(linode.server)
        own_pool(linode, 1)
        [machine] = wait_for(lambda: instances(linode), "it has a machine")
        set_tags(linode, machine["id"], ["billing=7", "team-b"])
        with LkeTree(linode, settings={"resync-interval": "1s"}) as tree:
            tree.wait_running()
            claim(linode.server, "a")
            wait_ready(linode, "a")
            [found] = instances(linode)
            wanted = {"billing=7", "team-b", "team-a", "karpenter.sh/nodeclaim:a"}
            assert wanted <= set(found["tags"]), f"the last one but ours is of the LinodeNodeClass: {found}"
            set_tags(linode, machine["id"], ["billing=8"])
            wait_for(lambda: {"billing=8", "karpenter.sh/nodeclaim:a"} <= set(instances(linode)[0]["tags"]),
                     "ours is written again")
            assert "team-b" not in instances(linode)[0]["tags"]


def C11_a_type_without_capacity_leads_to_the_next_one():
    with lke("standard") as (linode, _):
        refused = linode.fault("status", "create-pool", code=400, message="No capacity left.", count=1)
        linode.server.kube.create(CLAIMS, typed("a", DEAR, "g6-standard-2"))
        wait_ready(linode, "a")
        assert linode.hits(refused) == 1 and pools(linode) == [DEAR], linode.state()
        labels = claims(linode.server)["a"]["metadata"]["labels"]
        assert labels["node.kubernetes.io/instance-type"] == DEAR, labels
        # The cheaper one is not tried again for a while: one whose list has nothing else is deleted.
        linode.server.kube.create(CLAIMS, typed("b", "g6-standard-2"))
        wait_gone(linode.server, "b")
        wait_for(lambda: "InsufficientCapacityError" in events(linode, "b"), "an Event")
        assert pools(linode) == [DEAR], linode.state()


IMPOSSIBLE = (("region", "topology.kubernetes.io/region", "In", ["mars"]),
              ("zone", "topology.kubernetes.io/zone", "In", ["us-east"]),
              ("type", "node.kubernetes.io/instance-type", "In", ["g9-none"]),
              ("processors", "karpenter.k8s.linode/instance-cpu", "Gt", ["100000"]),
              ("forbidden", "kubernetes.io/arch", "NotIn", ["amd64"]),
              ("absent", "node.kubernetes.io/instance-type", "DoesNotExist", []))


def C11_an_impossible_requirement_makes_nothing():
    """An unknown region or type among them; the condition names the requirement."""
    with lke("standard") as (linode, _):
        for name, key, operator, values in IMPOSSIBLE:
            [body] = claim_bodies(name)
            body["spec"]["requirements"].append({"key": key, "operator": operator, "values": values})
            linode.server.kube.create(CLAIMS, body)
        for name, key, *_ in IMPOSSIBLE:
            wait_for(lambda: (condition(claims(linode.server)[name], "Launched") or [0, 0])[1]
                     == "InstanceTypeResolutionFailed", f"a condition of {name}")
            wait_for(lambda: "InstanceTypeResolutionFailed" in events(linode, name), f"an Event about {name}")
            message = condition(claims(linode.server)[name], "Launched")[2]
            assert key in message or "instance type" in message, message
        assert not linode.effects(), linode.effects()


def unreadable(name, **answer):
    """A case: while no list can be read nothing is made, and the NodeClaim has the cause."""
    def ends_and_work_goes_on():
        with Provider("linode", join=True, speed=50) as linode:
            prepare(linode.server)
            fault = linode.fault("status", "pools", code=200, count=-1, **answer)
            with LkeTree(linode, settings={"resync-interval": "1s"}) as tree:
                tree.wait_running()
                claim(linode.server, "a")
                wait_for(lambda: linode.hits(fault) >= 2, "it was read twice")
                wait_for(lambda: "ProviderFailed" in events(linode, "a"), "an Event")
                assert condition(claims(linode.server)["a"], "Launched")[0] == "Unknown"
                assert not linode.effects() and not linode.state()["pools"], linode.effects()
                linode.clear_faults()
                wait_ready(linode, "a", timeout=120)
                assert tree.actor("lke-claimer")["restarts"] == 0
    ends_and_work_goes_on.__name__ = f"A7_{name}_ends_and_work_goes_on"
    return ends_and_work_goes_on


def unreadable_cases():
    wrong = {"data": [{"id": "one"}], "page": 1, "pages": 1, "results": 1}
    return [unreadable("a_page_of_HTML", body="html"),
            unreadable("a_truncated_answer", body="text", message='{"data": [{"id": 1'),
            unreadable("a_text_in_place_of_a_number", body="text", message=json.dumps(wrong)),
            unreadable("an_answer_that_is_too_deep", body="text", message="[" * 100 + "]" * 100)]


def orphans(tier):
    """Machines that nobody asked for join: their Nodes are tainted, one is claimed, the rest goes."""
    with Provider("linode", join=True, speed=50) as linode:
        kube = linode.server.kube
        prepare(linode.server)

        def tainted(count):
            return [node["metadata"]["name"] for node in kube.list("nodes")["items"]
                    if {"key": UNREGISTERED, "effect": "NoExecute"} in node["spec"].get("taints", [])
                    ] if len(kube.list("nodes")["items"]) == count else []
        with LkeTree(linode, tier, settings={"resync-interval": "1s"}) as tree:
            tree.wait_running()
            own_pool(linode, 2, tier)
            wait_for(lambda: len(tainted(2)) == 2, "both Nodes are tainted")
            claim(linode.server, "a")
            wait_ready(linode, "a")
            assert len(linode.state()["nodes"]) == 2, "C5 nothing was made"
            node = kube.get("nodes", claims(linode.server)["a"]["status"]["nodeName"])
            assert UNREGISTERED not in [taint["key"] for taint in node["spec"].get("taints", [])], node
        # A2: another life of the actor, with a shorter time.
        with LkeTree(linode, tier, settings={"resync-interval": "1s", "orphan-ttl": "1s"}) as tree:
            tree.wait_running()
            wait_for(lambda: list(owners(linode).values()) == [["a"]], "the machine of nobody is gone", 120)
            wait_for(lambda: len(kube.list("nodes")["items"]) == 1, "its Node, too")
            wait_ready(linode, "a")
            check_owners(linode)


def C9_defect_5_machines_of_nobody_in_Standard():
    """The original never finds them: they have no tags."""
    orphans("standard")


def C9_defect_5_machines_of_nobody_in_Enterprise():
    orphans("enterprise")


def C9_a_machine_whose_Node_runs_Pods_is_claimed_first():
    with Provider("linode", join=True, speed=50) as linode:
        prepare(linode.server)
        own_pool(linode, 3)
        wait_for(lambda: len(linode.server.kube.list("nodes")["items"]) == 3, "three Nodes")
        last = max(instances(linode), key=lambda item: item["id"])
        kube = linode.server.kube
        kube.create("pods", pod("web", last["label"]), "default")
        for item in instances(linode):
            kube.create("pods", pod(f"agent-{item['id']}", item["label"], owner="DaemonSet"), "default")
        claim(linode.server, "a")
        with LkeTree(linode) as tree:
            tree.wait_running()
            wait_ready(linode, "a")
            assert machine_of(linode, "a") == last["id"], (owners(linode), last["id"])
            assert by_hand(linode, "GET", f"linode/instances/{last['id']}")["tags"]


tap.side_by_side(C4_C19_long_names_with_colons, C4_C19_long_names_as_the_existing_provider_has_them,
                 C15_tags_of_others_are_kept, C11_a_type_without_capacity_leads_to_the_next_one,
                 C11_an_impossible_requirement_makes_nothing, *unreadable_cases(),
                 C9_defect_5_machines_of_nobody_in_Standard, C9_defect_5_machines_of_nobody_in_Enterprise,
                 C9_a_machine_whose_Node_runs_Pods_is_claimed_first)
tap.main()
