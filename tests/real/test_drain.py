"""tests/real/test_drain.py - drains by test-claimer on a real kube-apiserver: budgets, limits, many Nodes.

There are no kubelets and no controllers: podkeeper.py does their work.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
import tap
from claimertree import CLAIMER, VM, ClaimerTree, noted, widgets
from kubeservers import RealServer
from kubesuite import case
from muster import wait_for
from podkeeper import PodKeeper, pod
from vms import VMs, node_name

NODES, PODS_PER_NODE, BUDGETS, BUDGET_PODS = 50, 5, 6, 3      # and one of a DaemonSet per Node
EVICTIONS_PER_POD = 1.2


def nodes_of(server, tree, *names):
    """Makes Widgets; returns the names of their Nodes when the claimer has them."""
    server.kube.create_many("widgets", [{"metadata": {"name": name}, "spec": {"size": 1}} for name in names],
                            "default")
    wait_for(lambda: len(noted(server, VM)) == len(names), "every Widget has its VM")
    nodes = [node_name(noted(server, VM)[name]) for name in names]
    for name, node in zip(names, nodes):
        wait_for(lambda name=name, node=node: f"nodes/{node}" in tree.explain(name),
                 f"the claimer has {node}")
    return nodes


def delete(server, *names):
    server.forget_audit()
    server.kube.delete_many("widgets", names, "default")


def evictions(server):
    """(name of the Pod, code) of each request, in their order."""
    return [(row["name"], row["code"]) for row in server.audit()
            if row["resource"] == "pods" and row["subresource"] == "eviction"]


@case
def A6_a_Node_is_drained_and_the_budget_is_kept_at_every_instant(server):
    web = {"app": "web"}
    with VMs() as vms, vms.joined(server.kube), PodKeeper(server.kube) as keeper, \
            ClaimerTree(vms, server=server, readers=0) as tree:
        tree.wait_running()
        [node] = nodes_of(server, tree, "a")
        plain, budgeted = [f"plain-{n}" for n in range(24)], [f"web-{n}" for n in range(3)]
        staying = ["daemon-0", "daemon-1", "mirror"]
        keeper.make(*(pod(name, node) for name in plain), *(pod(name, node, web) for name in budgeted),
                    *(pod(name, node, owner="DaemonSet") for name in staying[:2]),
                    pod(staying[2], node, annotations={"kubernetes.io/config.mirror": "x"}))
        keeper.budget("web", web, least=2, replaced=True)
        keeper.wait_ready(web, 3)
        assert len(keeper.on(node)) == 30
        delete(server, "a")
        wait_for(lambda: keeper.on(node) == staying, "only those that stay are left on the Node")
        wait_for(lambda: not widgets(server), "the Widget is gone")
        assert not vms.tags()
        tried = evictions(server)
        assert sorted(name for name, code in tried if code < 300) == sorted(plain + budgeted), tried
        assert {code for name, code in tried if name in plain} == {201}, tried
        assert keeper.least_ready(web, 3) == 2
        cordon = [row for row in server.audit() if row["resource"] == "nodes" and row["verb"] == "patch"
                  and row["user-agent"].startswith("muster") and row["code"] == 200]
        first = min(row["time"] for row in server.audit() if row["subresource"] == "eviction")
        assert len(cordon) == 1 and cordon[0]["time"] < first, "cordoned before the first eviction"


@case
def A4_a_budget_that_never_gives_way_is_ended_by_the_limit_with_an_Event(server):
    web = {"app": "web"}
    with VMs() as vms, vms.joined(server.kube), PodKeeper(server.kube) as keeper, \
            ClaimerTree(vms, server=server, readers=0, actors={CLAIMER: {"drain-timeout": "6s"}}) as tree:
        tree.wait_running()
        [node] = nodes_of(server, tree, "b")
        keeper.make(*(pod(name, node, web) for name in ("web-0", "web-1")),
                    *(pod(name, node) for name in ("plain-0", "plain-1")))
        keeper.budget("web", web, least=2)
        keeper.wait_ready(web, 2)
        delete(server, "b")

        def failed():
            return [row for row in server.kube.list("events", "default")["items"]
                    if row.get("reason") == "DrainFailed" and row["regarding"]["name"] == "b"]
        [event] = wait_for(failed, "an Event about the drain")
        assert event["type"] == "Warning" and event["note"].startswith(
            "Pod default/web-") and "Pods are still there" in event["note"], event
        assert keeper.on(node) == ["web-0", "web-1"] and keeper.least_ready(web, 2) == 2
        tried = evictions(server)
        refused = [name for name, code in tried if code == 429]
        assert {name for name, code in tried if code < 300} == {"plain-0", "plain-1"}, tried
        assert set(refused) == {"web-0", "web-1"} and 4 <= len(refused) <= 8, refused
        kubesuite.pause(3)
        assert evictions(server) == tried, "evictions after the end"
        assert len(vms.tags()) == 1 and list(widgets(server)) == ["b"]
        assert server.kube.get("nodes", node)["spec"]["unschedulable"]


@case
def A12_fifty_Nodes_at_once(server):
    names, pods = [f"n{number}" for number in range(NODES)], []
    leaving = NODES * PODS_PER_NODE
    with VMs(speed=100) as vms, vms.joined(server.kube), PodKeeper(server.kube) as keeper, \
            ClaimerTree(vms, server=server, readers=0) as tree:
        tree.wait_running()
        nodes = nodes_of(server, tree, *names)
        groups = [{"app": f"web-{number}"} for number in range(BUDGETS)]
        for number, node in enumerate(nodes):
            labels = groups[number % BUDGETS] if number < BUDGETS * BUDGET_PODS else {}
            pods += [pod(f"plain-{number}-{n}", node) for n in range(PODS_PER_NODE - 1)]
            pods += [pod(f"web-{number}", node, labels), pod(f"daemon-{number}", node, owner="DaemonSet")]
        keeper.make(*pods)
        for labels in groups:
            keeper.budget(labels["app"], labels, least=BUDGET_PODS - 1, replaced=True)
            keeper.wait_ready(labels, BUDGET_PODS)
        delete(server, *names)
        wait_for(lambda: sum(len(keeper.on(node)) for node in nodes) == NODES,
                 "only the Pods of DaemonSets are left", 120)
        tried = evictions(server)
        tap.note(f"{len(tried)} evictions of {leaving} Pods")
        assert len([code for _, code in tried if code < 300]) == leaving, "each Pod is evicted once"
        assert len(tried) <= EVICTIONS_PER_POD * leaving, f"{len(tried)} evictions of {leaving} Pods"
        assert [keeper.least_ready(labels, BUDGET_PODS) for labels in groups] == [BUDGET_PODS - 1] * BUDGETS


def prepare(server):
    server.install(kubecrds.widgets())


kubesuite.run(RealServer, prepare=prepare)
