"""tests/sim/test_server.py - muster-sim does what the real kube-apiserver does, by the same assertions.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_server
from kubeservers import SimServer

kubecases_server.run(SimServer)
