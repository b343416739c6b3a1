"""bench/vip.py - how long Cluster API waits for vip-claimer, and how long a Cluster for its address.

Called by `./dev bench vip`. On muster-sim, with real processes. Beside our time from the ready claim to the
patched Cluster stands that of the seed's algorithm (polls of 1 s), in the same run and on the same
muster-sim. A table for people, build/bench/vip.json for scripts. Nothing passes or fails by a figure.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import selectors
import ssl
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/vip.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
from figures import figure
from muster import wait_for
from viptree import ACTOR, ADDRESSES, CLAIMS, CLUSTERS, HOOKS, World, claimer

CALLS, ROUNDS = 200, 10
READY, SEED, POLL_S = 300, 100, 1.0
WAIT_S = 120
SEED_CLASS = "seed"             # without a pool: vip-claimer leaves its Clusters alone


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def show(name, values, key):
    """Milliseconds: median and 99th percentile; key: {50: name, 99: name} in the JSON."""
    for share in (50, 99):
        figure(f"{name}, p{share}", "ms", [1000 * percentile(values, share / 100)], key=key.get(share))


# ---- Calls of the hook ----

class Call:
    """One of those calls that run at once: its connection, its request, the time until its answer."""

    def __init__(self, hooks, cluster):
        body = json.dumps({"apiVersion": HOOKS, "kind": "BeforeClusterCreateRequest",
                           "settings": {}, "cluster": cluster}).encode()
        path = hooks.path("BeforeClusterCreate", "-before-create")
        self.request = (f"POST {path} HTTP/1.1\r\nHost: {hooks.address[0]}\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        self.hooks, self.line, self.began, self.took = hooks, None, 0, 0

    def connect(self):
        connection = self.hooks.connect()
        connection.connect()
        self.line = connection.sock

    def begin(self):
        self.answer, self.began = b"", time.monotonic()
        self.line.setblocking(True)
        self.line.sendall(self.request)
        self.line.setblocking(False)

    def read(self):
        """True: the answer is complete."""
        try:
            self.answer += self.line.recv(65536)
        except ssl.SSLWantReadError:
            return False
        head, split, body = self.answer.partition(b"\r\n\r\n")
        length = [row for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:")]
        if not split or len(body) < int(length[0].split(b":")[1]):
            return False
        self.took = time.monotonic() - self.began
        assert head.startswith(b"HTTP/1.1 200") and json.loads(body)["retryAfterSeconds"] > 0, self.answer
        return True


def all_at_once(calls):
    """The time of each, from its first byte to its answer."""
    with selectors.DefaultSelector() as waiting:
        for call in calls:
            waiting.register(call.line, selectors.EVENT_READ, call)
        for call in calls:
            call.begin()
        left, until = len(calls), time.monotonic() + WAIT_S
        while left:
            assert time.monotonic() < until, f"{left} calls are not answered"
            for key, _ in waiting.select(1):
                if key.data.read():
                    waiting.unregister(key.fileobj)
                    left -= 1
    return [call.took for call in calls]


def hook_calls():
    """The IPAM provider gives nothing: each call of BeforeClusterCreate is answered with a wait."""
    with claimer() as (server, tree):
        world, hooks = World(server), tree.hooks()
        world.cluster_class()
        world.pool("cp", addresses=["10.2.0.20-10.2.1.250"])
        names = [f"c{number}" for number in range(CALLS)]
        for name in names:
            world.cluster(name)
        wait_for(lambda: len(world.claims()) == CALLS, "all have claims", WAIT_S)
        calls = [Call(hooks, world.request(name)) for name in names]
        pid = tree.actor(ACTOR)["pid"]
        idle_kib = figures.rollup(pid, "Rss")
        took, connected = [], []
        for _ in range(ROUNDS):
            began = time.monotonic()
            for call in calls:
                call.connect()
            connected.append(time.monotonic() - began)
            took.append(all_at_once(calls))
            rss_kib = figures.rollup(pid, "Rss")
            for call in calls:
                call.line.close()
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            fresh = list(pool.map(lambda name: timed(hooks, world, name), names))
    every = [one for round_ in took for one in round_]
    figure(f"{CALLS} calls at once, p50", "ms", [1000 * percentile(row, .5) for row in took])
    figure(f"{CALLS} calls at once, p99", "ms", [1000 * percentile(row, .99) for row in took],
           key="hook_200_p99_ms")
    figure("  the slowest of all rounds", "ms", [1000 * max(every)])
    figure("  to make the connections before, one after the other", "ms", [1000 * one for one in connected])
    figure("a call with its own connection, 32 at a time, p99", "ms", [1000 * percentile(fresh, .99)])
    figure(f"memory, {CALLS} connections open", "KiB", [rss_kib], key="rss_200_calls_kib")
    figure("  before them", "KiB", [idle_kib])


def timed(hooks, world, name):
    cluster = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {
        "name": name, "namespace": world.namespace}, "spec": {"topology": world.topology()}}
    began = time.monotonic()
    assert hooks.before_create(cluster)["retryAfterSeconds"] > 0
    return time.monotonic() - began


# ---- From the ready claim to the patched Cluster ----

class Endpoints(threading.Thread):
    """A watch of Clusters: when each got its endpoint."""

    def __init__(self, kube):
        super().__init__(daemon=True)
        self.kube, self.at, self.began = kube, {}, threading.Event()
        self.start()
        assert self.began.wait(WAIT_S)

    def run(self):
        listed = self.kube.list(CLUSTERS, "default")["metadata"]["resourceVersion"]
        self.began.set()
        for event in self.kube.watch(CLUSTERS, rv=listed, namespace="default", seconds=600):
            cluster = event["object"]
            if cluster.get("spec", {}).get("controlPlaneEndpoint", {}).get("host"):
                self.at.setdefault(cluster["metadata"]["name"], time.monotonic())


def make_ready(world, name, address):
    """The IPAddress is there; the moment from which on the claim's status names it."""
    claim = world.wait_claim(name)
    world.kube.create(ADDRESSES, {"metadata": {"name": f"vip-cp-{name}"}, "spec": {
        "claimRef": {"name": f"vip-cp-{name}"}, "poolRef": claim["spec"]["poolRef"], "address": address,
        "prefix": 16}}, "default")
    status = {"status": {"addressRef": {"name": f"vip-cp-{name}"}}}
    began = time.monotonic()
    world.kube.merge(CLAIMS, f"vip-cp-{name}", status, "default", sub="status")
    return began


def ready():
    with claimer() as (server, _):
        world = World(server)
        world.cluster_class()
        world.cluster_class(SEED_CLASS)
        world.pool("cp", free=1000)
        seen = Endpoints(server.kube)
        ours = []
        for number in range(READY):
            name = f"c{number}"
            world.cluster(name)
            began = make_ready(world, name, f"10.2.{number // 200}.{number % 200 + 1}")
            wait_for(lambda: name in seen.at, f"{name} is patched", WAIT_S, every=0.001)
            ours.append(seen.at[name] - began)
        show("ours", ours, {50: "ready_to_patched_p50_ms", 99: "ready_to_patched_p99_ms"})
        theirs = by_the_seed(world, seen)
        show("the seed's algorithm", theirs, {99: "seed_ready_to_patched_p99_ms"})


def by_the_seed(world, seen):
    """A claim for each Cluster, polled every second until its address is there; then the endpoint is set."""
    names = [f"s{number}" for number in range(SEED)]
    pool = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "GlobalInClusterIPPool", "name": "cp"}
    for name in names:
        world.cluster(name, cluster_class=SEED_CLASS)
        world.kube.create(CLAIMS, {"metadata": {"name": f"seed-{name}"}, "spec": {"poolRef": pool}},
                          "default")
    with concurrent.futures.ThreadPoolExecutor(SEED) as workers:
        waiting = [workers.submit(wait_and_patch, world.kube, name) for name in names]
        time.sleep(2 * POLL_S)
        began = {}
        for number, name in enumerate(names):
            time.sleep(random.random() * 3 * POLL_S / SEED)
            world.kube.create(ADDRESSES, {"metadata": {"name": f"seed-{name}"}, "spec": {
                "claimRef": {"name": f"seed-{name}"}, "poolRef": pool, "address": f"10.3.0.{number + 1}",
                "prefix": 16}}, "default")
            began[name] = time.monotonic()
            world.kube.merge(CLAIMS, f"seed-{name}", {"status": {"addressRef": {"name": f"seed-{name}"}}},
                             "default", sub="status")
        for task in waiting:
            task.result()
    wait_for(lambda: all(name in seen.at for name in names), "all are patched", WAIT_S)
    return [seen.at[name] - began[name] for name in names]


def wait_and_patch(kube, name):
    time.sleep(random.random() * POLL_S)
    while not kube.get(CLAIMS, f"seed-{name}", "default").get("status", {}).get("addressRef"):
        time.sleep(POLL_S)
    address = kube.get(ADDRESSES, f"seed-{name}", "default")["spec"]["address"]
    kube.merge(CLUSTERS, name, {"spec": {"controlPlaneEndpoint": {"host": address, "port": 6443}}}, "default")


SECTIONS = [
    ("BeforeClusterCreate", hook_calls),
    ("From the ready claim to the patched Cluster", ready),
]
REQUIRED = ("hook_200_p99_ms", "ready_to_patched_p50_ms", "ready_to_patched_p99_ms",
            "seed_ready_to_patched_p99_ms", "rss_200_calls_kib")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
