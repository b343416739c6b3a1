"""tests/real/test_kube_hostile_list.py - unreadable objects in plain lists.

Cases: lib/kubecases_hostile.py; the server has no watch-lists.

muster-test: parallel
muster-test: timeout=900
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_hostile
from kubeservers import RealServer

kubecases_hostile.run(lambda: RealServer(etcd="etcd-debian"))
