"""tests/real/test_kube_hostile.py - unreadable objects, on a real server. Cases: lib/kubecases_hostile.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_hostile
from kubeservers import RealServer

kubecases_hostile.run(RealServer)
