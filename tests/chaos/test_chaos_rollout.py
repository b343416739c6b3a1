"""tests/chaos/test_chaos_rollout.py - an accelerated update, with kill -9 of the actors that follow it.

At the end the insights are those of the oracle; no unchanged condition got another time, no insight was
deleted or created again, and only the killed actors were restarted. CHAOS_SEED (./dev test chaos --seed)
replays a seed.

muster-test: timeout=900
"""
import collections
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import oracle
import rolloutcrds
import tap
from kubeservers import SimServer
from muster import wait_for
from rolloutcrds import INSIGHTS
from rollouttree import INSIGHT, STATE, WATCHER, NodesTree, down
from rolloutwatch import Watched

SEED = int(os.environ.get("CHAOS_SEED") or os.environ.get("MUSTER_SEED")
           or random.SystemRandom().getrandbits(32))
MASTERS, WORKERS, SPEED = 3, 57, 20
PAUSE_S = (0.2, 2.5)
KILLS_OF_ONE = 4            # the fifth early exit of a core actor in five minutes ends musterd
KILLED = (STATE, INSIGHT, WATCHER)


def completed(server):
    newest = server.kube.get("clusterversions", "version")["status"]["history"][0]
    return (newest["version"], newest["state"]) == ("4.20.4", "Completed")


def kill_at_random(tree, server, chance):
    """Kills actors until the update is over; at least one of them."""
    kills, deadline = collections.Counter(), time.monotonic() + 300
    while not completed(server) or not kills:
        assert time.monotonic() < deadline, "the update does not end"
        time.sleep(chance.uniform(*PAUSE_S))
        name = chance.choice(KILLED)
        row = tree.actor(name)
        if row["state"] != "running" or kills[name] == KILLS_OF_ONE:
            continue
        tree.kill(name)
        kills[name] += 1
        wait_for(lambda: tree.actor(name)["pid"] != row["pid"], f"musterd reaps {name}")
    return kills


def restart_all(tree):
    """Starts the actors in backoff at once: the length of backoff is tested elsewhere."""
    for name, row in tree.actors().items():
        if row["state"] == "backoff":
            tree.control(f"restart {name}")
    tree.wait_running(timeout=120)


def wrong_times(watched):
    for name in {event["object"]["metadata"]["name"] for event in watched.events}:
        statuses = watched.statuses(name)
        for before, after in zip(statuses, statuses[1:]):
            yield from (f"{name}: {wrong}" for wrong in oracle.late_or_kept(before, after))


@tap.case
def B4_B5_kills_during_a_rollout_do_not_change_its_result():
    tap.note(f"CHAOS_SEED={SEED}")
    chance = random.Random(SEED)
    with SimServer(options=["--seed", str(SEED % (1 << 31)), "--speed", str(SPEED)]) as server:
        server.install(*rolloutcrds.insights())
        server.order("POST", "cluster", {"op": "openshift", "masters": MASTERS, "workers": WORKERS,
                                       "version": "4.20.3", "max_unavailable": "20%"})
        with NodesTree(server) as tree:
            tree.wait_up()
            tree.wait_settled()
            uids = {(kind, name): item["metadata"]["uid"] for kind in INSIGHTS
                    for name, item in tree.insights(kind).items()}
            with Watched(server) as watched, Watched(server, INSIGHTS[1]) as pools:
                server.order("POST", "cluster", {"op": "rollout", "version": "4.20.4"})
                kills = kill_at_random(tree, server, chance)
                tap.note(f"kills {dict(kills)}")
                restart_all(tree)
                tree.wait_settled(timeout=120)
                tree.wait_states(timeout=120)
                for some, kind in ((watched, INSIGHTS[0]), (pools, INSIGHTS[1])):
                    for name, item in tree.insights(kind).items():
                        wait_for(lambda: some.statuses(name)[-1:] in ([], [item["status"]]), "last status")
                    assert some.deleted() == [], some.deleted()
                    wrong = [*wrong_times(some)]
                    assert not wrong, wrong[:5]
            now = {(kind, name): item["metadata"]["uid"] for kind in INSIGHTS
                   for name, item in tree.insights(kind).items()}
            assert now == uids, "an insight was created again"
            rows = tree.actors()
            restarts = {name: rows[name]["restarts"] for name in (*KILLED, down(1))}
            assert restarts == {name: kills[name] for name in restarts}, restarts
            assert not tree.gone(), tree.gone()


if __name__ == "__main__":
    tap.main()
