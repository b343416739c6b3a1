"""tests/sim/test_kube_lease.py - leadership, on muster-sim. Cases: lib/kubecases_lease.py.

muster-test: parallel
muster-test: timeout=600
"""
import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_lease
from kubeservers import SimServer

kubecases_lease.run(functools.partial(SimServer, tls=True))
