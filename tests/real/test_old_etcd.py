"""tests/real/test_old_etcd.py - kube-apiserver on the etcd 3.4 of Debian 12 has no watch-lists.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
from kubeservers import RealServer


def a_watch_list_is_refused_inside_the_stream(server):
    server.kube.create("nodes", {"metadata": {"name": "n1"}})
    refusal, = server.kube.watch_list("nodes")
    assert refusal["type"] == "ERROR" and refusal["object"]["code"] == 500, refusal
    assert refusal["object"]["reason"] == "InternalError", refusal
    assert "RequestWatchProgress" in refusal["object"]["message"], refusal


def lists_and_watches_work(server):
    listed = server.kube.list("nodes")
    server.kube.create("nodes", {"metadata": {"name": "n2"}})
    event = next(server.kube.watch("nodes", listed["metadata"]["resourceVersion"]))
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "n2")


kubesuite.run(lambda: RealServer(etcd="etcd-debian"),
              a_watch_list_is_refused_inside_the_stream, lists_and_watches_work)
