"""tests/lib/suites.py - runs test programs, counts their cases, ends with `N passed, M failed`.

Called by ./dev test with runs of the form PRESET:SUITE[/PROGRAM][:valgrind]. A program speaks TAP (cmocka
and tap.py do), or is one case, decided by its exit code. Its source may say, in a comment, how to run it:

    muster-test: parallel           may run beside others of its suite; unit tests may
    muster-test: alone              unless they say this
    muster-test: timeout=600        seconds, instead of the default
    muster-test: needs=promtool     a tool; without it the program is skipped, or failed when CI=true
    muster-test: no-valgrind=WHY    left out of the valgrind run

A process that outlives its test program is a failure too.
"""
import argparse
import concurrent.futures
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
LATER = {"sim": "issue 4", "real": "issue 4", "e2e": "a later issue"}
VALGRIND_FOUND = 99
VALGRIND = ["valgrind", "--quiet", f"--error-exitcode={VALGRIND_FOUND}", "--leak-check=full",
            "--errors-for-leak-kinds=definite,possible", "--child-silent-after-fork=yes"]


class Program:
    """One test program of a suite, as its source describes it."""

    def __init__(self, suite, source, name=None):
        self.suite, self.source, self.name = suite, source, name or source.stem
        head = source.read_text(errors="replace")[:4000]
        self.told = dict(re.findall(r"muster-test: ([a-z-]+)(?:=([^*\n]*))?", head))

    def command(self, build, options):
        if self.suite == "dst":
            if options.seed is not None:
                return [str(build / "bin/dst"), "--seed", str(options.seed)]
            counts = os.environ.get("CI") == "true" and build.name == "debug"
            least = ["--at-least", "20000"] if counts else []
            return [str(build / "bin/dst"), "--seconds", str(options.seconds)] + least
        if self.source.suffix == ".py":
            return [sys.executable, str(self.source)]
        return [str(build / "tests" / self.suite / self.name)]

    def parallel(self):
        return "parallel" in self.told or (self.suite == "unit" and "alone" not in self.told)

    def timeout_s(self, options):
        if self.suite == "dst":
            return options.timeout + 2 * options.seconds
        return float(self.told.get("timeout", options.timeout))

    def missing_tool(self):
        tools = [t.strip() for t in self.told.get("needs", "").split(",") if t.strip()]
        return next((t for t in tools if shutil.which(t) is None), None)


class Result:
    """What one program did: counts, and what to show of it."""

    def __init__(self, passed=0, failures=(), skips=(), output="", seconds=0.0):
        self.passed, self.failures, self.skips = passed, list(failures), list(skips)
        self.output, self.seconds, self.summary = output, seconds, ""
        if CI:
            self.failures += [f"skipped, which CI does not allow: {s}" for s in self.skips]

    def line(self, name):
        count = self.passed + len(self.failures)
        text = f"  {name:<32} {count:>4} case{'s'[:count != 1]:<1} {self.seconds:>7.1f} s"
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


def environment(preset, options):
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", MUSTER_ROOT=str(ROOT), MUSTER_PRESET=preset,
               MUSTER_BIN=str(ROOT / "build" / preset / "bin"), PYTHONPATH=str(ROOT / "tests/lib"),
               PYTHONDONTWRITEBYTECODE="1")
    env["PATH"] += f":{ROOT / 'build/tools'}"
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


def run_suite(text, options):
    """One PRESET:SUITE[/PROGRAM][:valgrind]; yields a Result per program."""
    preset, suite, *more = text.split(":")
    suite, _, only = suite.partition("/")
    valgrind = more == ["valgrind"]
    programs = discover(suite)
    if not programs:
        print(f"suite {suite}: no tests in the tree yet ({LATER.get(suite, 'issue 3')})", flush=True)
        return
    programs = [p for p in programs if only in ("", p.name)]
    if not programs:
        sys.exit(f"suite {suite} has no test program {only}")
    print(f"== {suite} on {preset}" + (" under valgrind" if valgrind else ""), flush=True)
    if valgrind:
        programs = [p for p in programs if can_valgrind(p)]
        if shutil.which("valgrind") is None:
            result = Result(skips=["valgrind is not installed"])
            show("valgrind", result)
            yield result
            return
    together = [p for p in programs if p.parallel()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        jobs = {pool.submit(run, p, preset, options, valgrind): p for p in together}
        for job in concurrent.futures.as_completed(jobs):
            show(jobs[job].name, job.result())
            yield job.result()
    if orphans := left_behind():
        result = Result(failures=orphans)
        show(f"{suite}, programs run together", result)
        yield result
    for program in programs:
        if not program.parallel():
            result = run(program, preset, options, valgrind)
            result.failures += left_behind()
            show(program.name, result)
            yield result


def left_behind():
    return [f"left a process behind: {p}" for p in procs.end_orphans()]


def can_valgrind(program):
    why = program.told.get("no-valgrind")
    if why:
        print(f"  {program.name:<32} left out: {why.strip()}")
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
    for text in options.runs:
        for result in run_suite(text, options):
            passed += result.passed
            failed += len(result.failures)
            skipped += len(result.skips)
    if skipped and not CI:
        print(f"{skipped} skipped (a failure in CI)")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
