"""tests/lint/analysis.py BUILD - clang-tidy over every file of a build.

A clean file is checked again only when it, a header of it, its flags or .clang-tidy has changed. Stamps of
clean files are kept in $MUSTER_CACHE (else ~/.cache/muster), for every checkout on this machine.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("MUSTER_CACHE")
                     or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "muster")
STAMPS = CACHE / "lint"
VERSION = subprocess.run(["clang-tidy", "--version"], capture_output=True).stdout


def headers(build):
    """object -> our headers that it was built from, as ninja has recorded them."""
    command = ["ninja", "-C", str(build), "-t", "deps"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {}
    for block in filter(None, listing.split("\n\n")):
        name, *paths = [line.strip() for line in block.splitlines()]
        paths = [os.path.normpath(build / path) for path in paths]      # relative with ccache's base_dir
        found[name.split(":")[0]] = sorted(p for p in paths if p.startswith(f"{ROOT}/") and os.path.exists(p))
    return found


def stamp_of(row, build, ours):
    """Its name is a hash of all that clang-tidy reads, without the path of the checkout."""
    words = shlex.split(row["command"])
    command = row["command"].replace(str(build), "BUILD").replace(str(ROOT), "ROOT")
    digest = hashlib.sha256(command.encode() + (ROOT / ".clang-tidy").read_bytes() + VERSION)
    for path in [row["file"], *ours.get(words[words.index("-o") + 1], [])]:
        digest.update(pathlib.Path(path).read_bytes())
    return STAMPS / digest.hexdigest()


def check(row, build, ours):
    """What clang-tidy prints about one file; an empty text when it is clean."""
    stamp = stamp_of(row, build, ours)
    if stamp.exists():
        return ""
    done = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), row["file"]], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    if done.returncode == 0:
        stamp.touch()
        return ""
    return done.stdout.replace(f"{ROOT}/", "") or f"{row['file']}: clang-tidy itself failed\n"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    STAMPS.mkdir(parents=True, exist_ok=True)
    rows = [row for row in json.loads((build / "compile_commands.json").read_text())
            if not pathlib.Path(row["file"]).is_relative_to(build)]
    ours, complaints = headers(build), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for printed in pool.map(lambda row: check(row, build, ours), rows):
            # A header's complaint comes once per file that includes it.
            complaints.update(dict.fromkeys(re.split(r"(?m)^(?=\S+:\d+:\d+: error)", printed)))
    complaints.pop("", None)
    print("".join(complaints), end="")
    print(f"{len(rows)} files, {len(complaints)} complaints")
    sys.exit(1 if complaints or not rows else 0)


if __name__ == "__main__":
    main()
