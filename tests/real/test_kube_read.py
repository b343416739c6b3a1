"""tests/real/test_kube_read.py - reading, on a real kube-apiserver. Cases: lib/kubecases_read.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_read
from kubeservers import RealServer

kubecases_read.run(RealServer)
