"""tests/real/test_nodes_state.py - node-state, on a real kube-apiserver. Cases: lib/rolloutcases_state.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import rolloutcases_state
from kubeservers import RealServer

rolloutcases_state.run(RealServer)
