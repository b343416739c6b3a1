"""tests/sim/test_vip.py - vip-claimer on muster-sim, the IPAM provider played by the test: V1 to V13.

How a Cluster gets its address, which pool it is from, what is not changed, and what the hooks answer
meanwhile. What hostile clients and bad certificates do is in test_vip_hooks.py.

muster-test: parallel
muster-test: timeout=400
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from muster import wait_for
from viptree import CLAIMS, CLUSTERS, IPAM, OLD, World, claimer, patches, writes


@tap.case
def V1_V2_V4_V11_V12_a_new_Cluster_step_by_step():
    with claimer(metrics=True) as (server, tree):
        world, hooks = World(server), tree.hooks()
        handlers = hooks.discovery()["handlers"]
        assert [(row["name"], row["requestHook"]["hook"], row["timeoutSeconds"], row["failurePolicy"])
                for row in handlers] == [
            ("vip-allocator-before-create", "BeforeClusterCreate", 10, "Fail"),
            ("vip-allocator-generate-patches", "GeneratePatches", 10, "Fail")], handlers
        world.pool("cp", free=50)
        world.cluster_class(variables=["clusterVip", "other"])
        other = {"name": "other", "value": {"a": [1, 2.50]}}
        made = world.cluster("c1", variables=[other])
        claim = world.wait_claim("c1")
        assert claim["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "c1"}, claim
        owner = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c1",
                 "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        assert claim["metadata"]["ownerReferences"] == [owner], claim
        assert claim["spec"]["poolRef"] == {"apiGroup": IPAM, "kind": "GlobalInClusterIPPool",
                                            "name": "cp"}, claim
        answer = wait_for(lambda: (lambda a: a if "waiting for an address" in a["message"] else None)(
            hooks.before_create(world.request("c1"))), "the hook holds the Cluster back")
        assert answer["status"] == "Success" and answer["retryAfterSeconds"] in (1, 2, 3, 5), answer
        assert hooks.generate_patches("c1")["status"] == "Failure"
        world.fulfil("c1", "10.2.0.20")
        world.wait_endpoint("c1", "10.2.0.20")
        found = world.get("c1")["spec"]["topology"]["variables"]
        assert found == [other, {"name": "clusterVip", "value": "10.2.0.20"}], found
        answer = hooks.before_create(world.request("c1"))
        assert (answer["status"], answer["retryAfterSeconds"]) == ("Success", 0), answer
        assert answer["message"] == "", answer
        given = wait_for(lambda: patches(hooks.generate_patches("c1")), "GeneratePatches gives the address")
        assert given == {"one": [{"op": "add", "path": "/spec/template/spec/controlPlaneEndpoint",
                                  "value": {"host": "10.2.0.20", "port": 6443}}]}, given
        world.wait_event("c1", "VIPAllocated", "10.2.0.20 of pool cp")
        # V12: one line per step, each with what it is about.
        assert tree.steps("c1") == [
            "an address is needed: IPAddressClaim default/vip-cp-c1 of pool cp",
            "waiting for an address: IPAddressClaim default/vip-cp-c1 of pool cp",
            "the address is allocated: 10.2.0.20", "the address is set"], tree.steps("c1")
        line = tree.facts(actor="vip-claimer", why="the address is set")[0]
        assert {key: line[key] for key in ("cluster", "class", "pool", "claim", "address")} == {
            "cluster": "default/c1", "class": "rke2", "pool": "cp", "claim": "vip-cp-c1",
            "address": "10.2.0.20"}, line
        # A1: the claim and one patch, and then nothing.
        kubesuite.pause(1)
        assert [(row["verb"], row["resource"], row["code"]) for row in writes(server)] == [
            ("create", CLAIMS, 201), ("patch", CLUSTERS, 200)], writes(server)
        shown = tree.explain("c1")
        assert "10.2.0.20" in shown and "rke2" in shown and "the address is set" in shown, shown


@tap.case
def V2_V9_V13_a_cluster_that_serves_v1beta1_alone():
    with claimer(core=OLD) as (server, tree):
        world, hooks = World(server, version="v1beta1"), tree.hooks()
        kube = server.kube
        world.pool("cp", free=50)
        world.cluster_class()
        made = world.cluster("c1")
        old = f"{CLAIMS}.v1beta1"
        claim = wait_for(lambda: kube.find(old, "vip-cp-c1", "default"), "the claim")
        assert claim["metadata"]["ownerReferences"][0]["apiVersion"] == "cluster.x-k8s.io/v1beta1", claim
        assert claim["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"], claim
        answer = hooks.before_create(world.request("c1"))
        assert answer["status"] == "Success" and answer["retryAfterSeconds"] > 0, answer
        kube.create("ipaddresses.v1beta1", {"metadata": {"name": "vip-cp-c1"}, "spec": {
            "claimRef": {"name": "vip-cp-c1"}, "poolRef": claim["spec"]["poolRef"],
            "address": "10.2.0.21", "prefix": 16}}, "default")
        kube.merge(old, "vip-cp-c1", {"status": {"addressRef": {"name": "vip-cp-c1"}}}, "default",
                   sub="status")
        world.wait_endpoint("c1", "10.2.0.21")
        assert hooks.before_create(world.request("c1"))["retryAfterSeconds"] == 0


tap.main()
