"""tests/real/test_nodes_bare.py - clusters without OpenShift. Cases: lib/rolloutcases_bare.py.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import rolloutcases_bare
from kubeservers import RealServer

rolloutcases_bare.run(RealServer)
