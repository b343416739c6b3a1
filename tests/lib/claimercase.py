"""tests/lib/claimercase.py - the world of a case of test-claimer, and what every case checks.

    with claimer() as (vms, tree):              # muster-sim with Widgets, a musterd on it
        make(vms.server, "a", "b")
        wait_bound(vms, "a", "b")
        check_owners(vms)                       # nobody else has a VM
"""
import contextlib

import kubecrds
from claimertree import VM, ClaimerTree, noted, widgets
from muster import wait_for
from vms import VMs


@contextlib.contextmanager
def claimer(**more):
    """VMs become Nodes of the same muster-sim."""
    with VMs(join=True) as vms:
        vms.server.install(kubecrds.widgets())
        with ClaimerTree(vms, readers=0, **more) as tree:
            tree.wait_running()
            yield vms, tree


def bound(vms):
    """name -> id of its VM, of the Widgets that have one."""
    return {name: int(number) for name, number in noted(vms.server, VM).items()}


def check_owners(vms):
    """Every VM belongs to the Widget that is bound to it, and every bound Widget has its VM."""
    uids = {name: item["metadata"]["uid"] for name, item in widgets(vms.server).items()}
    wanted = {number: uids[name] for name, number in bound(vms).items()}
    assert vms.tags() == wanted, f"VMs {vms.tags()}, wanted {wanted}"


def wait_gone(vms, *names, timeout=60):
    wait_for(lambda: not set(names) & set(widgets(vms.server)), f"{names} are gone", timeout)


def events(vms, name):
    """The reasons of the Events about a Widget."""
    return [event["reason"] for event in vms.server.kube.list("events", "default")["items"]
            if (event.get("regarding") or event.get("involvedObject"))["name"] == name]
