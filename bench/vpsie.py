"""bench/vpsie.py - what a hundred VPSieNodes cost in calls of the VPSie API, and what one matching costs.

Called by `./dev bench vpsie`. Beside our calls stand those of the seed's algorithm, in the same run and on a
muster-sim of the same speed. A table for people, build/bench/vpsie.json for scripts. Nothing passes or fails
by a figure.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/vpsie.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
import procs
from figures import figure
from vpsie import CLUSTER, MEDIUM, VPSie
from vpsietree import claimer, make_group, nodes, wait_ready

COUNT, SPEED = 100, 20          # all times below are divided by the speed, those of muster too
WAITING, VMS, PASSES = 100, 5000, 15
TICK_S, RESYNC_S, QUIET_S = 10, 300, 600
WAIT_S = 300


def scaled(seconds):
    return f"{int(seconds * 1000 / SPEED)}ms"


SETTINGS = {"discovery-interval": scaled(TICK_S), "confirm-interval": scaled(30),
            "resync-interval": scaled(RESYNC_S),
            "requests-per-minute": 100 * SPEED, "provisioning-timeout": "5m", "joining-timeout": "5m"}


def ours():
    """A NodeGroup goes from 0 to 100 on muster-sim; then ten simulated minutes with nothing to do."""
    with claimer(sim={"speed": SPEED}, claimer=SETTINGS) as (vpsie, _):
        began = time.monotonic()
        make_group(vpsie, "web", COUNT, high=COUNT)
        wait_ready(vpsie, "web", COUNT, timeout=WAIT_S)
        took_s = time.monotonic() - began
        calls = vpsie.audit()
        posts = [row for row in calls if row["class"] == "add-worker"]
        time.sleep(RESYNC_S / SPEED)            # the lists that confirm the last steps are over
        before = len(vpsie.audit())
        time.sleep(QUIET_S / SPEED)
        quiet = len(vpsie.audit()) - before
        assert len(nodes(vpsie)) == COUNT
    figure(f"{COUNT} VPSieNodes: requests for a worker", "calls", [len(posts)], key="create_100_posts")
    figure("  all other calls", "calls", [len(calls) - len(posts)], key="create_100_other_calls")
    figure(f"  until all are Ready, {SPEED} times faster", "s", [took_s], key="create_100_s")
    figure("quiet, for one cluster", "calls a minute", [quiet / (QUIET_S / 60)], key="quiet_calls_per_minute")


def seed():
    """The document's algorithm: every VPSieNode lists for itself at each reconcile."""
    with VPSie(join=True, speed=SPEED) as vpsie:
        vpsie.call("POST", "k8s/cluster/add/group",
                   {"clusterIdentifier": CLUSTER, "groupName": "web", "KubeSizeID": MEDIUM})
        group = vpsie.group("web")[0]["id"]
        for _ in range(COUNT):
            vpsie.add_outside(group=group)
        owners = {}                             # id of the VM -> VPSieNode
        while len(owners) < COUNT:
            began = time.monotonic()
            for name in [number for number in range(COUNT) if number not in owners.values()]:
                claim(vpsie, name, owners)
            time.sleep(max(0.0, TICK_S / SPEED - (time.monotonic() - began)))
        calls = [row for row in vpsie.audit("GET")]
    figure(f"{COUNT} VPSieNodes by the seed's algorithm: other calls", "calls", [len(calls)],
           key="seed_100_other_calls")


def claim(vpsie, name, owners):
    """DiscoverVPSID: one list, newest first, by the address of a Node that nobody has."""
    joined = {row["address"] for node in vpsie.server.kube.list("nodes")["items"]
              for row in node["status"].get("addresses", [])}
    for vm in sorted(vpsie.call("GET", "vm")["data"], key=lambda vm: vm["created_on"], reverse=True):
        if vm["id"] not in owners and vm["default_ip"] in joined:
            owners[vm["id"]] = name
            return


def matching():
    """bench/vpsie_match.c: CPU time of one matching, and of one with twice as much of everything."""
    done = subprocess.run([BIN / "bench-vpsie_match", str(WAITING), str(VMS), str(PASSES)], check=True,
                          capture_output=True, text=True, timeout=WAIT_S, preexec_fn=procs.die_with_parent)
    read = json.loads(done.stdout)
    figure(f"{WAITING} waiting, {VMS} VMs, {VMS} Nodes", "ms of CPU", [read["match_ms"]], key="match_ms")
    figure("  both doubled", "ratio", [read["match_double_ratio"]], key="match_double_ratio")
    figure("  no machine has an owner", "ms of CPU", [read["match_free_ms"]])


SECTIONS = [
    ("A hundred VPSieNodes", ours),
    ("The seed's algorithm", seed),
    ("One matching", matching),
]
REQUIRED = ("create_100_posts", "create_100_other_calls", "create_100_s", "seed_100_other_calls",
            "quiet_calls_per_minute", "match_ms", "match_double_ratio")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
