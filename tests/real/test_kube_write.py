"""tests/real/test_kube_write.py - writing, on a real kube-apiserver. Cases: lib/kubecases_write.py.

muster-test: parallel
muster-test: timeout=600
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_write
from kubeservers import RealServer

kubecases_write.run(RealServer)
