"""tests/sim/test_nodes_state.py - node-state, on muster-sim. Cases: lib/rolloutcases_state.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import rolloutcases_state
from kubeservers import SimServer

rolloutcases_state.run(SimServer)
