"""tests/sim/test_drain_stop.py - an actor that is stopped while it drains asks for the time that it needs.

muster-test: parallel
muster-test: timeout=120
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import tap
from claimertree import CLAIMER, VM, ClaimerTree, delete, make, noted, wait_bound, widgets
from muster import wait_for
from vms import VMs, node_name

LATE_MS = 4500      # more than the stop_ms of test-claimer, less than the time limit of an eviction


@tap.case
def an_eviction_in_flight_is_answered_before_the_actor_stops():
    with VMs(join=True) as vms:
        server = vms.server
        server.install(kubecrds.widgets())
        with ClaimerTree(vms, readers=0) as tree:
            tree.wait_running()
            make(server, "d")
            wait_bound(vms, "d")
            node = node_name(noted(server, VM)["d"])
            wait_for(lambda: f"nodes/{node}" in tree.explain("d"), "the claimer has the Node")
            for name in ("p1", "p2"):
                server.kube.create("pods", {"metadata": {"name": name}, "spec": {
                    "nodeName": node, "containers": [{"name": "c", "image": "i"}]}}, "default")
            server.order("POST", "faults", {"kind": "latency", "ms": LATE_MS, "verb": "create", "count": -1,
                                            "resource": "pods", "user_agent": "muster"})
            delete(server, "d")
            wait_for(lambda: sum(row["hits"] for row in server.order("GET", "faults")) == 2, "two evictions")
            assert tree.stop() == 0
            [asked] = tree.facts(msg="actor requested more time to stop")
            assert asked["actor"] == CLAIMER and LATE_MS / 2 < asked["duration_ms"] <= 6000, asked
            [ended] = tree.facts(msg="actor stops", actor=CLAIMER)
            assert ended["code"] == 0, ended
            evicted = [row for row in server.audit() if row["subresource"] == "eviction"]
            assert [row["code"] for row in evicted] == [201, 201], evicted
            assert len(vms.tags()) == 1 and list(widgets(server)) == ["d"], "nothing new was begun"


if __name__ == "__main__":
    tap.main()
