"""tests/lib/figures.py - what benchmarks have in common: a table for people, a JSON file for scripts.

    run(SECTIONS, REQUIRED, RESULT)      each section calls figure() for what it measured

Nothing passes or fails by a figure: a benchmark ends non-zero only when it could not measure something.
"""
import json
import os
import pathlib
import platform
import statistics
import sys
import time
import traceback

rows = {}           # name -> {unit, min, median, max}
keys = {}           # the names that scripts rely on


def figure(name, unit, values, key=None, digits=None):
    """One line of the table, from several measurements; key: the name of its median in the JSON."""
    values = sorted(values)
    row = {"unit": unit, "min": values[0], "median": statistics.median(values), "max": values[-1],
           "n": len(values)}
    rows[name] = row
    if key:
        keys[key] = round(row["median"], 4)
    if digits is None:
        digits = 0 if row["median"] >= 1000 else 1 if row["median"] >= 10 else 3
    shown = "".join(f"{row[column]:>14,.{digits}f}" for column in ("min", "median", "max"))
    print(f"  {name:<54}{unit:<14}{shown}{len(values):>5}", flush=True)
    return row["median"]


def rollup(pid, field):
    """A line of /proc/PID/smaps_rollup, in KiB."""
    with open(f"/proc/{pid}/smaps_rollup") as rollup_file:
        return next(int(line.split()[1]) for line in rollup_file if line.startswith(f"{field}:"))


def cpu_ticks(pid):
    """Clock ticks of CPU that the process has used so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def machine():
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"cpu": model[0] if model else platform.machine(), "cores": os.cpu_count(),
            "kernel": platform.release(), "load": round(os.getloadavg()[0], 2)}


def go_first():
    """Raises our priority, if permitted: other work on the machine must not change the figures."""
    try:
        os.nice(-10)
    except PermissionError:
        print("no right to a higher priority: other work on this machine shows in the figures")


def run(sections, required, result):
    began, about = time.monotonic(), machine()
    go_first()
    print(f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, load {about['load']}")
    failed = []
    for title, measure in sections:
        print(f"\n{title:<70}{'min':>14}{'median':>14}{'max':>14}{'n':>5}", flush=True)
        try:
            measure()
        except Exception:       # the other figures are still worth having
            traceback.print_exc()
            failed.append(title)
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({**keys, "machine": about, "figures": rows}, indent=2) + "\n")
    print(f"\n{time.monotonic() - began:.0f} s; written to {result}")
    missing = [key for key in required if key not in keys]
    if failed or missing:
        sys.exit(f"could not be measured: {', '.join(failed + missing)}")
