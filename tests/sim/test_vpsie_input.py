"""tests/sim/test_vpsie_input.py - vpsie-claimer and bad input: of the provider, of people, of its credential.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from muster import wait_for
from vpsie import CLIENT
from vpsietree import (CLAIMER, NODES, check_owners, claimer, condition, events, group, make_group, nodes,
                       phases, scale, wait_ready)

BAD_CREDENTIAL = "a credential of the VPSie API cannot be used: the current one stays"


def mutations(vpsie):
    return [row for row in vpsie.audit() if row["method"] in ("POST", "DELETE") and row["class"] != "token"]


def wait_error(vpsie, name, reason, text):
    """A condition and an Event contain what is wrong and what to do; nothing is made or deleted meanwhile."""
    before = len(mutations(vpsie))
    wait_for(lambda: condition(group(vpsie, name), "Error").get("status") == "True", f"Error of {name}")
    error = condition(group(vpsie, name), "Error")
    assert error["reason"] == reason and text in error["message"], error
    wait_for(lambda: text in events(vpsie, name).get(reason, ""), f"an Event {reason}: {events(vpsie, name)}")
    kubesuite.pause(1)
    assert len(mutations(vpsie)) == before, vpsie.audit()


def wait_good(vpsie, name):
    wait_for(lambda: condition(group(vpsie, name), "Error").get("status") == "False", f"{name} has no error")


def a_NodeGroup_with_min_greater_than_max_makes_nothing():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", None, low=3, high=2)
        wait_error(vpsie, "web", "InvalidSpec", "minNodes (3) is greater than maxNodes (2)")
        assert not nodes(vpsie) and not vpsie.posts()
        vpsie.server.kube.merge("nodegroups", "web", {"spec": {"minNodes": 1}}, "default")
        wait_ready(vpsie, "web", 1)
        wait_good(vpsie, "web")


def an_unknown_cluster_makes_nothing():
    with claimer() as (vpsie, tree):
        make_group(vpsie, "web", 2, resourceIdentifier="c9000000-0000-4000-8000-000000000009")
        wait_error(vpsie, "web", "ClusterNotFound", "correct it")
        assert not nodes(vpsie) and not vpsie.posts()
        assert "the provider does not have it" in tree.explain("nodegroup", "web")


def lists_that_cannot_be_used_change_nothing():
    with claimer() as (vpsie, _):
        make_group(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2)
        for kind, more in (("status", {"code": 502, "body": "html"}), ("cut", {"bytes": 40})):
            vpsie.fault(kind, "vms", count=-1, **more)
            wait_error(vpsie, "web", "VPSieAPIError", "the machines cannot be listed")
            made = len(vpsie.posts())
            scale(vpsie, "web", 3)
            kubesuite.pause(1)
            assert len(vpsie.posts()) == made, vpsie.posts()
            assert list(phases(vpsie).values()).count("Ready") == 2, phases(vpsie)
            vpsie.clear_faults()
            wait_good(vpsie, "web")
            scale(vpsie, "web", 2)
            wait_ready(vpsie, "web", 2)


def D17_an_error_with_HTTP_200_and_a_limit_of_the_account():
    with claimer() as (vpsie, _):
        vpsie.set("errors_with_200", 1)
        vpsie.set("quota", 1)
        make_group(vpsie, "web", 2)
        wait_for(lambda: sorted(phases(vpsie).values()) == ["Failed", "Ready"], "one is refused for good")
        failed, = [item for item in nodes(vpsie).values() if item["status"]["phase"] == "Failed"]
        assert condition(failed, "Error")["reason"] == "CapacityLimitReached", failed
        assert "CapacityLimitReached" in events(vpsie, failed["metadata"]["name"])
        assert len(vpsie.workers()) == 1, vpsie.workers()


def A7_a_wrong_token_is_replaced_without_a_restart_and_a_bad_one_keeps_the_old():
    with claimer(files={"token": "wrong-token-of-the-test"}) as (vpsie, tree):
        make_group(vpsie, "web", 1)
        wait_error(vpsie, "web", "VPSieAPIError", "credential")
        tree.put_secret("token", vpsie.token)
        wait_ready(vpsie, "web", 1)
        tree.put_secret("token", "another-wrong-token")
        wait_for(lambda: tree.facts(msg=BAD_CREDENTIAL),
                 "the bad token is noticed")
        scale(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2)
        for token in (vpsie.token, "another-wrong-token", "wrong-token-of-the-test"):
            assert token not in tree.log(), "a token is in the log"


def D17_a_client_is_exchanged_for_a_token_that_is_refreshed():
    with claimer(files={"clientId": CLIENT["id"], "clientSecret": CLIENT["secret"]},
                 claimer={"auth-header": "vpsie-auth"}) as (vpsie, tree):
        vpsie.set("client", CLIENT)
        make_group(vpsie, "web", 1)
        wait_ready(vpsie, "web", 1)
        vpsie.set("expire_tokens", True)
        scale(vpsie, "web", 2)
        wait_ready(vpsie, "web", 2, timeout=90)
        check_owners(vpsie)
        tree.put_secret("clientSecret", "a-wrong-secret")
        wait_for(lambda: tree.facts(msg=BAD_CREDENTIAL),
                 "the bad secret is noticed")
        scale(vpsie, "web", 3)
        wait_ready(vpsie, "web", 3)
        assert CLIENT["secret"] not in tree.log() and "tok-" not in tree.log(), "a secret is in the log"


def D13_a_name_that_no_label_can_hold_makes_nothing():
    with claimer() as (vpsie, tree):
        make_group(vpsie, "web", 0)
        name = "n" * 64
        vpsie.server.kube.create(NODES, {"metadata": {"name": name}, "spec": {"nodeGroupName": "web"}},
                                 "default")
        wait_for(lambda: "more than 63 characters" in tree.explain("vpsienode", name), "it is reported")
        kubesuite.pause(1)
        assert not vpsie.posts() and tree.facts(msg="actor is up", actor=CLAIMER)


tap.side_by_side(
    a_NodeGroup_with_min_greater_than_max_makes_nothing,
    an_unknown_cluster_makes_nothing,
    lists_that_cannot_be_used_change_nothing,
    D17_an_error_with_HTTP_200_and_a_limit_of_the_account,
    A7_a_wrong_token_is_replaced_without_a_restart_and_a_bad_one_keeps_the_old,
    D17_a_client_is_exchanged_for_a_token_that_is_refreshed,
    D13_a_name_that_no_label_can_hold_makes_nothing)
tap.main()
