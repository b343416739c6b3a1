"""tests/chaos/test_chaos.py - kill -9 and SIGSTOP of any actor at any time, under 1,000 changes a second.

Afterwards every mirror equals the store, only the killed actors were restarted, and nothing is left
behind: no zombie, no descriptor, no memory. The seed is printed; CHAOS_SEED (./dev test chaos --seed)
replays it, CHAOS_SECONDS (--seconds) is how long faults are injected in all cases together.

muster-test: timeout=900
"""
import collections
import heapq
import os
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import procs
import tap
from muster import wait_for
from samples import Samples, resident_kib


def setting(name, otherwise):
    return os.environ.get(f"CHAOS_{name}") or os.environ.get(f"MUSTER_{name}") or otherwise


SECONDS = float(setting("SECONDS", 60))
SEED = int(setting("SEED", random.SystemRandom().getrandbits(32)))

KEYS, RATE, CONSUMERS = 1000, 1000, 4
PAUSE_S = (0.05, 1.0)           # between two faults
STOP_S = (0.1, 12.0)            # long enough to lose a session (10 s)
KILLS_OF_A_CORE_ACTOR = 4       # the fifth early exit in five minutes ends musterd
GROWTH_KIB = 4096
# Reasons that a killed or stopped peer explains. The others (hash, count, order, repeat, refused) are bugs.
EXPECTED_REASONS = {"silent", "closed", "peer", "gap", "epoch"}


class Faults:
    """Kills and stops actors at random, by a seed; counts both, and continues all stopped ones at the end."""

    def __init__(self, tree, seed):
        self.tree, self.chance = tree, random.Random(seed)
        self.kills, self.stops = collections.Counter(), collections.Counter()
        self.stopped = []       # (when it continues, pid, name), the next one first

    def inject(self):
        name = self.chance.choice(self.tree.everyone())
        kill, length = self.chance.random() < 0.5, self.chance.uniform(*STOP_S)
        row = self.tree.actor(name)
        if row["state"] not in ("starting", "running") or row["pid"] == 0:
            return
        if kill:
            if row["core"] and self.kills[name] == KILLS_OF_A_CORE_ACTOR:
                return
            os.kill(row["pid"], signal.SIGKILL)
            self.kills[name] += 1
            self.stopped = [entry for entry in self.stopped if entry[1] != row["pid"]]
            heapq.heapify(self.stopped)
            wait_for(lambda: self.tree.actor(name)["pid"] != row["pid"], f"musterd reaps {name}")
        elif row["pid"] not in [pid for _, pid, _ in self.stopped]:
            os.kill(row["pid"], signal.SIGSTOP)
            self.stops[name] += 1
            heapq.heappush(self.stopped, (time.monotonic() + length, row["pid"], name))

    def resume(self, until):
        """Continues the actors whose stop is over by then."""
        while self.stopped and self.stopped[0][0] <= until:
            os.kill(heapq.heappop(self.stopped)[1], signal.SIGCONT)

    def run(self, seconds, check):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self.chance.uniform(*PAUSE_S))
            self.resume(time.monotonic())
            self.inject()
            check()
        self.resume(float("inf"))


def restart_all(tree):
    """Starts the actors in backoff at once: the length of backoff is tested elsewhere."""
    for name, row in tree.actors().items():
        if row["state"] == "backoff":
            tree.control(f"restart {name}")
    tree.wait_running(timeout=120)


def check_nothing_gone(tree):
    for name, row in tree.actors().items():
        if name in tree.consumers and "gone=" in row["status"]:
            assert " gone=0 " in row["status"], f"{name}: {row['status']}"


def run_faults(churn, seed):
    tap.note(f"CHAOS_SEED={seed}, {SECONDS / 2:.0f} s, churn {churn}")
    producer = {"keys": KEYS, "rate": RATE, "churn": churn, "seed": seed % (1 << 31)}
    with Samples(consumers=CONSUMERS, producer=producer, metrics=True, patient=True) as tree:
        tree.wait_running()
        fds, memory = tree.steady_descriptors(), resident_kib(tree.process.pid)
        faults = Faults(tree, seed)
        faults.run(SECONDS / 2, check=(lambda: check_nothing_gone(tree)) if churn == 0 else lambda: None)
        restart_all(tree)
        for name in tree.consumers:
            tree.wait_received(name, 100)
        store = tree.settle(timeout=120)
        reasons = collections.Counter(fact["reason"] for fact in tree.facts(msg="session starts over"))
        tap.note(f"kills {dict(faults.kills)}, stops {dict(faults.stops)}, resyncs {dict(reasons)}")

        if churn == 0:
            check_nothing_gone(tree)
            assert len(store) == KEYS, f"{len(store)} keys"
        rows = tree.actors()
        restarts = {name: rows[name]["restarts"] for name in tree.everyone()}
        assert restarts == {name: faults.kills[name] for name in tree.everyone()}, f"restarts {restarts}"
        assert not set(reasons) - EXPECTED_REASONS, f"sessions started over for {reasons}"
        assert not tree.facts(msg="actor was reported by a peer; restarting it"), "an actor was reported"
        assert not tree.metric("muster_bus_sends_blocked_total"), "a socket was full in spite of credit"
        zombies = [str(p) for p in procs.family(tree.process.pid) if p.state == "Z"]
        assert not zombies, zombies
        tree.wait_descriptors(fds)
        grown = resident_kib(tree.process.pid) - memory
        assert grown < GROWTH_KIB, f"musterd grew by {grown} KiB"
        assert tree.stop() == 0
        assert not tree.facts(level="error"), tree.facts(level="error")


@tap.case
def faults_while_no_key_is_removed():
    run_faults(churn=0, seed=SEED)


@tap.case
def faults_while_keys_are_added_and_removed():
    run_faults(churn=50, seed=SEED + 1)


@tap.case
def the_death_of_musterd_ends_all_actors_and_a_new_one_starts_again():
    chance = random.Random(SEED)
    producer = {"keys": KEYS, "rate": RATE, "churn": 50}
    with Samples(consumers=CONSUMERS, producer=producer, metrics=True) as tree:
        for _ in range(3):
            tree.wait_running()
            tree.wait_received(tree.consumers[0], 500)
            stopped = chance.choice(tree.everyone())
            tree.kill(stopped, signal.SIGSTOP)
            time.sleep(chance.uniform(0, 0.5))
            family = [p.pid for p in procs.family(tree.process.pid)][1:]
            assert len(family) == len(tree.everyone())
            tree.process.kill()
            tree.process.wait()
            wait_for(lambda: not [p for p in procs.table().values() if p.pid in family and p.state != "Z"],
                     "every child is gone")
            tree.start()
        tree.wait_running()
        tree.wait_received(tree.consumers[0], 500)
        tree.settle()
        rows = tree.actors()
        assert {rows[name]["restarts"] for name in tree.everyone()} == {0}
        assert tree.stop() == 0


if __name__ == "__main__":
    tap.main()
