"""tests/sim/test_nodes_insight.py - insights, on muster-sim. Cases: lib/rolloutcases_insight.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import rolloutcases_insight
from kubeservers import SimServer

rolloutcases_insight.run(SimServer)
