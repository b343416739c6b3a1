"""tests/real/test_server.py - a real kube-apiserver on etcd 3.6 does what our suite takes for granted.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_server
from kubeservers import RealServer
from kubesuite import expect_error

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
    reader.list("nodes")
    expect_error(403, "Forbidden", reader.delete, "nodes", "any")


def a_killed_server_comes_back_with_everything(server):
    server.kube.create("nodes", {"metadata": {"name": "kept"}})
    server.restart()
    assert server.kube.get("nodes", "kept")


kubecases_server.run(lambda: RealServer(users={READER: ("reader", [])}),
                    users_have_the_rights_that_are_bound_to_them, a_killed_server_comes_back_with_everything)
