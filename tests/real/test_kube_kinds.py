"""tests/real/test_kube_kinds.py - kinds that come and go, on a real server. Cases: lib/kubecases_kinds.py.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_kinds
from kubeservers import RealServer

kubecases_kinds.run(RealServer)
