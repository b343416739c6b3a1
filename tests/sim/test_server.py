"""tests/sim/test_server.py - muster-sim does what the real kube-apiserver does, by the same assertions.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecases_server
from kubeservers import SimServer
from kubesuite import expect_error


def a_406_lists_what_is_served(server):
    """The simulator writes no protobuf and does not list it (issue 10.16)."""
    for resource in ("nodes", "widgets"):
        refused = expect_error(406, "NotAcceptable", server.kube.list, resource,
                               accept="application/vnd.kubernetes.protobuf")
        words, listed = refused.message.split(": ")
        assert words == "only the following media types are accepted", refused.message
        for accept in listed.split(", "):
            server.kube.list(resource, accept=accept)


kubecases_server.run(SimServer, a_406_lists_what_is_served)
