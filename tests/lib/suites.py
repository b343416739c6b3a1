"""tests/lib/suites.py - runs test programs, counts their cases, ends with `N passed, M failed`.

Called by ./dev test with runs of the form PRESET:SUITE[/PROGRAM][:valgrind]. A program speaks TAP (cmocka
and tap.py do), or is one case, decided by its exit code. Directives in a comment of its source:

    muster-test: parallel           may run beside others, as unit tests do without this
    muster-test: alone              of a unit test: must not run beside others
    muster-test: timeout=600        seconds, instead of the default
    muster-test: needs=promtool     a tool; without it the program is skipped, or failed when CI=true
    muster-test: no-valgrind=WHY    left out of the valgrind run

Programs of all suites run side by side, as many as the processors allow, those that took longest the last
time first; then, one by one, those that must run alone. A process that outlives its program is a failure.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import procs

ROOT = pathlib.Path(__file__).resolve().parents[2]
CI = os.environ.get("CI") == "true"
# How much of a processor a program uses. Those with processes of their own mostly wait.
SHARES = {"unit": 1, "bus": 1 / 2, "sim": 1 / 2, "real": 2 / 3, "e2e": 2 / 3}
SECONDS = ROOT / "build" / "seconds.json"       # what each took the last time
RECAP_LINES = 8
VALGRIND_FOUND = 99
VALGRIND = ["valgrind", "--quiet", f"--error-exitcode={VALGRIND_FOUND}", "--leak-check=full",
            "--errors-for-leak-kinds=definite,possible", "--child-silent-after-fork=yes"]


class Program:
    """One test program of a suite, as its source describes it."""

    def __init__(self, suite, source, name=None):
        self.suite, self.source, self.name = suite, source, name or source.stem
        head = source.read_text(errors="replace")[:4000]
        self.directives = dict(re.findall(r"muster-test: ([a-z-]+)(?:=([^*\n]*))?", head))

    def command(self, build, options):
        if self.suite == "dst":
            if options.seed is not None:
                return [str(build / "bin/dst"), "--seed", str(options.seed)]
            least = ["--at-least", "20000"] if CI and build.name == "debug" else []
            return [str(build / "bin/dst"), "--seconds", str(self.dst_s(build.name, options))] + least
        if self.source.suffix == ".py":
            return [sys.executable, str(self.source)]
        return [str(build / "tests" / self.suite / self.name)]

    def parallel(self):
        return "parallel" in self.directives or (self.suite == "unit" and "alone" not in self.directives)

    def dst_s(self, preset, options):
        """Fewer seconds with sanitizers: their build checks for errors, the debug build counts histories."""
        return options.seconds if preset == "debug" or options.seconds_given else min(options.seconds, 10)

    def timeout_s(self, options):
        if self.suite == "dst":     # fourteen worlds, and the breaks of each
            return options.timeout + 40 * options.seconds
        return float(self.directives.get("timeout", options.timeout))

    def missing_tool(self):
        tools = [t.strip() for t in self.directives.get("needs", "").split(",") if t.strip()]
        return next((t for t in tools if not has_tool(t)), None)


class Job:
    """A program on one build, plain or under valgrind."""

    def __init__(self, program, preset, valgrind=False):
        self.program, self.preset, self.valgrind = program, preset, valgrind
        self.group = f"{program.suite} on {preset}" + (" under valgrind" if valgrind else "")
        self.label = f"{self.group}: {program.name}"
        self.share = SHARES.get(program.suite, 1)

    def name(self):
        where = "valgrind" if self.valgrind else "" if self.preset == "debug" else self.preset
        return f"{self.program.suite}/{self.program.name} {where}"


class Result:
    """What one program did: counts, and what to show of it."""

    def __init__(self, passed=0, failures=(), skips=(), output="", seconds=0.0):
        self.passed, self.failures, self.skips = passed, list(failures), list(skips)
        self.output, self.seconds, self.summary = output, seconds, ""
        if CI:
            self.failures += [f"skipped, which CI does not allow: {s}" for s in self.skips]

    def line(self, name):
        count = self.passed + len(self.failures)
        text = f"  {name:<40} {count:>4} case{'s'[:count != 1]:<1} {self.seconds:>7.1f} s"
        if self.skips and not CI:
            text += f"  {len(self.skips)} skipped: {self.skips[0]}"
        if self.failures:
            text += f"  {len(self.failures)} FAILED"
        return text + (f"  {self.summary}" if self.summary else "")


def discover(suite):
    folder = ROOT / "tests" / suite
    if suite == "dst":
        return [Program(suite, source, "dst") for source in sorted(folder.glob("*.c"))[:1]]
    return [Program(suite, s) for s in sorted([*folder.glob("test_*.c"), *folder.glob("test_*.py")])]


def read_tap(output):
    """(passed, failures, skips, planned). cmocka prints a plan per group, and a skip as `not ok N # SKIP`."""
    passed, failures, skips, planned = 0, [], [], 0
    for line in output.splitlines():
        if plan := re.match(r"1\.\.(\d+)(?:\s+# SKIP\s*(.*))?\s*$", line, re.I):
            planned += int(plan[1])
            if plan[2] is not None:
                skips.append(plan[2] or "no reason given")
        elif case := re.match(r"(not )?ok\b\s*\d*\s*-?\s*(.*?)(?:\s*# SKIP\s*(.*))?$", line, re.I):
            if case[3] is not None:
                skips.append(f"{case[2]}: {case[3]}" if case[2] else case[3])
            elif case[1]:
                failures.append(case[2])
            else:
                passed += 1
    return passed, failures, skips, planned


def judge(output, code, seconds, timed_out):
    """Turns output and exit code into a Result. No program may fail silently or stop half way."""
    passed, failures, skips, planned = read_tap(output)
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    if code == VALGRIND_FOUND:
        how = "valgrind found errors"
    if timed_out:
        failures.append(f"still running after {seconds:.0f} s")
    elif code != 0 and not failures:
        failures.append(how)
    elif planned > passed + len(failures) + len(skips) and not failures:
        failures.append(f"{planned} cases planned, {passed + len(skips)} seen")
    elif not planned and not passed and not failures and not skips:
        passed = 1
    return Result(passed, failures, skips, output, seconds)


def run(program, preset, options, valgrind):
    if tool := program.missing_tool():
        return Result(skips=[f"{program.name} needs {tool}"])
    build = ROOT / "build" / preset
    command = program.command(build, options)
    if not pathlib.Path(command[0]).exists():
        return Result(failures=[f"{command[0]} was not built"])
    log = build / "logs" / program.suite / (program.name + (".valgrind" if valgrind else "") + ".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    hung = []
    with open(log, "wb") as out:
        child = subprocess.Popen((VALGRIND if valgrind else []) + command, cwd=ROOT,
                                 env=environment(preset, options), start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            child.wait(program.timeout_s(options))
        except subprocess.TimeoutExpired:
            hung = procs.family(child.pid)
            procs.kill(*[p.pid for p in hung])
            child.wait()
    output = log.read_text(errors="replace") + "".join(f"# hung: {p}\n" for p in hung)
    result = judge(output, child.returncode, time.monotonic() - started, bool(hung))
    if valgrind:        # one case; those of the program are counted where it runs by itself
        result.passed, result.skips = 0 if result.failures else 1, []
    elif program.suite == "dst":
        result.summary = "".join(re.findall(r"^ok 1 - (.*)", output, re.M))
    return result


def tool_path():
    """The PATH of every test program; build/tools is where ./dev puts what it fetches."""
    return f"{os.environ['PATH']}:{ROOT / 'build/tools'}"


def has_tool(name):
    return shutil.which(name, path=tool_path()) is not None


def environment(preset, options):
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", MUSTER_ROOT=str(ROOT), MUSTER_PRESET=preset,
               MUSTER_BIN=str(ROOT / "build" / preset / "bin"), PYTHONPATH=str(ROOT / "tests/lib"),
               PYTHONDONTWRITEBYTECODE="1")
    env["PATH"] = tool_path()
    env.setdefault("ASAN_OPTIONS", "strict_string_checks=1:detect_stack_use_after_return=1")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    if options.seed is not None:
        env["MUSTER_SEED"] = str(options.seed)
    if options.seconds_given:
        env["MUSTER_SECONDS"] = str(options.seconds)
    return env


def show(name, result):
    print(result.line(name), flush=True)
    if result.failures:
        print("".join(f"      | {line}\n" for line in result.output.splitlines()), end="")
        print("".join(f"      FAILED: {f}\n" for f in result.failures), end="", flush=True)


def recap(name, result):
    """Prints the failures once more, each with the end of its output: people read the end of a long log."""
    for failure in result.failures:
        print(f"FAILED {name.strip()}: {failure}")
        print("".join(f"       {line}\n" for line in last_output(result.output, failure)), end="", flush=True)


def last_output(output, failure):
    """The comments beside its `not ok`: those of tap.py stand above it, those of cmocka and dst below."""
    lines = output.splitlines()
    at = next((n for n, line in enumerate(lines) if line.startswith("not ok") and line.endswith(failure)), 0)
    if at == 0:
        return lines[-RECAP_LINES:]
    above, below = ([*itertools.takewhile(lambda line: line.startswith("#"), some)]
                    for some in (reversed(lines[:at]), lines[at + 1:]))
    if any(line.startswith("# Traceback") for line in above):
        return above[RECAP_LINES - 1::-1]
    return below[:RECAP_LINES]


def jobs_of(text):
    """The jobs of one PRESET:SUITE[/PROGRAM][:valgrind]."""
    preset, suite, *more = text.split(":")
    suite, _, only = suite.partition("/")
    programs = discover(suite)
    if not programs:
        sys.exit(f"suite {suite} has no test program")
    programs = [p for p in programs if only in ("", p.name)]
    if not programs:
        sys.exit(f"suite {suite} has no test program {only}")
    if more == ["valgrind"]:
        return [Job(p, preset, valgrind=True) for p in programs if can_valgrind(p)]
    return [Job(p, preset) for p in programs]


def run_all(jobs, options):
    """Yields (job, Result) of each, and (None, Result) for what is wrong with all of them."""
    if any(job.valgrind for job in jobs) and not has_tool("valgrind"):
        jobs = [job for job in jobs if not job.valgrind]
        yield None, Result(skips=["valgrind is not installed"])
    before = last_seconds()
    together = sorted((job for job in jobs if job.program.parallel()),
                      key=lambda job: (-before.get(job.label, 0), job.share))
    yield from side_by_side(together, options)
    if orphans := left_behind():
        yield None, Result(failures=orphans)
    for job in jobs:
        if not job.program.parallel():
            result = run(job.program, job.preset, options, job.valgrind)
            result.failures += left_behind()
            yield job, result


def side_by_side(jobs, options):
    """In this order, as far as their shares fit the machine."""
    free, running = float(os.cpu_count() or 2), {}
    with concurrent.futures.ThreadPoolExecutor(len(jobs) or 1) as pool:
        while jobs or running:
            for job in [*jobs]:
                if job.share <= free + 0.01:
                    jobs.remove(job)
                    free -= job.share
                    running[pool.submit(run, job.program, job.preset, options, job.valgrind)] = job
            ended, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                job = running.pop(future)
                free += job.share
                yield job, future.result()


def last_seconds():
    try:
        return json.loads(SECONDS.read_text())
    except (OSError, ValueError):
        return {}


def remember(took):
    SECONDS.write_text(json.dumps({**last_seconds(), **took}, indent=1, sort_keys=True))


def left_behind():
    return [f"left a process behind: {p}" for p in procs.end_orphans()]


def can_valgrind(program):
    why = program.directives.get("no-valgrind")
    if why:
        print(f"  {f'unit/{program.name} valgrind':<40} left out: {why.strip()}")
    return program.source.suffix == ".c" and why is None


def stop(number, _frame):
    procs.kill(*[p.pid for p in procs.family(os.getpid())[1:]])
    print(f"\nstopped by {signal.Signals(number).name}", file=sys.stderr, flush=True)
    os._exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description="Runs test suites; called by ./dev test.")
    parser.add_argument("--seconds", type=int, help="how long dst runs (10; 30 when CI=true)")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("runs", nargs="+", metavar="PRESET:SUITE[/PROGRAM][:valgrind]")
    options = parser.parse_args()
    options.seconds_given = options.seconds is not None
    if not options.seconds_given:
        options.seconds = 30 if CI else 10

    procs.adopt_orphans()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    passed = failed = skipped = 0
    took, groups, began, bad = {}, collections.Counter(), time.monotonic(), []
    for job, result in run_all([job for text in options.runs for job in jobs_of(text)], options):
        name = job.name() if job else "all of them"
        show(name, result)
        bad += [(name, result)] if result.failures else []
        passed += result.passed
        failed += len(result.failures)
        skipped += len(result.skips)
        if job:
            took[job.label] = round(result.seconds, 1)
            groups[job.group] += result.seconds
    remember(took)
    for group, seconds in groups.items():
        print(f"{seconds:>6.0f} s  {group}")
    print(f"{time.monotonic() - began:>6.0f} s  in all, side by side")
    for name, result in bad:
        recap(name, result)
    if skipped and not CI:
        print(f"{skipped} skipped (a failure in CI)")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
