"""tests/lib/coverage.py COMMAND... - runs it on the coverage build, then prints what share of each file ran.

A file of REQUIRED must reach its share when every program that belongs to it was among the runs of the
command: then each such file is a case more of the last line, `N passed, M failed`, which stays the last one.
--runs prints the runs of these programs, for ./dev.
"""
import fnmatch
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/coverage"
# Source files, percent of their lines, the programs that have to have run. The first row of a file counts.
REQUIRED = [
    ("actors/vpsie-claimer/discover.c", 90, "test_vpsie_*"),
    ("actors/vpsie-claimer/*.c", 85, "test_vpsie_*"),
]
SUITES = ("unit", "sim")


def counted():
    """source -> {line: how often it ran}, of everything that is shipped."""
    sources = {}
    with tempfile.TemporaryDirectory() as folder:
        for notes in BUILD.rglob("*.c.gcno"):
            subprocess.run(["gcov", "--json-format", "--hash-filenames", str(notes)], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for report in pathlib.Path(folder).glob("*.json.gz"):
            data = json.loads(gzip.decompress(report.read_bytes()))
            for entry in data["files"]:
                # ccache may make paths relative to the folder of the build.
                path = pathlib.Path(os.path.normpath(BUILD / entry["file"]))
                if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "tests"):
                    lines = sources.setdefault(str(path.relative_to(ROOT)), {})
                    for line in entry["lines"]:
                        number = line["line_number"]
                        lines[number] = lines.get(number, 0) + line["count"]
    return sources


def programs(pattern):
    """suite/name of the test programs of that pattern."""
    return {f"{path.parent.name}/{path.stem}" for suite in SUITES for kind in ("c", "py")
            for path in (ROOT / "tests" / suite).glob(f"{pattern}.{kind}")}


def was_run(pattern, runs):
    """runs: PRESET:SUITE[/PROGRAM], the arguments of suites.py."""
    mine = {run.split(":")[1] for run in runs if run.startswith("coverage:")}
    return all(name in mine or name.split("/")[0] in mine for name in programs(pattern))


def required(name, runs):
    """The percentage that a source must reach after these runs, or None."""
    for pattern, percent, needed in REQUIRED:
        if fnmatch.fnmatch(name, pattern):
            return percent if was_run(needed, runs) else None
    return None


def judge(shares, runs):
    """shares: source -> (lines that ran, lines). Returns the number of sources that reach what they must, and
    a text for each that does not."""
    passed = 0
    missing = [f"{pattern}: no such file was counted" for pattern, _, needed in REQUIRED
               if was_run(needed, runs) and not fnmatch.filter(shares, pattern)]
    for name, (ran, lines) in sorted(shares.items()):
        least = required(name, runs)
        if least is None:
            continue
        if 100 * ran >= least * lines:
            passed += 1
        else:
            missing.append(f"{name}: {ran} of {lines} lines ran, {least} % are required")
    return passed, missing


def total(last, passed, failed):
    """The last line of suites.py, with these cases more."""
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed\s*", last)
    if not counts:
        return last
    return f"{int(counts[1]) + passed} passed, {int(counts[2]) + failed} failed\n"


def needed_runs():
    return sorted({f"coverage:{name}" for _, _, needed in REQUIRED for name in programs(needed)})


def main():
    if sys.argv[1:] == ["--runs"]:
        print(*needed_runs())
        return
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    run = subprocess.Popen(sys.argv[1:], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    last = ""
    for line in run.stdout:
        print(last, end="", flush=True)
        last = line
    code = run.wait()
    shares = {name: (sum(1 for count in lines.values() if count), len(lines))
              for name, lines in counted().items()}
    for name, (ran, lines) in sorted(shares.items()):
        print(f"  {name:<44} {ran:>5} of {lines:>5} lines  {100 * ran // max(lines, 1):>3} %")
    hit, lines = (sum(share[i] for share in shares.values()) for i in (0, 1))
    print(f"  {'all of it':<44} {hit:>5} of {lines:>5} lines  {100 * hit // max(lines, 1):>3} %")
    passed, missing = judge(shares, sys.argv[1:])
    for text in missing:
        print(f"FAILED coverage of {text}")
    print(total(last, passed, len(missing)), end="", flush=True)
    sys.exit(code or (1 if missing else 0))


if __name__ == "__main__":
    main()
