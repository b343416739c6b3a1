"""tests/lib/vpsie.py - the VPSie API of muster-sim, and its workers as Nodes of any API server.

    with VPSie() as vpsie, vpsie.joined(server):   # server: RealServer or SimServer
        vpsie.url + "/v2", vpsie.token_file             # for the settings of vpsie-claimer
        vpsie.next({"hostname": "web-1-x"}, {"never": True}, {"group": "db", "delay_ms": 60000})
        vpsie.fault("lost", "add-worker")               # the next one makes a worker and is not answered
        vpsie.workers(), vpsie.posts()                  # what the provider has; every request for a worker

    with VPSie(join=True) as vpsie: vpsie.server.kube   # the workers become Nodes of the same muster-sim
"""
import contextlib

import joiner
from providers import Provider

CLUSTER, OTHER_CLUSTER = (f"c1000000-0000-4000-8000-00000000000{n}" for n in (1, 2))
DATACENTER, OTHER_DATACENTER = (f"dc000000-0000-4000-8000-00000000000{n}" for n in (1, 2))
SMALL, MEDIUM, LARGE = 11, 12, 13       # KubeSizeID
CLIENT = {"id": "client-of-the-test", "secret": "secret-of-the-test"}


class VPSie(Provider):
    """At speed 1 a worker is listed after about 5 s, runs after 15, is a Node after 30, ready after 35."""

    def __init__(self, **more):
        super().__init__("vpsie", **more)
        self.cluster = self.server      # the API server that has the objects; joined() names another one

    # -- what the provider has

    def workers(self, *states):
        """Those of clusters in these states (default: all), also what no list shows (docs/simulator.md)."""
        return [worker for worker in self.state()["workers"]
                if worker["cluster"] and (not states or worker["machine"] in states)]

    def group(self, name):
        """The groups of that name."""
        return [group for group in self.state()["groups"] if group["name"] == name]

    def posts(self):
        """Every request for a worker that arrived, answered or not."""
        return [row for row in self.audit("POST") if row["class"] == "add-worker"]

    # -- what happens to it

    def next(self, *workers):
        """How the next workers come, in order, each with any of: group (its name), hostname, delay_ms, never,
        hide_vm, hide_identifier, ip_lag_ms, ip_settle_ms."""
        self.set("next", list(workers))

    def kill(self, node):
        """The machine of that Node stops by itself; the provider still lists it."""
        self.command("kill", name=node)

    def call(self, method, path, body=None, prefix="v2", **query):
        """As a person calls the API: the answer's JSON."""
        answer = self.api.raw(method, f"{prefix}/{path}", body=body, query=query)
        assert answer.code == 200, (method, path, answer)
        return answer.json()

    def delete_outside(self, worker):
        """Somebody else deletes the VM of that worker (an element of workers())."""
        if worker["in_vms"]:
            self.call("DELETE", f"vm/{worker['id']}")
        else:
            self.call("DELETE", f"k8s/cluster/byId/{worker['cluster']}/delete/slave",
                      {"identifier": worker["identifier"]})

    def add_outside(self, cluster=CLUSTER, group=None):
        """Somebody else adds a worker, to that group (its number) or to none."""
        self.call("POST", f"k8s/cluster/byId/{cluster}/add/slave" + (f"/group/{group}" if group else ""))

    # -- its workers as Nodes

    @contextlib.contextmanager
    def joined(self, server):
        """Meanwhile every running worker is a Node of that API server; with the worker the Node goes."""
        self.cluster = server

        def machines():
            return {worker["node"]: (STATES[worker["machine"]], node(worker))
                    for worker in self.workers(*STATES)}

        with joiner.Joiner(machines, server.kube):
            yield


# Without join a machine stops at "running"; with it the Nodes are those of muster-sim.
STATES = {"running": "running", "joined": "running", "ready": "running", "dead": "offline"}


def node(worker):
    vm = worker["vm"]
    resources = {"cpu": str(vm["cpu"]), "memory": f"{vm['ram']}Mi", "pods": "110"}
    addresses = {"InternalIP": worker["private_ip"], "ExternalIP": worker["public_ip"]}
    return joiner.node(worker["node"], addresses, resources=resources)
