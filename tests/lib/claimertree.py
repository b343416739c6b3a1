"""tests/lib/claimertree.py - a musterd with test-claimer, on the muster-sim that has its VMs.

    with VMs(join=True) as vms:
        vms.server.install(kubecrds.widgets())
        with ClaimerTree(vms) as tree:
            make(vms.server, "a", "b")
            wait_bound(vms, "a", "b")           # each has one VM, of its own

Widgets are in the namespace default.
"""
from kubetree import KubeTree
from muster import wait_for

CLAIMER, STATE = "test-claimer", "node-state"
VM, INTENT = "test.muster.dev/vm", "test.muster.dev/intent"


class ClaimerTree(KubeTree):
    """token: the id of the token that its test-claimer has. supervisor: settings; actors: more of them."""

    def __init__(self, vms, token=None, supervisor=None, actors=None, server=None, **more):
        super().__init__(server or vms.server, **more)
        token_file = self.folder / "vms-token"
        token_file.write_text(vms.tokens[token] if token else vms.token)
        token_file.chmod(0o600)
        self.settings[CLAIMER] = {"api-url": vms.url, "token-file": str(token_file)}
        for name, values in (actors or {}).items():
            self.settings[name] = {**self.settings.get(name, {}), **values}
        self.configure({"supervisor": {"log-format": "json", **(supervisor or {})},
                        "actors": {"metrics": {"enabled": False}, **self.settings}})

    def explain(self, widget):
        return self.cli("explain", f"widgets/default/{widget}").stdout


def make(server, *names):
    for name in names:
        server.kube.create("widgets", {"metadata": {"name": name}, "spec": {"size": 1}}, "default")


def delete(server, *names):
    for name in names:
        server.kube.delete("widgets", name, "default")


def widgets(server):
    return {item["metadata"]["name"]: item for item in server.kube.list("widgets", "default")["items"]}


def noted(server, key):
    """name -> the value of that annotation, of the Widgets that have it."""
    notes = {name: item["metadata"].get("annotations", {}) for name, item in widgets(server).items()}
    return {name: note[key] for name, note in notes.items() if key in note}


def wait_bound(vms, *names, timeout=60):
    """Until these Widgets have their VMs; each of them one, and each VM is that of its Widget."""
    def bound():
        return noted(vms.server, VM)
    wait_for(lambda: set(names) <= set(bound()), f"{', '.join(names)} have their VMs", timeout)
    uids = {name: item["metadata"]["uid"] for name, item in widgets(vms.server).items()}
    tags = sorted(tag for tag in vms.tags().values() if tag in [uids[name] for name in names])
    assert tags == sorted(uids[name] for name in names), f"not one VM for each: {vms.list()} {uids}"
    for name in names:
        assert vms.tags()[int(bound()[name])] == uids[name], f"{name} has the VM of another: {vms.list()}"
