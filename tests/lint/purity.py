"""tests/lint/purity.py BUILD - proves that decisions are pure: what their objects call, and what they keep.

A pure object references nothing but other pure objects and ALLOWED, and has no writable memory of its own.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = {"plan.c", "policy.c", "fsm.c", "session.c", "scan.c"}
ALLOWED = {"memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp",
           "obj_panic", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"}
RULES = [
    (r"(m|c|re)alloc|free|strn?dup|obj_(alloc|realloc|strdup|memdup)", "a decision must not allocate"),
    (r"log_\w+|v?[fd]?printf|puts|fatalx?", "a decision must not log: it returns what and why"),
    (r"clock_\w+|time|gettimeofday|now_ms", "a decision must not read a clock: now_ms is handed in"),
    (r"rand\w*|getrandom|random_seed\w*", "a decision must not use random numbers: the seed is handed in"),
    (r"zmq_\w+|z\w+_(send|recv)\w*|read|write|send\w*|recv\w*|socket|open\w*|close|poll|epoll\w*|curl_\w+",
     "a decision must not do I/O"),
    (r"getenv|environ|std(in|out|err)|__errno_location", "a decision must read its arguments only"),
]
WRITABLE = re.compile(r"\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?$|\*COM\*$")


def objects(build):
    """source name -> object file, of everything outside tests/ and bench/."""
    found = {}
    for row in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(row["file"])
        if source.is_relative_to(ROOT):
            name = str(source.relative_to(ROOT))
            if not name.startswith(("tests/", "bench/")):
                words = shlex.split(row["command"])
                found[name] = pathlib.Path(row["directory"]) / words[words.index("-o") + 1]
    return found


def listed():
    lines = (ROOT / "tests/lint/pure.txt").read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def symbols(path):
    """(name, class, section) of each symbol. The class U is undefined: the symbol of another object."""
    nm = subprocess.run(["nm", "--format=sysv", str(path)], check=True, capture_output=True, text=True)
    rows = [[column.strip() for column in line.split("|")] for line in nm.stdout.splitlines()]
    return [(row[0], row[2], row[6]) for row in rows if len(row) == 7]


def broken_rule(symbol):
    broken = [text for pattern, text in RULES if re.fullmatch(pattern, symbol)]
    return broken[0] if broken else "it is not on the allow list"


def main():
    built = objects(pathlib.Path(sys.argv[1]).resolve())
    pure = {name for name in built if pathlib.Path(name).name in NAMES} | listed()
    wrong = [f"{name}: tests/lint/pure.txt lists it, but it is not built" for name in pure - built.keys()]
    tables = {name: symbols(built[name]) for name in sorted(pure & built.keys())}
    ours = {symbol for table in tables.values() for symbol, kind, _ in table if kind in "TRD"}
    for name, table in tables.items():
        shown = re.sub(r"\.c$", ".o", name)
        for symbol, kind, section in table:
            if kind in "Uw" and symbol not in ALLOWED and symbol not in ours:
                wrong.append(f"{shown}: calls {symbol}: {broken_rule(symbol)}")
            elif kind not in "Uw" and WRITABLE.match(section):
                wrong.append(f"{shown}: keeps {symbol} in {section}: a decision has no memory of its own")
    print("".join(f"{line}\n" for line in sorted(wrong)), end="")
    print(f"{len(tables)} pure objects: {' '.join(tables)}" if tables else "no pure object, nothing checked")
    sys.exit(1 if wrong or not tables else 0)


if __name__ == "__main__":
    main()
