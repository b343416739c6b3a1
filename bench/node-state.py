"""bench/node-state.py - what it costs to evaluate every node once and to notify all actors downstream.

Called by `./dev bench node-state`: kube-watcher, node-state and test-down actors on muster-sim's OpenShift.
A table for people, build/bench/node-state.json for scripts; docs/performance.md describes each
figure. Nothing passes or fails by a figure.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/node-state.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
import muster
import procs
import rolloutcrds
from figures import figure, keys, rollup
from kube import MERGE
from kubeservers import SimServer
from rollouttree import INSIGHT, STATE, WATCHER, NodesTree, down
from rolloutworld import notes

NODES, FEW = 5000, 1000         # growth is measured from the few
DOWNSTREAM = (1, 5, 20)         # numbers of actors
RATE, SECONDS = 100, 10         # changes a second, and for how long, for each number of actors
CHANGED = 200                   # nodes that take turns in changing
FLEET_ROUNDS = 5
WAIT_S = 60


def worker(number):
    return f"worker-{number:02}"


@contextlib.contextmanager
def openshift(workers, downs, insight=False, settings=None):
    """A simulated OpenShift without masters, and the tree on it, synced."""
    options = ["--openshift", "--masters", "0", "--workers", str(workers)]
    with SimServer(options=options) as server:
        if insight:
            server.install(*rolloutcrds.insights())
        with NodesTree(server, downs=downs, insight=insight, settings=settings) as tree:
            tree.wait_running(timeout=WAIT_S)
            yield server, tree


def cpu_ms(pid):
    """CPU time of all threads of a process, as exact as the kernel has it: clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e6


# ---- Evaluations ----

def evaluations():
    """bench/node_state_evaluate.c, in CPU time: waiting does not count, cold caches do."""
    runs = []
    for _ in range(5):
        done = subprocess.run([BIN / "bench-node_state_evaluate", str(NODES), "10"], capture_output=True,
                              text=True, timeout=WAIT_S, check=True, preexec_fn=procs.die_with_parent)
        runs.append(json.loads(done.stdout))
    figure("evaluations that change nothing, one core", "1/s", [run["same_per_s"] for run in runs],
           key="evaluations_per_s")
    figure("evaluations with a new state, packed, one core", "1/s", [run["changed_per_s"] for run in runs],
           key="evaluations_changed_per_s")
    print(f"  ({NODES:,} Nodes of {runs[0]['body_bytes']:,} bytes on the bus, CPU time)")


# ---- Notifications ----

def notifications():
    """From the beginning of an evaluation to the handlers of all receivers, in other processes."""
    print("  (min and max are those of single actors; the keys are of all notifications together)")
    for count in DOWNSTREAM:
        with tempfile.TemporaryDirectory(prefix="muster-bench-", dir="/tmp") as where:
            files = {down(number): pathlib.Path(where, down(number)) for number in range(1, count + 1)}
            settings = {name: {"latency-file": str(file)} for name, file in files.items()}
            with openshift(CHANGED, count, settings=settings) as (server, tree):
                floor = subprocess.Popen([BIN / "bench-node_state_wake", str(RATE), str(SECONDS)], text=True,
                                         stdout=subprocess.PIPE, preexec_fn=procs.die_with_parent)
                made = change_nodes(server)
                wakes = sorted(map(int, floor.communicate(timeout=WAIT_S)[0].split()))
                time.sleep(1)       # the last ones are in flight; changes at the same time may have merged
            taken = [sorted(map(int, file.read_text().split())) for file in files.values()]
        show_latencies(count, taken, wakes, made)


def change_nodes(server):
    """Toggles the state of nodes at a steady rate, so that each change is a new state; returns how many."""
    total, threads, began = RATE * SECONDS, 2, time.monotonic()

    def change(first):
        with contextlib.closing(server.kube.connect()) as connection:
            for n in range(first, total, threads):
                time.sleep(max(0, began + n / RATE - time.monotonic()))
                state = "Done" if n // CHANGED % 2 else "Working"
                path = server.kube.path("nodes", worker(n % CHANGED))
                answer = server.kube.send(connection, "PATCH", path, content=MERGE,
                                          body={"metadata": {"annotations": notes(state=state)}})
                answer.read()
                if answer.status != 200:
                    raise RuntimeError(f"a change was answered by {answer.status}")

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(change, range(threads)))
    rate = total / (time.monotonic() - began)
    if rate < 0.9 * RATE:
        print(f"  (only {rate:.0f} changes a second of {RATE}: the machine is busy)")
    return total


def show_latencies(count, taken, wakes, made):
    """Also shows how long it took to wake a process through a pipe: no bus is faster than that."""
    every = sorted(value for values in taken for value in values)
    if len(every) < 0.95 * made * count:
        raise RuntimeError(f"{len(every)} notifications of {made * count} were measured")
    for share in (50, 99):
        figure(f"to {count} downstream, {RATE} changes/s, p{share}", "us",
               [percentile(values, share) for values in taken])
        keys[f"notify_{count}_p{share}_us"] = percentile(every, share)
    for share in (50, 99):
        figure(f"  a pipe between two processes meanwhile, p{share}", "us", [percentile(wakes, share)],
               key=f"wake_{count}_p{share}_us")


def percentile(ascending, share):
    return ascending[len(ascending) * share // 100]


# ---- A change of all states ----

def fleet_change():
    """The rendered MachineConfig of all workers gets another version: each state changes."""
    counting_only = {down(): {"latency-file": "/dev/null"}}     # it stores no text of a notification
    with openshift(NODES, 1, settings=counting_only) as (server, tree):
        configs = server.kube.names("machineconfigs")
        config = next(name for name in configs if name.startswith("rendered-worker-"))
        pids = {name: tree.pid(name) for name in (STATE, WATCHER)}
        received = lambda: tree.counts()["nodes"]["updated"]
        wall, cpu = [], {name: [] for name in pids}
        for patch in range(FLEET_ROUNDS):
            wanted, before = received() + NODES, {name: cpu_ms(pid) for name, pid in pids.items()}
            began = time.monotonic()
            server.kube.merge("machineconfigs", config, {"metadata": {"annotations": notes(
                **{"release-image-version": f"4.21.{patch}"})}})
            muster.wait_for(lambda: received() >= wanted, f"{NODES} notifications", WAIT_S, every=0.001)
            wall.append(1000 * (time.monotonic() - began))
            time.sleep(0.5)     # so that acknowledgements and the pool's last state are in the CPU time
            for name, pid in pids.items():
                cpu[name].append(cpu_ms(pid) - before[name])
    figure(f"change of a MachineConfig to {NODES:,} notifications", "ms", wall, key="fleet_change_5000_ms")
    figure("  CPU of node-state meanwhile", "ms", cpu[STATE], key="fleet_change_5000_cpu_ms")
    figure("  CPU of kube-watcher meanwhile", "ms", cpu[WATCHER])


# ---- Memory ----

def growth():
    """kube-watcher, node-state and insight, every insight written; others downstream come on top."""
    actors = (WATCHER, STATE, INSIGHT)
    held = {}
    for count in (FEW, NODES):
        with openshift(count, 0, insight=True) as (server, tree):
            muster.wait_for(lambda: written(server) >= count, f"{count} insights", WAIT_S, every=1)
            time.sleep(3)       # until the memory of a burst is freed
            held[count] = {name: 1024 * rollup(tree.pid(name), "Pss") for name in actors}
    each = {name: (held[NODES][name] - held[FEW][name]) / (NODES - FEW) for name in actors}
    for name in actors:
        figure(f"PSS of {name} at {NODES:,} nodes", "KiB", [held[NODES][name] / 1024])
        figure("  a node more", "bytes", [each[name]])
    figure("a node more, the three together", "bytes", [sum(each.values())], key="bytes_per_node")


def written(server):
    return sum("status" in item for item in server.kube.list(rolloutcrds.NODE_INSIGHTS)["items"])


SECTIONS = [
    ("Evaluations", evaluations),
    ("Notifications", notifications),
    ("The whole fleet", fleet_change),
    ("Memory", growth),
]
REQUIRED = ("evaluations_per_s", *(f"notify_{count}_p99_us" for count in DOWNSTREAM), "fleet_change_5000_ms",
            "bytes_per_node")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
