"""tests/lint/words.py - names and sentences use the words of Kubernetes, Unix and ZeroMQ, not metaphors.

A process receives, sends, logs, reports, evaluates, decides. It does not hear, tell, say, know or believe.
Every rule holds in identifiers, comments, texts and docs alike; an underscore separates words. The glossary
in docs/architecture.md has the words that are our own.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# This file names the words; LICENSE is not ours.
LEFT_OUT = {"LICENSE", "tests/lint/words.py"}

# (pattern, what to write instead). Letters and digits end a word, underscores do not belong to it.
RULES = [
    (r"tells?|told|telling", "send, report, log, return, show"),
    (r"hears?|heard", "receive"),
    (r"says?|said|saying", "send, state, contain, print, log"),
    (r"knows?|knew", "has, holds, reads, is configured with"),
    (r"believe[sd]?|believing", "accept, trust"),
    (r"look(?:s|ed|ing)?[ _]at|looks?|looking|looked", "read, evaluate, check, search"),
    (r"errands?", "inflight write"),
    (r"parked", "deferred"),
    (r"speech", "write_for_verb"),
    (r"bygone", "predates_restore"),
    (r"news", "change, update"),
    (r"weather", "transient, faults"),
    (r"doom(?:ed|s)?", "stop reason"),
    (r"hurry|hurries", "kill_all"),
    (r"painted", "synced once"),
    (r"graves?|mourn\w*|obituary|obituaries", "reap, death record"),
    (r"tomb|dug", "tombstone, created_in"),
    (r"strangers?", "unknown sender"),
    (r"patience", "timeout"),
    (r"laws?", "rule"),
    (r"pictures?", "state, list, snapshot"),
    (r"\w+_ground", "deps"),
    (r"muster_asked_writes_total", "muster_write_requests_total"),
]
# Fixed names of others: methods, options, commands, quotations of a server's answer.
ALLOWED = re.compile(r"\.tell\(\)|--?look|lookups?|\boutlook\b")

COMPILED = [(re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", re.I), better)
            for pattern, better in RULES]


def files():
    command = "git -c safe.directory=* ls-files -z --cached --others --exclude-standard".split()
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in sorted(set(filter(None, listing.split("\0")))):
        path = ROOT / name
        if path.is_file() and name not in LEFT_OUT and "corpus" not in path.parts:
            data = path.read_bytes()
            if b"\0" not in data[:4096]:
                yield name, data.decode(errors="replace")


def findings(name, text):
    for number, line in enumerate([name, *text.split("\n")]):
        bare = ALLOWED.sub("", line)
        for pattern, better in COMPILED:
            if found := pattern.search(bare):
                yield f"{name}:{number}: \"{found[0]}\": {better}"


def main(only):
    found = []
    for name, text in files():
        if not only or any(name.startswith(prefix) for prefix in only):
            found += findings(name, text)
    for line in found:
        print(line)
    print(f"{len(found)} words that section \"Words\" of docs/architecture.md replaces")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
