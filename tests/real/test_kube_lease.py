"""tests/real/test_kube_lease.py - leadership, on a real kube-apiserver. Cases: lib/kubecases_lease.py.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_lease
from kubeservers import RealServer

kubecases_lease.run(RealServer)
