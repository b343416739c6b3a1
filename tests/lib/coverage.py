"""tests/lib/coverage.py COMMAND... - runs it on the coverage build, then prints what share of each file ran.

The command's last line stays the last line: the table stands before it.
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/coverage"


def counted():
    """source -> {line: how often it ran}, of everything that is shipped."""
    sources = {}
    with tempfile.TemporaryDirectory() as folder:
        for notes in BUILD.rglob("*.c.gcno"):
            subprocess.run(["gcov", "--json-format", "--hash-filenames", str(notes)], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for report in pathlib.Path(folder).glob("*.json.gz"):
            for entry in json.loads(gzip.decompress(report.read_bytes()))["files"]:
                path = pathlib.Path(entry["file"])
                if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "tests"):
                    lines = sources.setdefault(str(path.relative_to(ROOT)), {})
                    for line in entry["lines"]:
                        number = line["line_number"]
                        lines[number] = lines.get(number, 0) + line["count"]
    return sources


def main():
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    run = subprocess.Popen(sys.argv[1:], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    last = ""
    for line in run.stdout:
        print(last, end="", flush=True)
        last = line
    code = run.wait()
    hit = total = 0
    for name, lines in sorted(counted().items()):
        ran = sum(1 for count in lines.values() if count)
        print(f"  {name:<44} {ran:>5} of {len(lines):>5} lines  {100 * ran // max(len(lines), 1):>3} %")
        hit, total = hit + ran, total + len(lines)
    print(f"  {'all of it':<44} {hit:>5} of {total:>5} lines  {100 * hit // max(total, 1):>3} %")
    print(last, end="", flush=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
