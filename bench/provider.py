"""bench/provider.py - what actors/provider costs: a call, a list of instances, and a drain by real processes.

Called by `./dev bench provider`. Calls stand beside bare libcurl and lists beside bare jansson, in rounds
that alternate in one process. A table for people, build/bench/provider.json for scripts;
docs/performance.md describes each figure. Nothing passes or fails by a figure.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/provider.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
import kubecrds
import procs
from claimertree import ClaimerTree, make, wait_bound, widgets
from figures import figure
from muster import wait_for
from vms import VMs, node_name

CALLS, ROUNDS = 500, 20         # calls in a round, of each way and kind
INSTANCES, LISTS = 500, 101
NODES, PODS, DRAINS = 50, 10, 3     # Pods on each Node; how often all are drained
WRITES = 50                     # a second; kube-watcher by itself has no limit
GRACE_S, SPEED = 2, 10          # of a Pod, and how much faster the simulated cluster is
WAIT_S = 60


def program(name, *arguments):
    """The JSON that bench-NAME prints."""
    done = subprocess.run([BIN / f"bench-{name}", *map(str, arguments)], capture_output=True, text=True,
                          timeout=WAIT_S, preexec_fn=procs.die_with_parent)
    if done.returncode != 0:
        raise RuntimeError(f"bench-{name} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


# ---- Calls ----

def calls():
    """bench/provider_call.c: one call at a time over a kept connection, to a process that only answers."""
    with tempfile.TemporaryDirectory(prefix="muster-bench-", dir="/tmp") as where:
        kinds = program("provider_call", where, CALLS, ROUNDS)
    for kind, key in (("read", "call"), ("mutation", "mutation")):
        rounds = kinds[kind]
        for clock, unit, suffix in (("us", "us", ""), ("cpu_us", "us of CPU", "_cpu")):
            client, curl = rounds[f"client_{clock}"], rounds[f"curl_{clock}"]
            about = f"{kind}, CPU" if suffix else kind
            figure(f"{about}: through the client", unit, client, key=f"{key}_client_{clock}")
            figure(f"{about}: by bare libcurl", unit, curl, key=f"{key}_curl_{clock}")
            figure(f"{about}: more through the client", unit, [a - b for a, b in zip(client, curl)],
                   key=f"{key}_overhead_{clock}")
            figure(f"{about}: the client to libcurl", "ratio", [a / b for a, b in zip(client, curl)],
                   key=f"{key}{suffix}_ratio")


# ---- Answers ----

def replies():
    """bench/provider_reply.c: checked, parsed and read, beside parsed alone; CPU time."""
    read = program("provider_reply", INSTANCES, LISTS)
    ours, bare = read["reply_ms"], read["jansson_ms"]
    figure(f"a list of {INSTANCES} instances, every field read", "ms of CPU", ours, key="reply_500_ms")
    figure("  the same text, parsed by jansson alone", "ms of CPU", bare, key="reply_500_jansson_ms")
    figure("  reply to jansson", "ratio", [a / b for a, b in zip(ours, bare)], key="reply_500_ratio")
    print(f"  ({read['bytes']:,} bytes)")


# ---- Drains ----

def drains():
    """musterd with kube-watcher, node-state and test-claimer on muster-sim; all Widgets deleted at once."""
    took_s, audits = [], []
    with VMs(join=True, speed=SPEED) as vms:
        vms.server.install(kubecrds.widgets())
        with ClaimerTree(vms, readers=0, watcher={"writes-per-second": WRITES}) as tree:
            tree.wait_running(timeout=WAIT_S)
            for turn in range(DRAINS):
                fill(vms, [f"w{turn}-{number}" for number in range(NODES)])
                vms.server.forget_audit()
                began = time.monotonic()
                kube = vms.server.kube
                kube.bulk({"method": "DELETE", "path": kube.path("widgets", name, "default")}
                          for name in widgets(vms.server))
                wait_for(lambda: not vms.list(), "the VMs are deleted", WAIT_S, every=0.02)
                took_s.append(time.monotonic() - began)
                wait_for(lambda: not widgets(vms.server), "the Widgets are gone", WAIT_S)
                audits.append([row for row in vms.server.audit() if row["user-agent"].startswith("muster")])
    show_drains(took_s, audits)


def fill(vms, names):
    """A Widget, a VM, a Node and its Pods for each name."""
    make(vms.server, *names)
    wait_bound(vms, *names, timeout=2 * WAIT_S)
    nodes = [node_name(number) for number in vms.tags()]
    wait_for(lambda: set(nodes) <= set(vms.server.kube.names("nodes")), "the Nodes have joined", WAIT_S)
    spec = {"terminationGracePeriodSeconds": GRACE_S, "containers": [{"name": "c", "image": "i"}]}
    vms.server.kube.create_many("pods", [
        {"metadata": {"name": f"{node}-{number}"}, "spec": {"nodeName": node, **spec}}
        for node in nodes for number in range(PODS)], "default")


def show_drains(took_s, audits):
    pods = NODES * PODS
    calls = [[row for row in rows if row["verb"] != "watch"] for rows in audits]
    per_pod = lambda wanted: [sum(map(wanted, rows)) / pods for rows in calls]
    figure(f"{NODES} Nodes of {PODS} Pods, until the last VM is deleted", "s", took_s, key="drain_50_nodes_s")
    figure("API calls for a Pod, those for its Node included", "calls",
           per_pod(lambda row: row["resource"] in ("pods", "nodes")), key="drain_calls_per_pod")
    figure("  evictions of them", "calls", per_pod(lambda row: row["subresource"] == "eviction"),
           key="drain_evictions_per_pod")
    figure("  lists of Pods of them", "calls", per_pod(lambda row: row["verb"] == "list"))
    figure("API calls of all kinds for a Pod", "calls", per_pod(lambda row: True))


SECTIONS = [
    ("Calls", calls),
    ("Answers", replies),
    ("Drains", drains),
]
REQUIRED = ("call_overhead_us", "reply_500_ms", "drain_calls_per_pod", "drain_50_nodes_s")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
