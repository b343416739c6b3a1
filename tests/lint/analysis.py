"""tests/lint/analysis.py BUILD - clang-tidy over every file of a build.

A file that was clean is looked at again only when it, its flags, a header or .clang-tidy has changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def shared_state():
    """A hash of what every file depends on: our headers and the list of checks."""
    paths = [ROOT / ".clang-tidy"]
    for folder in (p for p in ROOT.iterdir() if p.is_dir() and p.name != "build"):
        paths += [p for p in folder.rglob("*") if p.suffix in (".h", ".def")]
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def look(row, build, shared):
    """What clang-tidy says about one file; nothing when it is clean."""
    source = pathlib.Path(row["file"])
    key = "\0".join([shared, row["command"], source.read_text()])
    stamp = build / "lint" / hashlib.sha256(key.encode()).hexdigest()
    if stamp.exists():
        return ""
    done = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), str(source)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    if done.returncode == 0:
        stamp.touch()
        return ""
    return done.stdout.replace(f"{ROOT}/", "") or f"{source}: clang-tidy itself failed\n"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    (build / "lint").mkdir(exist_ok=True)
    rows = [row for row in json.loads((build / "compile_commands.json").read_text())
            if not pathlib.Path(row["file"]).is_relative_to(build)]
    shared, complaints = shared_state(), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for said in pool.map(lambda row: look(row, build, shared), rows):
            # A header's complaint comes once per file that includes it.
            complaints.update(dict.fromkeys(re.split(r"(?m)^(?=\S+:\d+:\d+: error)", said)))
    complaints.pop("", None)
    print("".join(complaints), end="")
    print(f"{len(rows)} files, {len(complaints)} complaints")
    sys.exit(1 if complaints or not rows else 0)


if __name__ == "__main__":
    main()
