"""bench/kube.py - kube-watcher and a controller-runtime manager with the same job, on a real apiserver.

Called by `./dev bench kube`; the first run builds etcd, kube-apiserver and the peer (bench/peers/node-cache),
which takes a quarter of an hour and is kept. Both read 5,000 nodes of about 25 KB, watch changes and write
one annotation back; they alternate in one run. Figures are ratios to the peer, or to `curl` for the plain
list; docs/performance.md describes each. MUSTER_BENCH_NODES: another number of nodes.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin"))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/kube.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
import kubetools
import muster
import procs
from figures import cpu_ticks, figure, keys, rollup
from kube import METADATA_ONLY, STRATEGIC
from kubeservers import RealServer, SimServer
from kubetree import KubeTree

NODES = int(os.environ.get("MUSTER_BENCH_NODES", 5000))
ROUNDS = 3
TOUCH, ECHO = "muster.dev/touch", "muster.dev/echo"
RATES = (20, 50)            # changes a second: the apiserver itself saturates near 85 on two cores
TOUCHES = 250               # for each rate and turn
EVENTS, EVENT_RATE = 500, 50    # of a working fleet, for each turn
TOUCH_EVERY = 20            # one in so many is written back; docs/performance.md has other shares
WAIT_S = 300
CONDITIONS = {"MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False", "Ready": "True"}
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PROTOBUF = "application/vnd.kubernetes.protobuf"

server = None               # the real one, with its nodes
times = {"ours": [], "peer": [], "curl": []}


# ---- The fleet ----

def node(number, chance):
    """A Node as kubelets make them: 50 images with digests, 20 labels, conditions; about 25 KB of JSON."""
    name = f"node-{number:05}"
    digest = lambda: f"{chance.getrandbits(256):064x}"
    registry = "registry.example.com/platform/team"
    images = [{"names": [f"{registry}-{i % 7}/component-{i}@sha256:{digest()}",
                         f"{registry}-{i % 7}/component-{i}/with-a-long-name-for-size:v1.{i}.{number % 9}",
                         f"{registry}-{i % 7}/mirror/component-{i}@sha256:{digest()}"],
               "sizeBytes": chance.randrange(10 ** 7, 10 ** 9)} for i in range(50)]
    conditions = [{"type": kind, "status": status, "reason": f"Kubelet{kind}",
                   "message": "kubelet reports " * 3, "lastHeartbeatTime": "2026-11-01T00:00:00Z",
                   "lastTransitionTime": "2026-10-01T00:00:00Z"}
                  for kind, status in CONDITIONS.items()]
    volumes = [f"kubernetes.io/csi/csi.example.com^vol-{digest()[:17]}" for _ in range(8)]
    labels = {f"topology.example.com/level-{i}": f"value-{i}-{number % 17}" for i in range(16)}
    return {"metadata": {"name": name, "labels": {
                "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": "m5.xlarge", **labels},
                "annotations": {f"example.com/annotation-{i}": digest() for i in range(10)}},
            "spec": {"providerID": f"example:///zone-a/i-{digest()[:17]}", "podCIDR": "10.0.0.0/24"},
            "status": {"conditions": conditions, "images": images,
                       "addresses": [{"type": "InternalIP",
                                      "address": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"},
                                     {"type": "Hostname", "address": name}],
                       "volumesInUse": volumes,
                       "volumesAttached": [{"name": v, "devicePath": ""} for v in volumes],
                       "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
                       "allocatable": {"cpu": "3920m", "memory": "15Gi", "pods": "110"},
                       "nodeInfo": {"kubeletVersion": "v1.35.4", "osImage": "Debian 12",
                                    "kernelVersion": "6.1.0", "machineID": digest()[:32],
                                    "systemUUID": digest()[:32], "bootID": digest()[:32],
                                    "containerRuntimeVersion": "containerd://1.7", "kubeProxyVersion": "",
                                    "operatingSystem": "linux", "architecture": "amd64"}}}


def fleet():
    began, chance = time.monotonic(), random.Random(1)
    size = len(json.dumps(node(1, chance)))
    server.kube.bulk({"method": "POST", "path": "api/v1/nodes", "body": node(n, chance)}
                     for n in range(1, NODES + 1))
    keys["nodes"] = NODES
    held = len(json.dumps(server.kube.get("nodes", "node-00001"), separators=(",", ":")))
    print(f"  {NODES:,} nodes of {size / 1000:.1f} KB, {held / 1000:.1f} KB with what the server adds, "
          f"made in {time.monotonic() - began:.0f} s", flush=True)


# ---- The two programs ----

class Ours:
    """musterd, kube-watcher and one actor that writes back."""
    name = "ours"

    def __enter__(self):
        self.tree = echo_tree(server)
        began = time.monotonic()
        self.tree.start()
        muster.wait_for(lambda: synced(self.tree) or self.tree.process.poll() is not None,
                        "muster has all nodes", WAIT_S, every=0.005)
        if self.tree.process.poll() is not None:
            raise RuntimeError(f"musterd ended: {self.tree.log()}")
        self.sync_s = time.monotonic() - began
        return self

    def pids(self):
        return [p.pid for p in procs.family(self.tree.process.pid)]

    def __exit__(self, *failure):
        self.tree.stop()
        self.tree.end()


class Peer:
    """The controller-runtime manager."""
    name = "peer"

    def __enter__(self):
        began = time.monotonic()
        self.process = subprocess.Popen([kubetools.path("node-cache")], env=server.environment(), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        preexec_fn=procs.die_with_parent)
        line = self.process.stdout.readline()
        if "synced_ms" not in line:
            raise RuntimeError(f"the peer printed {line!r}")
        self.sync_s = time.monotonic() - began
        return self

    def pids(self):
        return [self.process.pid]

    def __exit__(self, *failure):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.process.stdout.close()


def echo_tree(where):
    """kube-watcher and test-echo (tests/actors/echo.c), no other actor."""
    tree = KubeTree(where, readers=0, watcher={"writes-per-second": 1000})
    tree.settings["test-echo"] = {}
    tree.configure({"actors": {"metrics": {"enabled": False}, **tree.settings}})
    return tree


def synced(tree):
    """As the supervisor reports it: an actor that is asked for all nodes as JSON needs much more memory."""
    rows = tree.actors()
    return all(rows.get(name, {}).get("synced") for name in ("kube-watcher", "test-echo"))


def pss_kib(who):
    return sum(rollup(pid, "Pss") for pid in who.pids())


def high_water_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


# ---- Sync ----

def sync():
    """From exec to a complete list; `curl` of the same list in the same encoding is the lower bound."""
    peaks = []
    for _ in range(ROUNDS):
        times["curl"].append(curl_list())
        with Ours() as ours:
            times["ours"].append(ours.sync_s)
            peaks.append(high_water_kib(ours.tree.pid("kube-watcher")))
        with Peer() as peer:
            times["peer"].append(peer.sync_s)
    for who in ("ours", "peer", "curl"):
        figure(f"{NODES:,} nodes, {who}", "ms", [1000 * t for t in times[who]])
    median = {who: statistics.median(times[who]) for who in times}
    figure("sync, ours to the peer's", "ratio", [median["ours"] / median["peer"]], key="sync_ratio")
    figure("sync, ours to curl's", "ratio", [median["ours"] / median["curl"]], key="sync_floor_ratio")
    figure("peak RSS of kube-watcher during the sync", "KiB", peaks, key="peak_rss_kib")


def curl_list():
    began = time.monotonic()
    subprocess.run(["curl", "-sf", "--cacert", server.ca(), "-o", "/dev/null", "-H", f"Accept: {PROTOBUF}",
                    "-H", f"Authorization: Bearer {server.token}", f"{server.url}/api/v1/nodes"], check=True)
    return time.monotonic() - began


# ---- Work ----

def work():
    """A fleet at work, then changes at two rates; in turns: a slow minute of the server affects both."""
    figures_of = {who: {"latencies": {rate: [] for rate in RATES}, "events": [], "written": [], "pss": []}
                  for who in ("ours", "peer")}
    for who in (Ours, Peer, Peer, Ours) * 2:        # so that the order does not count
        with who() as it:
            time.sleep(3)       # until the work of the start is done
            mine = figures_of[it.name]
            mine["events"].append(cpu_s(it, fleet_at_work) * 1000 / (EVENTS + EVENTS // TOUCH_EVERY))
            for rate in RATES:
                used = cpu_s(it, lambda: mine["latencies"][rate].append(percentiles(touch_nodes(rate))))
                mine["written"].append(used * 1000 / TOUCHES)
            time.sleep(2)
            mine["pss"].append(pss_kib(it))
    ours, peer = figures_of["ours"], figures_of["peer"]
    for who in ("ours", "peer"):
        figure(f"PSS after the load, {who}", "KiB", figures_of[who]["pss"],
               key="pss_kib" if who == "ours" else None)
        figure(f"CPU per 1,000 node events, {who}", "s", figures_of[who]["events"])
        figure(f"CPU per 1,000 changes written back, {who}", "s", figures_of[who]["written"])
        for rate in RATES:
            for name, turns in zip(("p50", "p99"), zip(*figures_of[who]["latencies"][rate])):
                figure(f"change to write-back at {rate}/s, {who}, {name}", "ms", [1000 * t for t in turns])
    for what, of, key in (("memory", "pss", "memory_ratio"), ("CPU of node events", "events", "cpu_ratio"),
                          ("CPU of changes written back", "written", "cpu_written_ratio")):
        figure(f"{what}, ours to the peer's", "ratio", [sum(ours[of]) / sum(peer[of])], key=key)
    for name, place in (("p50", 0), ("p99", 1)):
        # The median of the turns: one stall of the server is more than 1 % of a turn, and affects one side.
        ratios = [statistics.median(turn[place] for turn in ours["latencies"][rate])
                  / statistics.median(turn[place] for turn in peer["latencies"][rate]) for rate in RATES]
        figure(f"latency {name}, ours to the peer's", "ratio", ratios, key=f"latency_{name}_ratio")


def cpu_s(who, load):
    """Seconds of CPU that its processes used during the load."""
    before = sum(cpu_ticks(pid) for pid in who.pids())
    load()
    return (sum(cpu_ticks(pid) for pid in who.pids()) - before) * TICK_S


def fleet_at_work():
    """Node events as a fleet makes them: kubelets send heartbeats, now and then a user changes a node.

    A kubelet renews the times in its conditions every five minutes, so 50 a second are 15,000 nodes. Each of
    the changes is two events: the change, and what is written back.
    """
    chance = random.Random()
    run = os.urandom(4).hex()

    def one(n):
        name = f"node-{chance.randrange(NODES) + 1:05}"
        if n % TOUCH_EVERY == 0:
            server.kube.merge("nodes", name, {"metadata": {"labels": {TOUCH: f"{run}-{n}"}}})
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + n))     # unlike the one before
        server.kube.patch(STRATEGIC, "nodes", name, {"status": {"conditions": [
            {"type": kind, "lastHeartbeatTime": now} for kind in CONDITIONS]}}, sub="status")

    at_rate(EVENT_RATE, EVENTS, one)
    time.sleep(1)       # the last write-backs are part of it


def at_rate(rate, count, one):
    """Calls one(0), one(1) ... at that rate, eight at a time; raises the first exception of a call."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        began = time.monotonic()
        calls = []
        for n in range(count):
            time.sleep(max(0, began + n / rate - time.monotonic()))
            calls.append(pool.submit(one, n))
    for call in calls:
        call.result()


def percentiles(values):
    """(p50, p99)"""
    values = sorted(values)
    return values[len(values) // 2], values[min(len(values) - 1, len(values) * 99 // 100)]


def touch_nodes(rate):
    """Changes a label TOUCHES times at that rate; seconds from each answer to its echo in a watch."""
    marks, echoes = {}, {}
    seen = threading.Condition()
    stop = threading.Event()
    rv = server.kube.list("nodes", limit=1)["metadata"]["resourceVersion"]

    def watch():
        for event in server.kube.watch("nodes", rv=rv, seconds=600, accept=METADATA_ONLY):
            now = time.monotonic()
            mark = event["object"]["metadata"].get("annotations", {}).get(ECHO)
            with seen:
                if mark and mark not in echoes:
                    echoes[mark] = now
                    seen.notify()
            if stop.is_set():
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    run = os.urandom(4).hex()
    chance = random.Random(rate)

    def touch(n):
        mark = f"{run}-{n}"
        name = f"node-{chance.randrange(NODES) + 1:05}"
        server.kube.merge("nodes", name, {"metadata": {"labels": {TOUCH: mark}}})
        marks[mark] = time.monotonic()

    at_rate(rate, TOUCHES, touch)
    deadline = time.monotonic() + 60
    with seen:
        # A node that is touched twice at once may have the later mark only: both sides are level-triggered.
        while len(echoes.keys() & marks.keys()) < 0.98 * len(marks) and time.monotonic() < deadline:
            seen.wait(1)
    stop.set()
    both = echoes.keys() & marks.keys()
    if len(both) < 0.9 * TOUCHES:
        raise RuntimeError(f"only {len(both)} of {TOUCHES} changes were written back")
    return [max(0.0, echoes[mark] - marks[mark]) for mark in both]


# ---- Growth ----

def growth():
    """From 1,000 to 15,000 nodes, all processes together; the simulator serves them."""
    held = {}
    for count in (1000, 15000):
        with SimServer(options=["--nodes", str(count), "--node-bytes", "25000"]) as sim:
            with echo_tree(sim) as tree:
                muster.wait_for(lambda: synced(tree), f"{count} nodes", WAIT_S)
                time.sleep(5)
                held[count] = sum(rollup(p.pid, "Pss") for p in procs.family(tree.process.pid))
    figure("a node more, over all processes", "bytes", [1024 * (held[15000] - held[1000]) / 14000],
           key="bytes_per_node")


# ---- Two instances ----

def handover():
    """The second instance leads after the first: stopped cleanly, or with SIGSTOP."""
    settings = {"leader-elect": True, "lease-namespace": "default", "lease-name": "bench"}
    for how, number in (("a clean stop", signal.SIGTERM), ("SIGSTOP of its whole tree", signal.SIGSTOP)):
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(KubeTree(server, watcher=settings))
            first.wait_synced(WAIT_S)
            muster.wait_for(first.leads, "the first leads")
            second = stack.enter_context(KubeTree(server, watcher=settings))
            second.wait_synced(WAIT_S)
            family = [p.pid for p in procs.family(first.process.pid)]
            began = time.monotonic()
            for pid in family if number == signal.SIGSTOP else [first.process.pid]:
                os.kill(pid, number)
            muster.wait_for(second.leads, "the second leads", 60, every=0.01)
            took = time.monotonic() - began
            if number == signal.SIGSTOP:
                for pid in family:
                    os.kill(pid, signal.SIGCONT)
        figure(f"handover after {how}", "ms", [1000 * took])


SECTIONS = [
    ("The fleet", fleet),
    ("Sync", sync),
    ("Changes and write-backs", work),
    ("Growth", growth),
    ("Leadership", handover),
]
REQUIRED = ("nodes", "sync_ratio", "sync_floor_ratio", "memory_ratio", "cpu_ratio", "cpu_written_ratio",
            "latency_p50_ratio", "latency_p99_ratio", "bytes_per_node", "peak_rss_kib", "pss_kib")


def main():
    global server
    kubetools.have("node-cache")
    with RealServer() as server:
        figures.run(SECTIONS, REQUIRED, RESULT)


if __name__ == "__main__":
    main()
