"""tests/sim/test_vip_sweep.py - vip-claimer killed at each of 40 effects: no claim leaked (A2, V2, V6).

Run i makes Clusters, deletes those of the run before, and kills vip-claimer at its i-th effect from then
on: once it was sent, in every second run once it was answered. A Cluster has two effects and an Event, so
a run makes as many as it needs. At the end each Cluster has exactly one claim, whose address is its
endpoint, no two have the same, and the pool counts no other.

muster-test: parallel
muster-test: timeout=400
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import crashsweep
import tap
from muster import wait_for
from viptree import ACTOR, ADDRESSES, CLAIMS, CLUSTERS, World, claimer

RUNS, EFFECTS_EACH = 40, 3


def slow(server):
    for verb in ("create", "patch"):
        server.order("POST", "faults", {"kind": "late_answer", "verb": verb, "ms": crashsweep.SLOW_MS,
                                        "user_agent": "muster", "count": -1})


def consistent(world):
    """What must hold at any time: no address is set that is not that of the Cluster's own claim."""
    addresses = {row["metadata"]["name"]: row["spec"]["address"]
                 for row in world.kube.list(ADDRESSES, "default")["items"]}
    given = [row["spec"]["controlPlaneEndpoint"]["host"]
             for row in world.kube.list(CLUSTERS, "default")["items"]
             if row["spec"].get("controlPlaneEndpoint")]
    assert len(set(given)) == len(given), f"two Clusters have one address: {given}"
    return addresses


@tap.case
def A2_V2_V6_killed_at_each_of_40_effects():
    with claimer(killed=True) as (server, tree):
        world, first = World(server), {}
        world.cluster_class(variables=["clusterVip"])
        world.pool("cp")
        world.ipam()
        made = []
        for run in range(1, RUNS + 1):
            when = "sent" if run % 2 == 0 else "answered"
            if run % 2 == 0:
                slow(server)

            def change():
                for number in range(-(-run // EFFECTS_EACH)):
                    made.append(f"r{run}-{number}")
                    world.cluster(made[-1])
                for name in [name for name in made if name.startswith(f"r{run - 1}-")]:
                    world.kube.delete(CLUSTERS, name, "default")
                    made.remove(name)
            crashsweep.run_once(tree, ACTOR, run, when, change)
            server.order("DELETE", "faults")
            consistent(world)
        for name in made:
            host = world.wait_any_endpoint(name)
            assert first.setdefault(name, host) == host, name
        wait_for(lambda: sorted(world.claims()) == sorted(f"vip-cp-{name}" for name in made),
                 "one claim for each Cluster, and no other")
        wait_for(lambda: world.used("cp") == len(made), "the pool counts their addresses, and no other")
        addresses = consistent(world)
        for name in made:
            assert world.endpoint(name) == {"host": addresses[f"vip-cp-{name}"], "port": 6443}, name
            variables = world.get(name)["spec"]["topology"]["variables"]
            assert variables == [{"name": "clusterVip", "value": addresses[f"vip-cp-{name}"]}], variables
        # An answered create whose process was killed is never made again.
        creates = [row["name"] for row in server.audit()
                   if (row["verb"], row["resource"], row["code"]) == ("create", CLAIMS, 201)]
        assert len(creates) == len(set(creates)), "a claim was made twice"
        tap.note(f"{len(creates)} claims made, {tree.actor(ACTOR)['restarts']} restarts")


tap.main()
