"""tests/lib/vms.py - the provider of test-claimer: muster-sim with --vms, and VMs that become Nodes anywhere.

    with VMs() as vms, vms.joined(server.kube):         # server: RealServer or SimServer
        vms.url, vms.token_file                         # for the settings of test-claimer
        vms.fault("lost", "create", count=2)            # the next two POSTs make a VM and are not answered
        vms.tags()                                      # {id: tag}, as the provider has them
        vms.audit("POST")                               # every call, with its effect and the id of its token

    with VMs(join=True) as vms: vms.server.kube         # the VMs become Nodes of the same muster-sim
"""
import contextlib

import joiner
from providers import Provider


class VMs(Provider):
    """At speed 1 a VM takes about 2 s until its Node is ready."""

    def __init__(self, **more):
        super().__init__("vms", **more)

    def list(self):
        """[{"id": 7, "tag": ..., "status": "running"}], as the provider has them."""
        return self.state()["vms"]

    def tags(self):
        return {vm["id"]: vm["tag"] for vm in self.list()}

    def kill(self, number):
        """The VM stops by itself; the provider still lists it."""
        self.command("kill", name=node_name(number))

    # -- its VMs as Nodes

    @contextlib.contextmanager
    def joined(self, kube):
        """Meanwhile every running VM is a Node of that API server; with the VM the Node goes."""
        def machines():
            return {node_name(vm["id"]): (vm["status"], node(vm["id"])) for vm in self.list()}

        with joiner.Joiner(machines, kube):
            yield


def node_name(number):
    return f"vm-{number}"


def provider_id(number):
    return f"test://{number}"


def node(number):
    """The Node of a VM."""
    return joiner.node(node_name(number), {"InternalIP": f"10.128.{number >> 8 & 255}.{number & 255}"},
                       provider_id(number))
