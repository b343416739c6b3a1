"""bench/bus.py - what the bus costs, in one run: a table for people, build/bench/bus.json for scripts.

Called by `./dev bench bus`. The machine is shared and noisy, so throughput is compared as ratios of runs that
alternate, and times as medians; instructions are counted, not timed. Nothing passes or fails by a figure:
the script ends non-zero only when it could not measure something. docs/performance.md describes each
figure.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.setdefault("MUSTER_BIN", str(ROOT / "build/bench/bin")))
BIN_NOTAP = pathlib.Path(os.environ.get("MUSTER_BIN_NOTAP", ROOT / "build/bench-notap/bin"))
RESULT = pathlib.Path(os.environ.get("MUSTER_BENCH_JSON", ROOT / "build/bench/bus.json"))
sys.path.insert(0, str(ROOT / "tests/lib"))
import figures
import muster
import procs
from figures import cpu_ticks, figure, keys, rollup

BYTES = 256             # of a value, unless stated otherwise
KEYS = 15000            # the design load
CONSUMERS = [f"test-consumer-{n}" for n in range(1, 7)]     # with the producer and metrics: eight actors
WAIT_S = 30


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def folder():
    # Not $TMPDIR: the path of a unix socket must stay under 108 bytes.
    path = tempfile.mkdtemp(prefix="muster-bench-", dir="/tmp")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def program(name, *arguments, binaries=BIN, before=()):
    """Runs bench-NAME in a folder of its own; its JSON line, with the CPU seconds of both processes."""
    with folder() as where:
        began = cpu_s()
        done = subprocess.run([*before, str(binaries / f"bench-{name}"), where, *map(str, arguments)],
                              capture_output=True, text=True, timeout=120, preexec_fn=procs.die_with_parent)
        if done.returncode != 0:
            raise RuntimeError(f"bench-{name} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
        return {**json.loads(done.stdout or "{}"), "cpu_s": cpu_s() - began}


def rate(result):
    return result["deltas"] / result["seconds"]


# ---- Sessions, two processes each ----

def sessions():
    """A session and plain ROUTER to DEALER with the same size, in alternating runs."""
    for size, rounds in ((64, 5), (BYTES, 15), (1024, 5)):
        count = 100_000 if size > BYTES else 200_000
        ours, bare = [], []
        for turn in range(rounds):
            pair = [(bare, "bus_raw"), (ours, "bus_session")]
            for results, name in pair if turn % 2 == 0 else reversed(pair):
                results.append(program(name, size, count))
        figure(f"raw ROUTER to DEALER, {size} B", "messages/s", map(rate, bare))
        figure(f"session, values of {size} B", "deltas/s", map(rate, ours))
        figure(f"session to raw, {size} B", "ratio", [rate(a) / rate(b) for a, b in zip(ours, bare)],
               key=f"session_ratio_{size}")
        figure(f"session to raw by CPU time, {size} B", "ratio",
               [b["cpu_s"] / a["cpu_s"] for a, b in zip(ours, bare)], key=f"session_cpu_ratio_{size}")


def watched():
    """A session whose two taps are read completely, and one whose taps have no reader."""
    alone, read, lost = [], [], []
    for _ in range(5):
        alone.append(rate(program("bus_session", BYTES, 300_000)))
        with folder() as where:
            reader = subprocess.Popen([str(BIN / "bench-bus_reader"), where], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, preexec_fn=procs.die_with_parent)
            done = subprocess.run([str(BIN / "bench-bus_session"), where, str(BYTES), "300000", "watched"],
                                  capture_output=True, text=True, timeout=120, check=True)
            seen = json.loads(reader.communicate(timeout=30)[0])
        read.append(rate(json.loads(done.stdout)))
        lost.append(100 * seen["lost"] / (seen["lost"] + seen["records"]))
    figure("session, nobody reads the tap", "deltas/s", alone, key="tap_unread_deltas_per_s")
    figure("session, both taps read whole", "deltas/s", read, key="tap_read_deltas_per_s")
    figure("read to unread", "ratio", [a / b for a, b in zip(read, alone)], key="tap_read_ratio")
    figure("frames the reader lost", "%", lost, key="tap_read_lost_percent")


def instructions_per_delta(binaries, batch, few, many):
    """callgrind counts both ends and their I/O threads; two run lengths, so that the start does not count."""
    totals = []
    for deltas in (few, many):
        with tempfile.NamedTemporaryFile(prefix="callgrind-") as out:
            program("bus_inline", BYTES, deltas, batch, binaries=binaries,
                    before=["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out.name}"])
            totals.append(next(int(line.split()[1]) for line in open(out.name)
                               if line.startswith(("summary:", "totals:"))))
    return (totals[1] - totals[0]) / (many - few)


def idle_tap():
    """Instructions of a delta with a tap that has no reader, and in a build without the tap."""
    for batch, deltas, what, key in ((64, (1000, 9000), "64 deltas a frame", "tap_idle_ratio_batched"),
                                     (1, (500, 2500), "one delta a frame", "tap_idle_ratio")):
        runs = [(binaries, batch, *deltas) for binaries in (BIN, BIN_NOTAP) for _ in range(3)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = list(pool.map(lambda run: instructions_per_delta(*run), runs))
        idle_median = figure(f"tap idle, {what}", "instructions", counts[:3])
        without_median = figure(f"no tap in the build, {what}", "instructions", counts[3:])
        figure(f"no tap to tap idle, {what}", "ratio", [without_median / idle_median], key=key, digits=4)


def resync():
    """A snapshot of 15,000 keys; without the start of a process."""
    runs = [program("bus_resync", BYTES, KEYS) for _ in range(7)]
    figure(f"resync, {KEYS:,} keys: HELLO to SNAP_END", "ms", [r["again_ms"] for r in runs],
           key="resync_15000_ms")
    figure(f"new consumer, {KEYS:,} keys: connect to SNAP_END", "ms", [r["first_ms"] for r in runs],
           key="first_sync_15000_ms")


# ---- A real tree: musterd and its actors ----

def tree_of(consumers, producer, **consumer):
    """metrics, the producer and these consumers; the settings in `consumer` are functions of its name."""
    return muster.Muster({"actors": {
        "metrics": {"metrics-bind-address": f"127.0.0.1:{muster.free_port()}",
                    "health-probe-bind-address": f"127.0.0.1:{muster.free_port()}"},
        "test-producer": producer,
        **{name: {k: v(name) for k, v in consumer.items()} for name in consumers},
    }})


def status(tree):
    """The rows of enabled actors from the control socket, or None: cheap enough for every millisecond."""
    with socket.socket(socket.AF_UNIX) as control, control.makefile("rw") as line:
        try:
            control.connect(str(tree.run_dir / "control.sock"))
        except OSError:
            return None
        line.write("status\n")
        line.flush()
        answer = line.readline()
    rows = json.loads(answer)["actors"] if answer else []
    return {row["name"]: row for row in rows if row["state"] != "off"}


def wait_synced(tree, count, also=lambda rows: True):
    """Waits until so many actors run and are synced; returns seconds on the monotonic clock."""
    def settled():
        rows = status(tree) or {}
        good = [row for row in rows.values() if row["state"] == "running" and row["synced"]]
        return len(good) == count and also(rows)
    muster.wait_for(settled, f"{count} actors running and synced", timeout=WAIT_S, every=0.001)
    return time.monotonic()


def fanout():
    """Every change of 1,000 a second to five consumers: from the change in the producer to each handler."""
    seconds, per_second, readers = 8, 1000, CONSUMERS[:5]
    with folder() as where:
        tree = tree_of(readers, {"keys": 1000, "rate": per_second, "value-bytes": BYTES},
                       **{"latency-file": lambda name: f"{where}/{name}"})
        with tree:
            wait_synced(tree, len(readers) + 2)
            time.sleep(seconds)
            tree.stop()
        lines = [pathlib.Path(where, name).read_text().split() for name in readers]
    taken = [[int(line) for line in file[per_second:]] for file in lines]      # the first second is the start
    for name, values in zip(readers, taken):
        if len(values) < per_second * (seconds - 2) * 0.9:
            raise RuntimeError(f"{name} took {len(values)} changes of about {per_second * (seconds - 1)}")
    every = sorted(value for values in taken for value in values)
    print(f"  ({len(every):,} latencies; min and max are those of single consumers)")
    for share in (50, 99):
        at = [sorted(values)[len(values) * share // 100] for values in taken]
        figure(f"fan-out to 5 consumers, 1,000 changes/s, p{share}", "us", at)
        keys[f"fanout_p{share}_us"] = every[len(every) * share // 100]


def start():
    """From exec of musterd until all eight actors run and are synced."""
    took = []
    for _ in range(5):
        tree = tree_of(CONSUMERS, {"keys": 1000})
        began = time.monotonic()
        with tree:
            took.append(1000 * (wait_synced(tree, 8) - began))
            tree.stop()
    figure("start to ready, 8 actors", "ms", took, key="start_to_ready_ms")


def switches_and_ticks(pid):
    """Context switches of all its threads, and clock ticks of CPU, so far."""
    switches = sum(int(line.split()[1]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                   for line in (task / "status").read_text().splitlines() if "ctxt_switches" in line)
    return switches, cpu_ticks(pid)


def idle():
    """Eight actors with nothing to do: metrics, the producer with 1,000 unchanged keys, six consumers."""
    seconds, tick_s = 10, 1 / os.sysconf("SC_CLK_TCK")
    with tree_of(CONSUMERS, {"keys": 1000}) as tree:
        wait_synced(tree, 8)
        time.sleep(3)
        family = {p.command.split()[-1] if p.pid != tree.process.pid else "musterd": p.pid
                  for p in procs.family(tree.process.pid)}
        before = {name: switches_and_ticks(pid) for name, pid in family.items()}
        time.sleep(seconds)
        after = {name: switches_and_ticks(pid) for name, pid in family.items()}
        pss = {name: rollup(pid, "Pss") for name, pid in family.items()}
        tree.stop()
    if len(family) != 9:
        raise RuntimeError(f"a tree of 8 actors is 9 processes, not {len(family)}: {', '.join(family)}")
    switches = {name: (after[name][0] - before[name][0]) / seconds for name in family}
    cpu = {name: 100 * tick_s * (after[name][1] - before[name][1]) / seconds for name in family}
    for what, unit, each, key in (("PSS", "KiB", pss, "idle_pss_kib"),
                                  ("CPU", "% of a core", cpu, "idle_cpu_percent"),
                                  ("context switches", "per second", switches, "idle_switches_per_s")):
        figure(f"idle {what}: 8 actors and musterd", unit, [sum(each.values())], key=key)
        for name in ("musterd", "metrics", "test-producer"):
            figure(f"  {what} of {name}", unit, [each[name]])
        figure(f"  {what} of a consumer", unit, [each[name] for name in CONSUMERS])


def per_key():
    """Memory of a key, from anonymous memory at 1,000 and at 15,000 keys; then a kill with all of them."""
    held = {}
    for count in (1000, KEYS):
        with tree_of(CONSUMERS[:2], {"keys": count, "value-bytes": BYTES}) as tree:
            wait_synced(tree, 4)
            since = time.monotonic()
            muster.wait_for(lambda: all(row["mailbox"] == 0 for row in status(tree).values()), "work is done")
            time.sleep(2)
            rows = status(tree)
            held[count] = {name: rollup(row["pid"], "Anonymous") for name, row in rows.items()}
            if count == KEYS:
                time.sleep(max(0, since + 11 - time.monotonic()))   # ready for 10 s: the restart is at once
                restart(tree, CONSUMERS[0])
            tree.stop()
    for name, what in (("test-producer", "store"), (CONSUMERS[1], "mirror")):
        grown = 1024 * (held[KEYS][name] - held[1000][name])
        figure(f"a key of {BYTES} B in a {what}", "bytes", [grown / (KEYS - 1000)],
               key=f"{what}_bytes_per_key")


def restart(tree, name):
    killed = status(tree)[name]
    began = time.monotonic()
    os.kill(killed["pid"], signal.SIGKILL)
    done = wait_synced(tree, 4, lambda rows: rows[name]["incarnation"] > killed["incarnation"])
    figure(f"kill -9 of a consumer until it is synced, {KEYS:,} keys", "ms", [1000 * (done - began)],
           key="restart_15000_ms")


# ---- All of it ----

SECTIONS = [
    ("Session beside raw ZeroMQ", sessions),
    ("The tap, read", watched),
    ("The tap, idle: instructions of a delta", idle_tap),
    ("Resync", resync),
    ("Fan-out latency", fanout),
    ("Start", start),
    ("Idle", idle),
    ("Memory of a key, and a death", per_key),
]
REQUIRED = ("session_ratio_256", "fanout_p50_us", "fanout_p99_us", "resync_15000_ms", "tap_idle_ratio",
            "start_to_ready_ms", "idle_pss_kib")


if __name__ == "__main__":
    figures.run(SECTIONS, REQUIRED, RESULT)
