"""tests/real/test_server.py - a real kube-apiserver on etcd 3.6 does what our suite takes for granted.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_server
from kubeservers import RealServer
from kubesuite import expect_error, wait_right
from muster import wait_for
from vms import VMs, provider_id

READER = "reader-token"


def users_have_the_rights_that_are_bound_to_them(server):
    reader = server.client(READER)
    refused = expect_error(403, "Forbidden", reader.list, "nodes")
    assert 'User "reader" cannot list resource "nodes" in API group ""' in refused.message
    server.kube.create("clusterroles", {"metadata": {"name": "reader"}, "rules": [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]})
    server.kube.create("clusterrolebindings", {
        "metadata": {"name": "reader"}, "subjects": [{"kind": "User", "name": "reader"}],
        "roleRef": {"kind": "ClusterRole", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}})
    wait_right(server, "reader", "list", "nodes")
    reader.list("nodes")
    expect_error(403, "Forbidden", reader.delete, "nodes", "any")


def a_killed_server_comes_back_with_everything(server):
    server.kube.create("nodes", {"metadata": {"name": "kept"}})
    server.restart()
    assert server.kube.get("nodes", "kept")


def VMs_of_the_test_provider_join_and_go(server):
    """tests/sim/test_vms.py has the same on muster-sim; here admission and the status are the real ones."""
    def shown():
        nodes = [(node["spec"], node["status"]["conditions"]) for node in server.kube.list("nodes")["items"]]
        return [(spec["providerID"], spec.get("taints"), ready["status"]) for spec, [ready] in nodes]
    with VMs() as vms, vms.joined(server.kube):
        for tag in "ab":
            vms.api.call("POST", "vms", body={"tag": tag})
        ready = [(provider_id(number), None, "True") for number in (1, 2)]
        wait_for(lambda: shown() == ready, "two Nodes are ready")
        vms.kill(2)
        vms.api.call("DELETE", "vms/1")
        wait_for(lambda: shown() == [(provider_id(2), None, "Unknown")], "one is gone, one is dead")


kubecases_server.run(lambda: RealServer(users={READER: ("reader", [])}),
                    users_have_the_rights_that_are_bound_to_them, VMs_of_the_test_provider_join_and_go,
                    a_killed_server_comes_back_with_everything)
