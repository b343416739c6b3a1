"""tests/sim/test_claimer.py - test-claimer: one VM per Widget, drained and deleted with it, on muster-sim.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from claimercase import bound, check_owners, claimer, events, wait_gone
from claimertree import CLAIMER, VM, delete, make, wait_bound, widgets
from muster import METRICS, wait_for
from vms import node_name

NAMES = [f"w{number}" for number in range(8)]


def pod(node):
    return {"metadata": {"name": "p1"}, "spec": {
        "nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "i"}]}}


@tap.case
def A2_one_VM_per_Widget_and_none_after_it():
    with claimer() as (vms, _):
        make(vms.server, *NAMES)
        wait_bound(vms, *NAMES)
        assert len(vms.audit("POST")) == len(NAMES), vms.audit()
        assert len(vms.audit("GET")) <= len(NAMES), f"C12 one list serves all: {vms.audit('GET')}"
        assert all(VM in item["metadata"]["finalizers"] for item in widgets(vms.server).values())
        quiet = len(vms.audit())
        kubesuite.pause(2)
        assert len(vms.audit()) == quiet, "A12 calls without a cause"
        assert "VMCreated" in events(vms, "w0"), events(vms, "w0")
        delete(vms.server, *NAMES)
        wait_gone(vms, *NAMES)
        assert not vms.tags() and len(vms.effects("DELETE")) == len(NAMES), vms.audit()


@tap.case
def A10_a_lost_answer_makes_no_second_VM():
    with claimer() as (vms, _):
        lost = vms.fault("lost", "create", count=2)
        make(vms.server, "a", "b", "c")
        wait_bound(vms, "a", "b", "c")
        assert vms.hits(lost) == 2 and len(vms.audit("POST")) == 3, vms.audit()
        delete(vms.server, "a", "b", "c")
        wait_gone(vms, "a", "b", "c")
        assert not vms.tags()


@tap.case
def A10_a_POST_without_an_effect_is_repeated_once_that_is_certain():
    with claimer() as (vms, _):
        dropped = vms.fault("drop_connection", "create")
        make(vms.server, "a")
        wait_bound(vms, "a", timeout=120)
        first, second = vms.audit("POST")
        assert vms.hits(dropped) == 1 and second["at_ms"] - first["at_ms"] >= 30000, vms.audit("POST")


@tap.case
def A6_its_Node_is_drained_before_the_VM_goes():
    with claimer() as (vms, tree):
        kube = vms.server.kube
        make(vms.server, "d")
        wait_bound(vms, "d")
        node = node_name(bound(vms)["d"])
        wait_for(lambda: f"  {CLAIMER}      facts " in tree.cli("explain", f"nodes/{node}").stdout,
                 "the claimer has the Node")
        kube.create("pods", pod(node), "default")
        delete(vms.server, "d")
        wait_gone(vms, "d")
        assert not vms.tags()
        evicted, = [row for row in vms.server.audit() if row["subresource"] == "eviction"]
        deleted, = vms.effects("DELETE")
        assert evicted["code"] < 300 and evicted["at_ms"] < deleted["at_ms"], (evicted, deleted)
        assert tree.facts(msg="the Node is drained"), "no line about the drain"


@tap.case
def A7_another_token_is_used_after_a_401():
    with claimer() as (vms, tree):
        make(vms.server, "a")
        wait_bound(vms, "a")
        vms.remove_token(vms.token)
        make(vms.server, "b")
        wait_for(lambda: [row for row in vms.audit() if row["code"] == 401], "the old token is refused")
        vms.add_token("two", "second-token-of-the-test")
        held = pathlib.Path(tree.settings[CLAIMER]["token-file"])
        fresh = held.with_suffix(".new")
        fresh.write_text("second-token-of-the-test\n")
        fresh.replace(held)
        wait_bound(vms, "a", "b")
        assert {row["token"] for row in vms.effects("POST")} == {"one", "two"}
        for token in (vms.token, "second-token-of-the-test"):
            assert token not in tree.log(), "a token is in the log"


@tap.case
def A4_a_429_waits_as_long_as_it_asks_for():
    with claimer() as (vms, _):
        vms.fault("status", "create", code=429, retry_after="3")
        make(vms.server, "a")
        wait_bound(vms, "a")
        first, second = vms.audit("POST")
        assert second["at_ms"] - first["at_ms"] >= 3000, (first, second)
        check_owners(vms)


@tap.case
def A4_a_422_is_an_Event_and_is_not_repeated():
    with claimer() as (vms, tree):
        vms.fault("status", "create", code=422, count=-1)
        make(vms.server, "a")
        wait_for(lambda: "Refused" in events(vms, "a"), "the Event")
        kubesuite.pause(2)
        assert len(vms.audit("POST")) == 1, vms.audit("POST")
        text = tree.explain("a")
        assert "create VM  refused: POST" in text and "status 422" in text, text
        delete(vms.server, "a")
        wait_gone(vms, "a")


@tap.case
def A6_a_list_that_lost_half_deletes_and_releases_nothing():
    with claimer(actors={"metrics": METRICS}) as (vms, tree):
        make(vms.server, *NAMES)
        wait_bound(vms, *NAMES)
        kubesuite.pause(2)              # the last list is too old for this: the next one has all VMs
        make(vms.server, "last")
        wait_bound(vms, *NAMES, "last")
        vms.fault("stale", "list", behind=64, count=-1)
        delete(vms.server, "w0")
        wait_for(lambda: "the list lost more than half" in tree.explain("w0"), "the brake is seen")
        # Not before: the list that has all VMs may still be young enough for a Widget that is new.
        make(vms.server, "new")
        wait_for(lambda: "the list lost more than half" in tree.explain("new"), "it holds a creation, too")
        assert not vms.audit("DELETE") and len(vms.audit("POST")) == len(NAMES) + 1, vms.audit()
        vms.clear_faults()
        wait_gone(vms, "w0")
        wait_bound(vms, *NAMES[1:], "last", "new")


@tap.case
def A6_of_two_VMs_with_one_tag_neither_is_deleted():
    with claimer() as (vms, tree):
        make(vms.server, "a")
        wait_bound(vms, "a")
        first, uid = bound(vms)["a"], widgets(vms.server)["a"]["metadata"]["uid"]
        wait_for(lambda: vms.server.kube.list("nodes")["items"], "its Node has joined")
        twin = vms.api.call("POST", "/vms", body={"tag": uid})["id"]     # as a person would
        delete(vms.server, "a")
        wait_for(lambda: "DuplicateVM" in events(vms, "a"), "the Event")
        assert "two VMs have its tag: nothing is done" in tree.explain("a"), tree.explain("a")
        kubesuite.pause(3)
        assert set(vms.tags()) == {first, twin} and not vms.audit("DELETE"), vms.audit()
        vms.api.call("DELETE", f"/vms/{twin}")
        wait_gone(vms, "a")
        assert not vms.tags()


@tap.case
def A8_an_instance_that_does_not_lead_calls_nobody():
    electing = {"leader-elect": True, "leader-elect-lease-duration": "15s", "lease-name": "muster",
                "lease-namespace": "default"}
    holder = {"metadata": {"name": "muster"}, "spec": {
        "holderIdentity": "another", "leaseDurationSeconds": 600, "leaseTransitions": 1,
        "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z"}}
    with claimer(watcher=electing) as (vms, tree):
        wait_for(lambda: vms.server.kube.find("leases", "muster", "default"), "it leads")
        make(vms.server, "a")
        wait_bound(vms, "a", timeout=120)
        tree.stop()
        vms.server.kube.delete("leases", "muster", "default")
        vms.server.kube.create("leases", holder, "default")
        tree.start()
        tree.wait_running()
        calls = len(vms.audit())
        make(vms.server, "b")
        delete(vms.server, "a")
        wait_for(lambda: "this instance is not the leader" in tree.explain("b"), "it waits for the Lease")
        kubesuite.pause(2)
        assert len(vms.audit()) == calls, vms.audit()
        assert list(vms.tags().values()) == [widgets(vms.server)["a"]["metadata"]["uid"]], vms.tags()


@tap.case
def A5_explain_trace_and_metrics_of_a_Widget():
    with claimer(actors={"metrics": METRICS}) as (vms, tree):
        make(vms.server, "a")
        wait_bound(vms, "a")
        number = bound(vms)["a"]
        text = tree.explain("a")
        for part in ("it has its VM", f"{number}", "intent", "none"):
            assert part in text, text
        assert "insight is not enabled" not in text, text
        hops = tree.cli("trace", "widgets/default/a").stdout
        assert "test POST create 200" in hops, hops
        labels = 'actor="test-claimer",provider="test",class="create",code="200"'
        wait_for(lambda: f"muster_provider_requests_total{{{labels}}} 1" in tree.metrics_page(),
                 "the call is counted")


tap.main()
