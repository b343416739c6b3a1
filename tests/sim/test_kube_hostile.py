"""tests/sim/test_kube_hostile.py - unreadable objects, on muster-sim. Cases: lib/kubecases_hostile.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_hostile
from kubefaults import arm, disarm
from kubeservers import SimServer


def the_same_in_plain_lists(server):
    arm(server, "no_watchlist", verb="watch", count=-1)
    try:
        kubecases_hostile.sweep(server)
    finally:
        disarm(server)


kubecases_hostile.run(SimServer, the_same_in_plain_lists)
