"""tests/sim/test_openshift.py - the simulated OpenShift update, the cluster alone: no musterd.

muster-test: parallel
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import contextlib

import tap
from kube import KubeError
from kubeservers import SimServer
from muster import wait_for
from openshift import CONFIGS, POOLS, Cluster, condition, is_ready, mco

WAY = ["targeted", "working", "drain-requested", "cordoned", "drained", "rebooting", "down", "up",
       "uncordon-requested", "uncordoned", "released", "idle"]
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


@contextlib.contextmanager
def openshift(*options, infra=2, workers=5):
    words = ["--openshift", "--infra", str(infra), "--workers", str(workers), *options]
    with SimServer(options=words) as server:
        yield Cluster(server)


def begin(cluster, version="4.20.4"):
    cluster.do("rollout", version=version, manual=True)


def away(cluster, pool):
    """The nodes of a role that are cordoned or not ready, or whose daemon is at work."""
    return [name for name, node in cluster.nodes().items() if name.startswith(pool)
            and (node["spec"].get("unschedulable") or not is_ready(node) or mco(node)["state"] != "Done"
                 or mco(node)["currentConfig"] != mco(node)["desiredConfig"])]


def refused(cluster, op, **more):
    try:
        cluster.do(op, **more)
    except KubeError as error:
        assert error.code == 400, error
        return error.message
    raise AssertionError(f"{op} {more} was not refused")


@tap.case
def it_begins_settled():
    with openshift() as cluster:
        assert cluster.history() == [("4.20.3", "Completed")]
        assert sorted(cluster.pools()) == ["infra", "master", "worker"]
        releases = cluster.releases()
        for name, pool in cluster.pools().items():
            target = pool["spec"]["configuration"]["name"]
            assert releases[target] == "4.20.3", f"the target of {name} is {target}"
            assert pool["status"]["configuration"]["name"] == target
            assert condition(pool, "Updated")["status"] == "True"
        assert len(cluster.kube.names(CONFIGS)) > len(releases), "there are sources without a version"
        for name, node in cluster.nodes().items():
            notes, role = mco(node), name.split("-")[0]
            assert notes["currentConfig"] == notes["desiredConfig"], notes
            assert notes["currentConfig"].startswith(f"rendered-{role}-"), notes
            assert (notes["state"], notes["reason"]) == ("Done", ""), notes
            assert notes["desiredDrain"] == notes["lastAppliedDrain"], notes
            assert f"node-role.kubernetes.io/{role}" in node["metadata"]["labels"], name


@tap.case
def every_node_goes_the_whole_way_once():
    with openshift() as cluster:
        before = cluster.nodes()
        begin(cluster)
        assert cluster.history() == [("4.20.4", "Partial"), ("4.20.3", "Completed")]
        way = cluster.finish()
        assert sorted(way) == sorted(before), "every node was updated"
        assert all(steps == WAY for steps in way.values()), way
        assert cluster.history() == [("4.20.4", "Completed"), ("4.20.3", "Completed")]
        releases = cluster.releases()
        for name, node in cluster.nodes().items():
            notes = mco(node)
            assert releases[notes["currentConfig"]] == "4.20.4", notes
            assert notes["currentConfig"] == notes["desiredConfig"] and notes["state"] == "Done", notes
            assert "unschedulable" not in node["spec"] and "taints" not in node["spec"], node["spec"]
            boots = [n["status"]["nodeInfo"]["bootID"] for n in (before[name], node)]
            assert boots[0] != boots[1], f"{name} did not reboot"
        for pool in cluster.pools().values():
            assert pool["status"]["configuration"] == pool["spec"]["configuration"]
            assert condition(pool, "Updated")["status"] == "True"
            assert condition(pool, "Updating")["status"] == "False"


@tap.case
def each_step_is_what_the_operator_writes():
    with openshift(infra=0, workers=1) as cluster:
        begin(cluster)
        seen = {}
        for _ in WAY:
            step = cluster.step()["worker-00"]
            seen[step] = cluster.node("worker-00")
        target = mco(seen["targeted"])["desiredConfig"]
        notes = {step: mco(node) for step, node in seen.items()}
        assert notes["targeted"]["state"] == "Done" and notes["working"]["state"] == "Working"
        assert notes["drain-requested"]["desiredDrain"] == f"drain-{target}"
        assert "unschedulable" not in seen["drain-requested"]["spec"]
        cordoned = seen["cordoned"]["spec"]
        assert cordoned["unschedulable"] and [t["key"] for t in cordoned["taints"]] == [UNSCHEDULABLE]
        assert notes["cordoned"]["lastAppliedDrain"] != f"drain-{target}"
        assert notes["drained"]["lastAppliedDrain"] == f"drain-{target}"
        assert notes["rebooting"]["state"] == "Rebooting" and is_ready(seen["rebooting"])
        assert not is_ready(seen["down"]) and is_ready(seen["up"])
        assert notes["uncordon-requested"]["desiredDrain"] == f"uncordon-{target}"
        assert "unschedulable" not in seen["uncordoned"]["spec"]
        assert notes["released"]["lastAppliedDrain"] == f"uncordon-{target}"
        assert notes["released"]["currentConfig"] != target, "currentConfig comes with Done"
        assert notes["idle"]["currentConfig"] == target and notes["idle"]["state"] == "Done"


@tap.case
def no_more_than_max_unavailable_are_away():
    with openshift(infra=0, workers=9) as cluster:
        cluster.do("pool", name="worker", max_unavailable=2)
        cluster.do("pool", name="master", max_unavailable="34%")
        begin(cluster)
        most = {"master": 0, "worker": 0}
        while cluster.step():
            for pool in most:
                names = away(cluster, pool)
                counted = cluster.pool(pool)["status"]["unavailableMachineCount"]
                assert counted == len(names), f"{pool} counts {counted}: {names}"
                most[pool] = max(most[pool], len(names))
        assert most == {"master": 1, "worker": 2}, most
        assert cluster.history()[0] == ("4.20.4", "Completed")


@tap.case
def some_of_the_nodes_move_in_turn():
    with openshift(infra=0, workers=4) as cluster:
        cluster.do("pool", name="worker", max_unavailable=4)
        begin(cluster)
        moved = [name for _ in range(10) for name in cluster.step(nodes=1)]
        assert len(moved) == 10 and len(set(moved[:5])) == 5, f"each node has its turn: {moved}"


@tap.case
def a_paused_pool_waits_and_those_under_way_go_on():
    with openshift(infra=0, workers=3) as cluster:
        begin(cluster)
        cluster.step()
        assert cluster.do("pause", pool="worker")["changed"] == 1
        assert cluster.do("pause", pool="worker")["changed"] == 0
        way = cluster.finish()
        workers = [name for name in way if name.startswith("worker")]
        assert len(workers) == 1 and way[workers[0]] == WAY[1:], way
        pool = cluster.pool("worker")
        assert pool["spec"]["paused"] and pool["status"]["updatedMachineCount"] == 1
        assert condition(pool, "Updating")["status"] == "False"
        assert "paused" in condition(pool, "Updating")["message"]
        assert cluster.history()[0] == ("4.20.4", "Completed"), "a paused pool does not hold the version"
        cluster.kube.merge(POOLS, "worker", {"spec": {"paused": False}})
        assert len(cluster.finish()) == 2
        assert condition(cluster.pool("worker"), "Updated")["status"] == "True"


@tap.case
def a_degraded_node_holds_its_place_until_it_recovers():
    with openshift(infra=0, workers=3) as cluster:
        begin(cluster)
        for _ in range(5):
            moved = cluster.step()
        name = next(name for name in moved if name.startswith("worker"))
        cluster.do("degrade", names=[name])
        notes = mco(cluster.node(name))
        assert notes["state"] == "Degraded" and "\n" in notes["reason"] and len(notes["reason"]) > 100
        way = cluster.finish()
        assert not [node for node in way if node.startswith("worker")], f"the pool stands still: {way}"
        pool = cluster.pool("worker")
        assert pool["status"]["degradedMachineCount"] == 1
        assert condition(pool, "Degraded")["status"] == "True"
        assert name in condition(pool, "NodeDegraded")["message"]
        assert cluster.do("step")["waiting"] == [{"node": name, "why": "degraded"}]
        assert cluster.history()[0] == ("4.20.4", "Partial")
        assert cluster.do("recover")["changed"] == 1
        assert mco(cluster.node(name))["state"] == "Working" and mco(cluster.node(name))["reason"] == ""
        way = cluster.finish()
        assert way[name] == WAY[5:], way
        assert condition(cluster.pool("worker"), "Degraded")["status"] == "False"
        assert cluster.history()[0] == ("4.20.4", "Completed")


@tap.case
def pods_are_evicted_and_a_budget_holds_the_drain():
    with openshift(infra=0, workers=1) as cluster:
        spec = {"nodeName": "worker-00", "containers": [{"name": "c", "image": "i"}]}
        agent = {"name": "agent", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]}
        # An owner that does not exist would be garbage at once: the node stands for it.
        agent["ownerReferences"][0]["uid"] = cluster.node("worker-00")["metadata"]["uid"]
        cluster.kube.create("pods", {"metadata": {"name": "web"}, "spec": spec})
        cluster.kube.create("pods", {"metadata": agent, "spec": spec})
        cluster.do("stick", names=["worker-00"])
        begin(cluster)
        way = cluster.finish()
        assert way["worker-00"] == [*WAY[:4], "evicted"], way["worker-00"]
        assert cluster.kube.names("pods") == ["agent", "stuck-worker-00"]
        assert cluster.do("step")["waiting"] == [{"node": "worker-00", "why": "pods are left"}]
        assert mco(cluster.node("worker-00"))["lastAppliedDrain"].startswith("uncordon-")
        assert cluster.do("unstick", names=["worker-00"])["changed"] == 1
        assert cluster.finish()["worker-00"] == ["evicted", *WAY[4:]]
        assert cluster.kube.names("pods") == ["agent"]


@tap.case
def nodes_come_and_go_meanwhile():
    with openshift(infra=0, workers=3) as cluster:
        old = mco(cluster.node("worker-00"))["currentConfig"]
        begin(cluster)
        for _ in range(4):
            moved = cluster.step()
        gone = next(name for name in moved if name.startswith("worker"))
        cluster.do("remove", names=[gone])
        cluster.do("join", role="worker", count=2)
        fresh = [name for name in cluster.nodes() if mco(cluster.node(name))["currentConfig"] == old]
        assert len(fresh) == 4, f"a new node begins with what the pool had: {fresh}"
        way = cluster.finish()
        workers = {name: steps for name, steps in way.items() if name.startswith("worker")}
        assert len(workers) == 4 and all(steps == WAY for steps in workers.values()), workers
        assert cluster.pool("worker")["status"]["machineCount"] == 4
        # A Node that is registered through the API joins, too.
        labels = {"node-role.kubernetes.io/worker": ""}
        cluster.kube.create("nodes", {"metadata": {"name": "registered", "labels": labels}})
        assert cluster.step() == {"registered": "joined"}
        assert cluster.releases()[mco(cluster.node("registered"))["currentConfig"]] == "4.20.4"


@tap.case
def a_selector_moves_nodes_between_pools():
    with openshift(infra=0, workers=4) as cluster:
        cluster.do("pool", name="gpu", selector={"matchLabels": {"gpu": "yes"}})
        cluster.do("label", names=["worker-01", "worker-02"], key="gpu", value="yes")
        begin(cluster)
        counts = {name: pool["status"]["machineCount"] for name, pool in cluster.pools().items()}
        assert counts == {"gpu": 2, "master": 3, "worker": 2}, counts
        cluster.finish()
        assert mco(cluster.node("worker-01"))["currentConfig"].startswith("rendered-gpu-")
        # Nobody's: the nodes stay as they are, the pool is empty.
        cluster.do("pool", name="gpu", selector={"matchLabels": {"gpu": "no"}})
        assert cluster.pool("gpu")["status"]["machineCount"] == 0
        way = cluster.finish()
        assert sorted(way) == ["worker-01", "worker-02"], "the workers' pool takes them over"
        assert mco(cluster.node("worker-01"))["currentConfig"].startswith("rendered-worker-")
        # Two custom pools claim worker-03: then none does.
        for name in ("red", "blue"):
            odd = {"key": "odd", "operator": "Exists"}
            cluster.do("pool", name=name, selector={"matchExpressions": [odd]})
        cluster.do("label", names=["worker-03"], key="odd", value="")
        cluster.do("step")
        counts = {name: pool["status"]["machineCount"] for name, pool in cluster.pools().items()}
        assert counts == {"gpu": 0, "master": 3, "worker": 3, "red": 0, "blue": 0}, counts
        cluster.do("pool", name="red", remove=True)
        assert cluster.pool("blue")["status"]["machineCount"] == 1


@tap.case
def another_update_in_the_middle():
    with openshift(infra=0, workers=3) as cluster:
        begin(cluster)
        for _ in range(6):
            cluster.step()
        begin(cluster, "4.20.5")
        assert cluster.history() == [("4.20.5", "Partial"), ("4.20.4", "Partial"), ("4.20.3", "Completed")]
        way = cluster.finish()
        assert sorted(len(steps) for steps in way.values()) == [12] * 4 + [18] * 2, way
        releases = cluster.releases()
        assert {releases[mco(node)["currentConfig"]] for node in cluster.nodes().values()} == {"4.20.5"}
        # Other configs of the same version: no entry in the history.
        cluster.do("rollout", manual=True)
        assert len(cluster.finish()) == 6 and len(cluster.history()) == 3


@tap.case
def by_itself_with_the_clock_of_the_world():
    with openshift("--speed", "200", infra=1, workers=3) as cluster:
        cluster.do("rollout", version="4.20.4")
        wait_for(lambda: cluster.history()[0] == ("4.20.4", "Completed"), "the update is complete")
        assert {mco(node)["state"] for node in cluster.nodes().values()} == {"Done"}


@tap.case
def nodes_that_were_there_take_the_roles():
    with SimServer(options=["--nodes", "8"]) as server:
        cluster = Cluster(server)
        assert "there is no OpenShift" in refused(cluster, "rollout", version="4.20.4")
        cluster.do("openshift", masters=3, infra=2, workers=1, version="4.19.0")
        counts = {name: pool["status"]["machineCount"] for name, pool in cluster.pools().items()}
        assert counts == {"master": 3, "infra": 2, "worker": 3}, counts
        assert cluster.history() == [("4.19.0", "Completed")]


@tap.case
def a_wrong_order_is_refused_and_changes_nothing():
    with openshift() as cluster:
        rv = cluster.server.order("GET", "state")["rv"]
        for word, op, more in (
                ("already", "openshift", {}), ("versoin", "rollout", {"versoin": "4.20.4"}),
                ("version", "rollout", {"version": ""}), ("manual", "step", {}),
                ("there is no pool", "pause", {"pool": "gpu"}), ("pool", "unpause", {}),
                ("there is no node", "degrade", {"names": ["nobody"]}),
                ("list", "stick", {"names": "worker-00"}),
                ("Unreconcilable", "degrade", {"names": ["worker-00"], "state": "Bad"}),
                ("role", "join", {"role": "gpu"}), ("count", "join", {"role": "worker", "count": 0}),
                ("selector", "pool", {"name": "gpu", "selector": ["gpu"]}),
                ("max_unavailable", "pool", {"name": "gpu", "max_unavailable": "many"}),
                ("there is no pool", "pool", {"name": "gpu", "remove": True})):
            text = refused(cluster, op, **more)
            assert word in text, f"{op} {more}: {text}"
        assert cluster.server.order("GET", "state")["rv"] == rv
        cluster.do("rollout", manual=True)
        assert "at least 1" in refused(cluster, "step", nodes=0)


tap.main()
