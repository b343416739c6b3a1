"""tests/sim/test_vip.py - vip-claimer on muster-sim and its IPAM provider, or one by hand: V1 to V13.

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
        assert patches(hooks.generate_patches("c1", uid=made["metadata"]["uid"])) == given
        # Of a Cluster of that name which this replica has not read: never the address of the one before it.
        answer = hooks.generate_patches("c1", uid="11111111-2222-3333-4444-555555555555")
        assert (answer["status"], answer["message"]) == (
            "Failure", "vip-claimer has not read the Cluster yet"), answer
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


@tap.case
def V2_V3_E1_E2_E3_exhausted_slow_and_never():
    with claimer(metrics=True, settings={"before-create-timeout": "2s"}) as (server, tree):
        world, hooks = World(server), tree.hooks()
        world.cluster_class()
        world.ipam()
        world.pool("cp", addresses=["10.2.0.20"])
        wait_for(lambda: world.used("cp") == 0, "the pool is counted")
        world.cluster("c1")
        world.wait_endpoint("c1", "10.2.0.20")
        # E3: nothing is free; the message, the Event and the metric have the pool's name.
        world.cluster("c2")
        world.wait_event("c2", "VIPWaiting", "the pool is exhausted, add addresses or free some: pool cp")
        answer = hooks.before_create(world.request("c2"))
        assert answer["status"] == "Success" and answer["retryAfterSeconds"] > 0, answer
        assert answer["message"] == "the pool is exhausted, add addresses or free some: pool cp", answer
        assert answer["message"] == hooks.before_create(world.request("c2"))["message"]
        wait_for(lambda: tree.total("capi_vip_allocator_allocation_errors_total",
                                    'reason="pool_exhausted"') == 1, "it is counted")
        # It goes on by itself once there is an address.
        server.kube.merge("globalinclusterippools", "cp", {"spec": {"addresses": ["10.2.0.20-10.2.0.21"]}})
        world.wait_endpoint("c2", "10.2.0.21")
        # E2: free addresses, and the provider gives none; E1: the claim that is there is used.
        world.ipam(delay_ms=-1)
        server.kube.merge("globalinclusterippools", "cp", {"spec": {"addresses": ["10.2.0.20-10.2.0.25"]}})
        world.cluster("c3")
        world.wait_event("c3", "VIPWaiting", "the pool has free addresses, but the IPAM provider gives none")
        uid = world.claim("vip-cp-c3")["metadata"]["uid"]
        world.ipam()
        world.wait_endpoint("c3", "10.2.0.22")
        assert world.claim("vip-cp-c3")["metadata"]["uid"] == uid, "a second claim was made"
        # V10: the figures of all that.
        wait_for(lambda: tree.total("capi_vip_allocator_allocations_total", 'role="control-plane"') == 3,
                 "three allocations")
        wait_for(lambda: tree.total("capi_vip_allocator_claims_ready") == 3, "three claims are ready")
        assert tree.total("capi_vip_allocator_claims_pending") == 0
        wait_for(lambda: tree.total("capi_vip_allocator_pool_addresses_used", 'pool_name="cp"') == 3,
                 "the pool's figures")
        assert tree.total("capi_vip_allocator_hook_requests_total", 'outcome="wait"') >= 2
        # c1 may have come before the time of the cluster was there; the others have waited 2 s.
        wait_for(lambda: tree.total("capi_vip_allocator_allocation_duration_seconds_count") in (2, 3)
                 and tree.total("capi_vip_allocator_allocation_duration_seconds_sum") >= 4, "their times")


@tap.case
def V3_the_reason_of_a_condition_is_passed_on():
    with claimer() as (server, tree):
        world = World(server)
        world.cluster_class()
        world.pool("cp", addresses=["10.2.0.1"])        # its gateway: none is left
        world.ipam(conditions=True)
        world.cluster("c1")
        world.wait_event("c1", "VIPWaiting", "has reason PoolExhausted")
        answer = tree.hooks().before_create(world.request("c1"))
        assert answer["retryAfterSeconds"] > 0 and "PoolExhausted" in answer["message"], answer


@tap.case
def V5_E4_which_pool():
    with claimer() as (server, tree):
        world, hooks = World(server), tree.hooks()
        server.kube.create("namespaces", {"metadata": {"name": "classes"}})
        World(server, "classes").cluster_class("shared")
        world.cluster_class()
        world.ipam()
        # E4: no pool: the hook lets it through, and one Event names class and labels.
        world.cluster("none")
        world.wait_event("none", "NoPool", "label a pool with vip.capi.gorizond.io/cluster-class=rke2 and "
                                           "vip.capi.gorizond.io/role=control-plane")
        answer = hooks.before_create(world.request("none"))
        assert (answer["status"], answer["retryAfterSeconds"]) == ("Success", 0), answer
        answer = hooks.generate_patches("none")
        assert answer["status"] == "Success" and answer["items"] == [], answer
        assert len([row for row in world.events("none") if row[1] == "NoPool"]) == 1, world.events("none")
        # A pool that comes later: its watch is enough. The lists of annotations count, too.
        world.pool("list", lists={"cluster-class": "k3s, rke2", "role": "control-plane"},
                   addresses=["10.3.0.1-10.3.0.9"])
        world.wait_endpoint("none", "10.3.0.1")
        world.pool("second", addresses=["10.4.0.2-10.4.0.3"], labels={
            "vip.capi.gorizond.io/priority": "2"})
        world.pool("first", addresses=["10.5.0.2"], labels={"vip.capi.gorizond.io/priority": "1"})
        wait_for(lambda: world.used("first") == 0 and world.used("second") == 0, "they are counted")
        world.cluster("a")
        world.wait_endpoint("a", "10.5.0.2")
        wait_for(lambda: world.used("first") == 1, "it is exhausted")
        world.cluster("b")
        world.wait_endpoint("b", "10.4.0.2")            # an exhausted one is passed over
        world.pool("own", namespaced=True, addresses=["10.6.0.2-10.6.0.9"])
        wait_for(lambda: world.used("own", "inclusterippools") == 0, "it is counted")
        world.cluster("c")
        world.wait_endpoint("c", "10.6.0.2")
        assert world.claim("vip-cp-c")["spec"]["poolRef"]["kind"] == "InClusterIPPool"
        # A ClusterClass of another namespace.
        world.pool("shared", cluster_class="shared", addresses=["10.7.0.2"])
        world.cluster("d", "shared", class_namespace="classes")
        world.wait_endpoint("d", "10.7.0.2")


@tap.case
def V6_E5_what_is_not_changed_and_what_is_adopted():
    with claimer() as (server, tree):
        world, hooks = World(server), tree.hooks()
        world.cluster_class(variables=["clusterVip"])
        world.pool("cp", free=50)
        manual = {"host": "10.2.0.100", "port": 8443}
        world.cluster("manual", endpoint=manual)
        world.cluster("bare", cluster_class=None)
        assert hooks.before_create(world.request("manual"))["retryAfterSeconds"] == 0
        assert hooks.before_create(world.request("bare"))["retryAfterSeconds"] == 0
        given = wait_for(lambda: patches(hooks.generate_patches("manual")), "its own endpoint is given")
        assert given["one"][0]["value"] == manual, given
        # A claim without owner, as the document's hook makes it, is adopted; one of another is not used.
        pool = {"apiGroup": IPAM, "kind": "GlobalInClusterIPPool", "name": "cp"}
        world.kube.create(CLAIMS, {"metadata": {"name": "vip-cp-old"}, "spec": {"poolRef": pool}}, "default")
        world.kube.create(CLAIMS, {"metadata": {"name": "vip-cp-foreign", "ownerReferences": [
            {"apiVersion": "v1", "kind": "Namespace", "name": "default",
             "uid": server.kube.get("namespaces", "default")["metadata"]["uid"]}]},
            "spec": {"poolRef": pool}}, "default")
        old = world.cluster("old", endpoint={"host": "", "port": 8443})
        world.cluster("foreign")
        wait_for(lambda: [row["uid"] for row in world.claim("vip-cp-old")["metadata"].get(
            "ownerReferences", [])] == [old["metadata"]["uid"]], "the claim is adopted")
        assert world.claim("vip-cp-old")["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == "old"
        world.fulfil("old", "10.2.0.31")
        world.wait_endpoint("old", "10.2.0.31", 8443)   # TestPatchClusterEndpointPreservesExistingPort
        world.wait_event("foreign", "VIPWaiting", "the claim belongs to another owner and is not used")
        kubesuite.pause(0.5)
        assert world.endpoint("manual") == manual and not world.endpoint("bare"), "TestReconcile_SkipsWhenSet"
        assert world.claims() == ["vip-cp-foreign", "vip-cp-old"], world.claims()


@tap.case
def V6_acceptance_a_deleted_Cluster_gives_its_address_back_and_a_new_one_of_that_name_gets_one():
    with claimer() as (server, tree):
        world = World(server)
        world.cluster_class()
        world.pool("cp", addresses=["10.2.0.20"])
        world.ipam()
        for turn in range(3):
            world.cluster("c1")
            world.wait_endpoint("c1", "10.2.0.20")
            uid = world.claim("vip-cp-c1")["metadata"]["uid"]
            world.kube.delete(CLUSTERS, "c1", "default")
            if turn < 2:
                continue        # made again at once: the claim of the former one is still there
            wait_for(lambda: world.claim("vip-cp-c1") is None and world.used("cp") == 0,
                     "the address is free")
            assert uid


@tap.case
def V6_E6_without_the_hooks():
    with claimer(settings={"enable-runtime-extension": False}) as (server, tree):
        world = World(server)
        world.cluster_class()
        world.pool("cp")
        world.ipam()
        world.cluster("c1")
        world.wait_endpoint("c1", "10.2.0.20")
        assert not (tree.run_dir / "vip-claimer" / "hook.addr").exists()


@tap.case
def V8_pre_allocation_and_ingress():
    with claimer() as (server, tree):
        world = World(server)
        world.cluster_class()
        world.pool("cp")
        world.ipam()
        world.cluster("paused", paused=True)
        world.cluster("early", paused=True, annotations={"vip.capi.gorizond.io/pre-allocate": "true"})
        claim = world.wait_claim("early")
        assert "labels" not in claim["metadata"], claim
        wait_for(lambda: world.claim("vip-cp-early").get("status", {}).get("addressRef"), "it is reserved")
        kubesuite.pause(0.3)
        assert not world.endpoint("early") and world.claim("vip-cp-paused") is None
        world.kube.merge(CLUSTERS, "early", {"spec": {"paused": None}}, "default")
        world.wait_endpoint("early", "10.2.0.20")
        # Ingress: opt-in, and a missing pool does not delay the control plane.
        world.cluster("web", annotations={"vip.capi.gorizond.io/ingress-enabled": "true"})
        world.wait_any_endpoint("web")
        world.wait_event("web", "NoPool", "vip.capi.gorizond.io/role=ingress")
        world.pool("in", role="ingress", addresses=["10.8.0.2"])
        wait_for(lambda: world.get("web")["metadata"]["annotations"].get(
            "vip.capi.gorizond.io/ingress-vip") == "10.8.0.2", "the address for ingress")
        assert world.get("web")["metadata"]["labels"]["vip.capi.gorizond.io/ingress-vip"] == "10.8.0.2"


tap.main()
