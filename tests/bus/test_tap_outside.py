"""tests/bus/test_tap_outside.py - the reader that docs/tap.md shows, run as it stands there.

muster-test: parallel
muster-test: timeout=300
"""
import ast
import re
import subprocess
import sys

import procs
import tap
from muster import ROOT
from samples import PRODUCER, Samples

LINES = 50
PRINTED = re.compile(r"(?P<topic>\S+) (?P<key>key-\d{6}) trace=(?P<trace>[0-9a-f]{16}) (?P<value>.*)")


def interpreter():
    """A Python that has the two packages: Debian's own one, where ./dev test installs them."""
    for python in ("/usr/bin/python3", sys.executable):
        if subprocess.run([python, "-c", "import zmq, msgpack"], capture_output=True).returncode == 0:
            return python
    raise tap.Skip("no Python here has the packages zmq and msgpack")


def documented():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tap.md").read_text(), re.S)
    assert len(blocks) == 1 and len(blocks[0].splitlines()) == 10, blocks
    return blocks[0]


@tap.case
def the_documented_reader_prints_what_a_producer_sends():
    with Samples(consumers=1, producer={"keys": 20, "rate": 200}) as tree:
        tree.wait_running()
        script = tree.folder / "reader.py"
        script.write_text(documented())
        topic = f"o/{PRODUCER}/samples/DELTA"
        reader = subprocess.Popen([interpreter(), script, tree.run_dir, topic], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=procs.die_with_parent)
        try:
            lines = [reader.stdout.readline() for _ in range(LINES)]
        finally:
            reader.kill()
            _, err = reader.communicate()
        assert all(lines), f"it ended: {err}"
        newest = {}
        for line in lines:
            found = PRINTED.fullmatch(line.strip())
            assert found and found["topic"] == topic, line
            number, sent_us, padding = ast.literal_eval(found["value"])
            assert number > newest.get(found["key"], 0) and sent_us > 0 and isinstance(padding, bytes), line
            newest[found["key"]] = number


tap.main()
