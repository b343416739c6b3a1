"""tests/lint/shipped.py BUILD - what is installed has no program, role, link, right or setting of the tests.

Checks the installed files of the release build, the default of a build without a preset, and that a
build with test actors cannot be installed (issue 10.5).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ("roles.def", "links.def", "kinds.def", "settings.def")


def test_names():
    """The names that only test actors have, as they stand in the tables under tests/actors."""
    text = "".join((ROOT / "tests/actors" / table).read_text() for table in TABLES)
    return {name for name in re.findall(r'"([a-z0-9.-]+)"', re.sub(r"/\*.*?\*/", "", text, flags=re.S))
            if "test" in name}


def install(build, folder):
    return subprocess.run(["cmake", "--install", str(build)], env=dict(os.environ, DESTDIR=str(folder)),
                          text=True, capture_output=True)


def wrong_in(files, programs):
    """What the installed files contain, and what the installed musterd accepts."""
    for file in files:
        image = file.read_bytes()
        end = b"\0" if file in programs else b""
        if "test" in file.name:
            yield f"{file.name}: a file of the tests is installed"
        for name in sorted(test_names()):
            if end + name.encode() + end in image:
                yield f"{file.name}: has the test actors' \"{name}\""
    by_name = {p.name: p for p in programs}
    if missing := {"musterd", "muster", "muster-kube-watcher"} - set(by_name):
        yield f"not installed: {' '.join(sorted(missing))}"
        return
    printed = subprocess.run([by_name["muster"], "check", "--print-defaults"], text=True, capture_output=True)
    if printed.returncode != 0 or "kube-watcher:" not in printed.stdout or "test-" in printed.stdout:
        yield f"muster check --print-defaults: {printed.stderr or 'has the settings of test actors'}"
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("actors:\n  test-kube-1: {}\n")
        file.flush()
        asked = subprocess.run([by_name["musterd"], "--check", f"--config={file.name}"],
                               text=True, capture_output=True)
    if asked.returncode != 100 or "test-kube-1" not in asked.stderr:
        yield f"musterd accepts a test actor: exit {asked.returncode}, {asked.stdout}{asked.stderr}"


def wrong_by_default(folder):
    """A build with default settings is the one that people install."""
    configured = subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder / "plain")],
                          text=True, capture_output=True)
    if configured.returncode != 0:
        yield f"cmake without a preset fails: {configured.stderr}"
    elif "MUSTER_TEST_ACTORS:BOOL=OFF" not in (folder / "plain/CMakeCache.txt").read_text():
        yield "cmake without a preset compiles the test actors into the product"


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="muster-shipped-") as name:
        folder = pathlib.Path(name)
        installed = install(build, folder / "release")
        files = sorted(p for p in (folder / "release").rglob("*") if p.is_file() and not p.is_symlink())
        programs = [p for p in files if os.access(p, os.X_OK)]
        wrong = [installed.stderr] if installed.returncode != 0 else [*wrong_in(files, programs)]
        wrong += wrong_by_default(folder)
        debug = build.parent / "debug"
        if (debug / "cmake_install.cmake").exists() and install(debug, folder / "debug").returncode == 0:
            wrong += ["a build with test actors can be installed"]
    print("".join(f"{line}\n" for line in wrong), end="")
    print(f"{len(programs)} programs: {' '.join(p.name for p in programs) or 'nothing was installed'}")
    sys.exit(1 if wrong or not programs else 0)


if __name__ == "__main__":
    main()
