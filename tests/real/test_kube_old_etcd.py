"""tests/real/test_kube_old_etcd.py - a server without watch-lists: kube-watcher falls back to lists.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_read
from kubeservers import RealServer
from kubetree import KubeTree


def the_refusal_is_remembered(server):
    server.kube.create_many("nodes", kubecases_read.nodes(1200))
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.wait_equal("nodes")
        asked = [row for row in server.audit()
                 if row["user-agent"].startswith("muster") and row["resource"] == "nodes"]
        refused = [row for row in asked if "sendInitialEvents" in row["uri"]]
        assert len(refused) <= 1, refused
        assert len([row for row in asked if row["verb"] == "list"]) >= 1, asked
        server.interrupt()
        kubecases_read.label(server, "n7", "after")
        kubecases_read.wait_label(tree, "n7", "after")
        again = [row for row in server.audit()
                 if row["user-agent"].startswith("muster") and "sendInitialEvents" in row["uri"]]
        assert len(again) <= 4, f"one try per kind, not again after an interruption: {again}"


kubecases_read.run(lambda: RealServer(etcd="etcd-debian"), the_refusal_is_remembered)
