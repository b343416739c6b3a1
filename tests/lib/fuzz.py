"""tests/lib/fuzz.py SECONDS|replay - runs every libFuzzer target of the fuzz build; called by ./dev fuzz.

The committed corpus, tests/fuzz/corpus/<target>, is only read; what a run finds goes to
build/fuzz/corpus/<target>.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests/fuzz/corpus"
BUILD = ROOT / "build/fuzz"
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1"]


def run(target, seconds):
    """(target, seeds, output, exit code); seconds is None for a replay."""
    seeds = SEEDS / target
    count = sum(1 for p in seeds.rglob("*") if p.is_file()) if seeds.is_dir() else 0
    if seconds is None and not count:
        return target, 0, "", 0
    scratch, crashes = BUILD / "corpus" / target, BUILD / "crashes" / target
    scratch.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    words = ROOT / f"tests/fuzz/{target}.dict"
    command = [str(BUILD / "fuzz" / target), *LIMITS, f"-artifact_prefix={crashes}/"]
    command += [f"-dict={words}"] if words.exists() else []
    if seconds is None:
        command += ["-runs=0", str(seeds)]
    else:
        command += [f"-max_total_time={seconds}", str(scratch)] + ([str(seeds)] if count else [])
    env = dict(os.environ)
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    done = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    (crashes.parent / f"{target}.log").write_text(done.stdout)
    return target, count, done.stdout, done.returncode


def last(pattern, output):
    found = re.findall(pattern, output)
    return found[-1] if found else "0"


def report(target, seeds, output, code):
    """Prints one line for a good run; for a failed one also its output and how to repeat it."""
    executions, coverage = last(r"number_of_executed_units:\s*(\d+)", output), last(r"cov: (\d+)", output)
    print(f"  {target:<24} {seeds:>5} seeds {executions:>10} executions {coverage:>6} edges",
          "ok" if code == 0 else "FAILED", flush=True)
    if code == 0:
        return
    lines = [line for line in output.splitlines() if not re.match(r"#\d+\t", line)]
    print("".join(f"      | {line}\n" for line in lines[-80:]), end="")
    if written := re.search(r"Test unit written to (\S+)", output):
        artifact = written[1].removeprefix(f"{ROOT}/")
        print(f"      again: build/fuzz/fuzz/{target} {artifact}\n"
              f"      fix it, then keep the input: cp {artifact} tests/fuzz/corpus/{target}/", flush=True)


def main():
    if len(sys.argv) != 2 or not re.fullmatch(r"replay|[1-9]\d*", sys.argv[1]):
        sys.exit("usage: ./dev fuzz SECONDS | ./dev fuzz replay")
    seconds = None if sys.argv[1] == "replay" else int(sys.argv[1])
    targets = sorted(p.stem for p in (ROOT / "tests/fuzz").glob("fuzz_*.c"))
    if not targets:
        print("fuzz: no target in the tree yet (tests/fuzz/fuzz_*.c)")
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for target, seeds, output, code in pool.map(lambda t: run(t, seconds), targets):
            if seconds is None and not seeds:
                print(f"  {target:<24} has no committed corpus: nothing to replay")
                continue
            report(target, seeds, output, code)
            passed, failed = passed + (code == 0), failed + (code != 0)
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
