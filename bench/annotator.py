"""bench/annotator.py - capa-annotator and a controller-runtime manager with the original's work.

Called by `./dev bench annotator`; the first run builds the peer (bench/peers/capa-annotator). 5,000
MachineDeployments, each with a template of its own, in five Clusters in five regions, are annotated from
cold, by both with the same rate of writes, in turns. STS, EC2 and the API server are those of muster-sim: a
real kube-apiserver takes 85 writes a second on two cores, and would be what is measured. Nothing passes or
fails by a figure. MUSTER_BENCH_DEPLOYMENTS: another number of them.
"""
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/annotator.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import capacrds
import figures
import kubetools
import procs
from capacrds import DEPLOYMENTS, TEMPLATES
from capatree import Aws, CapaTree, World, ours
from figures import figure, rollup
from muster import wait_for

DEPLOYED = int(os.environ.get("MUSTER_BENCH_DEPLOYMENTS", 5000))
REGIONS = ("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-southeast-1")
TYPES = ("m5.large", "m5.4xlarge", "c5.xlarge", "r5.2xlarge", "m6g.xlarge", "g5.12xlarge", "t3.medium")
RATE = 500                  # writes a second, of both
ROUNDS = 2
PAGE = 100                  # types
WAIT_S = 300
SETTLE_S = 3


class Ours:
    name = "ours"

    def __init__(self, aws):
        # As installed: no setting but the rate.
        self.tree = CapaTree(aws.server, aws.identity(), watcher={"writes-per-second": RATE})
        self.tree.settings["capa-annotator"] = {}
        self.tree.configure({"actors": {"metrics": {"enabled": False}, **self.tree.settings}})

    def __enter__(self):
        self.tree.start()
        return self

    def pids(self):
        return [p.pid for p in procs.family(self.tree.process.pid)]

    def __exit__(self, *failure):
        self.tree.stop()
        self.tree.end()


class Peer:
    name = "peer"

    def __init__(self, aws):
        self.environment = {**aws.server.environment(), **aws.identity(), "WRITES_PER_SECOND": str(RATE)}

    def __enter__(self):
        self.process = subprocess.Popen([kubetools.path("peer-annotator")], env=self.environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=procs.die_with_parent)
        return self

    def pids(self):
        return [self.process.pid]

    def __exit__(self, *failure):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def fill(server):
    server.install(*capacrds.crds(("v1beta2",)))
    world, chance = World(server), random.Random(1)
    for region in REGIONS:
        world.cluster(region, region)
    names = [f"md-{number:05}" for number in range(DEPLOYED)]
    server.kube.create_many(TEMPLATES, [
        {"metadata": {"name": name}, "spec": {"template": {"spec": {"instanceType": chance.choice(TYPES)}}}}
        for name in names], "default")
    server.kube.create_many(DEPLOYMENTS, [
        {"metadata": {"name": name}, "spec": world.spec(name, REGIONS[number % len(REGIONS)])}
        for number, name in enumerate(names)], "default")


def patches(aws):
    return [row for row in aws.server.audit() if row["resource"] == DEPLOYMENTS and row["verb"] == "patch"]


def turn(who):
    """One of them, from its start until all are annotated; then what it holds."""
    with Aws() as aws:
        fill(aws.server)
        # As the kubelet writes it, without a newline: aws-sdk-go sends the file as it is.
        aws.web_token_file().write_text(aws.token)
        aws.server.forget_audit()
        began = time.monotonic()
        with who(aws) as it:
            wait_for(lambda: len(patches(aws)) >= DEPLOYED, f"{DEPLOYED} writes of {it.name}", WAIT_S,
                     every=0.5)
            took_s = time.monotonic() - began
            time.sleep(SETTLE_S)
            pss_kib = sum(rollup(pid, "Pss") for pid in it.pids())
            items = aws.server.kube.list(DEPLOYMENTS, "default")["items"]
            written = patches(aws)
            assert {row["code"] for row in written} == {200}, written[-1]
            assert all(len(ours(item["metadata"]["annotations"])) in (6, 8) for item in items)
        pages = sum(-(-count // PAGE) for count in aws.state()["types"].values())
        return {"s": took_s, "kib": pss_kib, "writes": len(written), "ec2_calls": len(aws.calls()),
                "ec2_pages": pages}


def annotate():
    found = {"ours": [], "peer": []}
    for who in (Ours, Peer) * ROUNDS:
        found[who.name].append(turn(who))
    for name, turns in found.items():
        figure(f"{DEPLOYED:,} MachineDeployments, {RATE} writes a second, {name}", "s",
               [row["s"] for row in turns], key=f"annotate_{DEPLOYED}_s" if name == "ours" else None)
        figure(f"  PSS afterwards, {name}", "KiB", [row["kib"] for row in turns])
        for key in ("writes", "ec2_calls", "ec2_pages"):
            figure(f"  {key}, {name}", "", [row[key] for row in turns],
                   key=key if name == "ours" else None)
    middle = {(name, what): statistics.median(row[what] for row in turns)
              for name, turns in found.items() for what in ("s", "kib")}
    for key, what in (("time_ratio", "s"), ("memory_ratio", "kib")):
        figure(f"{key.split('_')[0]}, ours to the peer's", "ratio",
               [middle["ours", what] / middle["peer", what]], key=key)


def catalogue():
    """bench/capa_catalogue.c: all that the types of the five regions need."""
    done = subprocess.run([BIN / "bench-capa_catalogue", *REGIONS], check=True, capture_output=True,
                          text=True, timeout=WAIT_S)
    read = json.loads(done.stdout)
    figure(f"an instance type, {read['types']:,} in {len(REGIONS)} regions", "bytes",
           [read["bytes_per_type"]], key="bytes_per_type")


SECTIONS = [
    ("From cold, on muster-sim", annotate),
    ("The catalogue", catalogue),
]
REQUIRED = (f"annotate_{DEPLOYED}_s", "time_ratio", "memory_ratio", "ec2_calls", "ec2_pages", "writes",
            "bytes_per_type")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
