"""tests/bus/test_tap.py - readers of the tap affect no actor, however they are killed, stopped or flooded.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import struct
import subprocess

import frames
import muster
import procs
import rawzmq
import tap
from muster import wait_for
from samples import PRODUCER, Samples, consumer, resident_kib

ONE, TWO = consumer(1), consumer(2)
PUB = 1         # ZMQ_PUB
TAP_BUDGET_KIB = 16 * 1024      # TAP_BUDGET of actors/runtime/tap.h
TEXT_LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} (?P<sender>\S+) > (?P<to>\S+) (?P<link>\S+) (?P<message>\S+)"
                       r" (?P<key>\S+) (?P<size>\d+)B( trace=(?P<trace>[0-9a-f]{16}))? (?P<value>.*)")
JSON_KEYS = ["time", "from", "to", "link", "message", "key", "size", "trace", "seq", "epoch", "value"]


def command(*arguments):
    return [str(muster.BIN / "muster"), "tap", *map(str, arguments)]


def environment(tree):
    return {**os.environ, "MUSTER_RUN_DIR": str(tree.run_dir)}


class Reader:
    """`muster tap` in the background; its output goes to a file."""

    def __init__(self, tree, *arguments):
        self.path = tree.folder / f"tap-{id(self)}"
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(command(*arguments), stdout=out, stderr=subprocess.PIPE,
                                            stdin=subprocess.DEVNULL, env=environment(tree),
                                            preexec_fn=procs.die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def lines(self):
        return self.path.read_text().splitlines()

    def wait_lines(self, n, timeout=60):
        wait_for(lambda: len(self.lines()) >= n, f"{n} lines of the tap", timeout)

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGINT):
        self.send(number)
        return self.process.wait(10)


def changing(rate=1000, keys=200, **more):
    return {"keys": keys, "rate": rate, **more}


def records(path):
    """(topic, meta, frame) of a recorded file, read without our own reader."""
    data = pathlib.Path(path).read_bytes()
    assert data.startswith(b"MUSTERTAP1\n")
    at = 11
    while at < len(data):
        size = struct.unpack_from(">I", data, at)[0]
        (topic, meta, frame), end = frames.unpack(data, at + 4)
        assert end == at + 4 + size
        yield topic, frames.unpack(meta)[0], frame
        at = end


def tapped(tree, name):
    return tree.metric("muster_tap_records_total", actor=name)


@tap.case
def every_line_has_its_fields():
    with Samples(consumers=1, producer=changing(rate=50)) as tree:
        tree.wait_running()
        got = tree.cli("tap", "--link", "samples", "-n", "40")
        assert got.returncode == 0 and got.stderr == "", got
        lines = [TEXT_LINE.fullmatch(line) for line in got.stdout.splitlines()]
        assert len(lines) == 40 and all(lines), got.stdout
        deltas = [line for line in lines if line["message"] == "DELTA"]
        assert deltas and all(line["sender"] == PRODUCER and line["to"] == ONE for line in deltas)
        assert all(re.fullmatch(r"key-\d{6}", line["key"]) and line["trace"] for line in deltas)
        assert all(re.match(r"number=\d+ sent_us=\d+ padding=<64 bytes>", line["value"]) for line in deltas)
        assert (ONE, "ACK", "-") in [line.group("sender", "message", "key") for line in lines]


@tap.case
def json_lines_are_objects():
    with Samples(consumers=1, producer=changing(rate=50)) as tree:
        tree.wait_running()
        got = tree.cli("tap", "--link", "samples", "--message", "DELTA", "-n", "20", "-o", "json")
        lines = [json.loads(line) for line in got.stdout.splitlines()]
        assert len(lines) == 20
        for line in lines:
            assert [key for key in line if key != "gone"] == JSON_KEYS, line
            assert line["message"] == "DELTA" and line["value"]["number"] > 0 and line["size"] > 64
        seqs = [line["seq"] for line in lines]
        assert seqs == list(range(seqs[0], seqs[0] + 20)), f"items have consecutive numbers: {seqs}"


@tap.case
def filters_choose():
    with Samples(consumers=2, producer=changing(rate=200, keys=20)) as tree:
        tree.wait_running()

        def lines(*arguments):
            got = tree.cli("tap", "-o", "json", "-n", "10", *arguments)
            assert got.returncode == 0, got
            return [json.loads(line) for line in got.stdout.splitlines()]
        assert {line["from"] for line in lines("--actor", ONE)} == {ONE}
        assert {line["to"] for line in lines("--actor", ONE, "--received")} == {ONE}
        assert {line["message"] for line in lines("--message", "ACK")} == {"ACK"}
        assert {line["message"] for line in lines("--message", "SAMPLE")} == {"DELTA"}
        assert {line["key"] for line in lines("--key", "key-00001[57]")} <= {"key-000015", "key-000017"}
        trace = lines("--message", "DELTA")[0]["trace"]
        with Reader(tree, "--trace", trace, "-o", "json") as by_trace:
            assert tree.cli("tap", "-n", "20").returncode == 0
            assert by_trace.end() == 0
            assert all(json.loads(line)["trace"] == trace for line in by_trace.lines())
        # One trace goes through both consumers.
        with Reader(tree, "-o", "json", "--message", "DELTA") as reader:
            reader.wait_lines(200)
            reader.end()
            seen = {}
            for line in map(json.loads, reader.lines()):
                seen.setdefault(line["trace"], set()).add(line["to"])
            assert any(to == {ONE, TWO} for to in seen.values())


@tap.case
def a_token_never_shows():
    with Samples(consumers=1, producer=changing(rate=10)) as tree:
        tree.wait_running()
        path = tree.folder / "hello.tap"
        with Reader(tree, "--message", "HELLO", "--record", path) as sent, \
                Reader(tree, "--message", "HELLO", "--received", "-o", "json") as received:
            # One at a time, with time to subscribe anew: the reader receives it from the other one.
            for name, reader in ((PRODUCER, sent), (ONE, received)):
                def received_hello(name=name, reader=reader):
                    tree.cli("restart", name)
                    tree.wait_running()
                    return reader.lines()
                wait_for(received_hello, f"a HELLO after a restart of {name}", every=3)
            assert sent.end() == 0 and received.end() == 0
            assert all("token=***" in line for line in sent.lines())
            assert all(json.loads(line)["value"]["token"] == "***" for line in received.lines())
        hellos = [frames.unpack_frame(frame)[1][0] for topic, _, frame in records(path)]
        assert hellos and all(hello[2] == b"" for hello in hellos), "a token was recorded"


@tap.case
def what_was_recorded_is_replayed():
    with Samples(consumers=1, producer=changing(rate=300)) as tree:
        tree.wait_running()
        path = tree.folder / "all.tap"
        live = tree.cli("tap", "-o", "json", "-n", "300", "--record", path)
        assert live.returncode == 0 and path.stat().st_mode & 0o777 == 0o600, live
        assert tree.stop() == 0
        again = tree.cli("tap", "--replay", path, "-o", "json", "-n", "300")        # no musterd any more
        assert again.returncode == 0 and again.stdout == live.stdout, again.stderr
        everything = [json.loads(line) for line in live.stdout.splitlines()]
        for arguments, want in ((["--message", "DELTA"], lambda line: line["message"] == "DELTA"),
                                (["--actor", ONE], lambda line: line["from"] == ONE),
                                (["--key", "key-*7"], lambda line: re.match("key-.*7$", line["key"] or ""))):
            got = tree.cli("tap", "--replay", path, "-o", "json", *arguments)
            lines = [json.loads(line) for line in got.stdout.splitlines()]
            expected = [line for line in everything if want(line)]
            assert expected and lines[:len(expected)] == expected, arguments


@tap.case
def a_damaged_file_is_reported_with_the_place():
    with Samples(consumers=1, producer=changing(rate=300)) as tree:
        tree.wait_running()
        path = tree.folder / "all.tap"
        assert tree.cli("tap", "-n", "50", "--record", path).returncode == 0
        data, starts, at = path.read_bytes(), [], 11
        while at < len(data):
            starts.append(at)
            at += 4 + struct.unpack_from(">I", data, at)[0]
        last = starts[-1]
        where = f"damaged at byte {last}: "
        for damaged, words in ((data[:-1], where + "the file ends within a record"),
                               (data[:last + 2], where + "the file ends within a length"),
                               (data[:last] + b"\xff" * 4, where + "a record has an impossible length"),
                               (data[:last + 4] + b"\xdd" + data[last + 5:], where + "a record is not"),
                               (b"MUSTERTAP2\n", "not a file that"), (b"", "not a file that")):
            path.write_bytes(damaged)
            got = tree.cli("tap", "--replay", path)
            assert got.returncode == 1 and words in got.stderr, got.stderr
        assert tree.cli("tap", "--replay", "/nonexistent").returncode == 1
        assert tree.cli("tap", "--record", "/nonexistent/x", "-n", "1").returncode == 1
        full = tree.cli("tap", "--record", "/dev/full", "-n", "20000", timeout=60)
        assert full.returncode == 1 and "No space left" in full.stderr, full.stderr


@tap.case
def without_a_reader_nothing_is_copied():
    with Samples(consumers=1, producer=changing(rate=500), metrics=True) as tree:
        tree.wait_running()

        def sent():
            return tree.metric("muster_bus_items_total", actor=PRODUCER, link="samples", direction="out") or 0

        def wait_sent(more):
            goal = sent() + more
            wait_for(lambda: sent() >= goal, f"{more} items more")
        wait_sent(1500)
        assert (tapped(tree, PRODUCER), tapped(tree, ONE)) == (0, 0)
        with Reader(tree, "--link", "stats") as reader:         # a reader of another link
            wait_for(lambda: reader.lines() and tapped(tree, PRODUCER) > 0, "stats are read")
            reader.end(signal.SIGKILL)
        few = tapped(tree, PRODUCER)
        assert few < 100, f"{few} records for one reader of a quiet link"
        with Reader(tree, "--link", "samples") as reader:
            reader.wait_lines(500)
            assert reader.end(signal.SIGKILL) == -signal.SIGKILL
        wait_sent(1000)         # its end takes effect at once, the last figure is sent a second later
        copied = tapped(tree, PRODUCER)
        assert copied > few
        wait_sent(1500)
        assert tapped(tree, PRODUCER) == copied, "still copied for a reader that has ended"


def undisturbed(tree, more=3000):
    """After more changes the mirrors are equal, and no session had to start over."""
    for name in tree.consumers:
        tree.wait_received(name, more)
    changes = sum(int(line.split()[2]) for line in tree.settle())
    before = {name: tree.changes_received(name) for name in tree.consumers}

    def still():
        now = {name: tree.changes_received(name) for name in tree.consumers}
        quiet = now == before
        before.update(now)
        return quiet
    wait_for(still, "the consumers receive no more", every=1.5)
    assert all(tree.actor(name)["restarts"] == 0 for name in tree.everyone())
    resyncs = [line for line in tree.facts(msg="session starts over") if line.get("link") == "samples"]
    assert not resyncs, resyncs
    shares = [tree.counts(name)["updated"] / changes for name in tree.consumers]
    # How many changes are sent as one depends on the machine: bench/bus.py compares it.
    tap.note(f"{changes} changes, received {' '.join(f'{share:.3f}' for share in shares)}")


@contextlib.contextmanager
def killed_again_and_again(tree):
    for _ in range(5):
        with Reader(tree) as reader:
            reader.wait_lines(50)
            reader.end(signal.SIGKILL)
    yield


@contextlib.contextmanager
def stopped(tree):
    with Reader(tree) as reader, Reader(tree, "--received") as other:
        for one in (reader, other):
            one.wait_lines(10)
            one.send(signal.SIGSTOP)
        yield


@contextlib.contextmanager
def blocked(tree):
    """Ten readers, all of them blocked by a full pipe."""
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            end, pipe = os.pipe()
            stack.callback(os.close, end)
            process = subprocess.Popen(command(), stdout=pipe, stdin=subprocess.DEVNULL,
                                       env=environment(tree), preexec_fn=procs.die_with_parent)
            os.close(pipe)
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


@contextlib.contextmanager
def with_random_subscriptions(tree):
    """Thousands of subscriptions, of any bytes and length, taken back and made again."""
    with contextlib.ExitStack() as stack:
        for turn in range(5):
            s = stack.enter_context(rawzmq.Socket(rawzmq.SUB, subscribe=[b"", b"o/", os.urandom(4000)]))
            for number in range(1000):
                s.option(rawzmq.SUBSCRIBE, b"%d/%d/" % (turn, number) + os.urandom(number % 300))
            for name in tree.everyone():
                s.connect(f"ipc://{tree.run_dir}/{name}/tap.ipc")
            assert turn > 0 or s.recv(120), "nothing on the tap"
        yield


@tap.case
def a_bad_reader_affects_no_actor():
    for disturb in (killed_again_and_again, stopped, blocked, with_random_subscriptions):
        with Samples(consumers=2, producer=changing(keys=1000)) as tree:
            tree.wait_running()
            with disturb(tree):
                tap.note(disturb.__name__)
                undisturbed(tree)


@tap.case
def a_slow_reader_is_shown_what_it_lost():
    with Samples(consumers=2, producer=changing(rate=5000, keys=1000), metrics=True) as tree:
        tree.wait_running()
        path = tree.folder / "slow.tap"
        with Reader(tree, "--actor", PRODUCER, "--link", "samples", "--record", path) as reader:
            reader.wait_lines(100)
            reader.send(signal.SIGSTOP)
            goal = (tapped(tree, PRODUCER) or 0) + 8000
            wait_for(lambda: (tapped(tree, PRODUCER) or 0) > goal, "more than any buffer takes", timeout=120)
            reader.send(signal.SIGCONT)
            wait_for(lambda: any(line.startswith("-- lost") for line in reader.lines()), "the loss is shown")
            after = len(reader.lines())
            reader.wait_lines(after + 100)
            assert reader.end() == 0
            loss_lines = [line for line in reader.lines() if line.startswith("-- lost")]
        pattern = re.compile(rf"-- lost (\d+) records of {PRODUCER} \(reader too slow\)")
        lost = [pattern.fullmatch(line) for line in loss_lines]
        assert all(lost), loss_lines
        last, holes = {}, 0
        for topic, meta, _ in records(path):
            holes += meta[0] - last.get(topic, meta[0] - 1) - 1
            last[topic] = meta[0]
        assert sum(int(match[1]) for match in lost) == holes > 0
        replayed = tree.cli("tap", "--replay", path, "-o", "json").stdout.splitlines()
        assert sum(json.loads(line)["lost"] for line in replayed if line.startswith('{"lost"')) == holes
        tree.settle()


@tap.case
def a_stopped_reader_of_large_frames_takes_bounded_memory():
    """Issue 10.6: a thousand records of 128 KiB would wait for it, twice the memory limit of the producer."""
    large = changing(rate=2000, keys=100, **{"value-bytes": 60000})
    with Samples(consumers=1, producer=large, metrics=True, patient=True) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 500)
        before = resident_kib(tree.pid(PRODUCER))

        def lost():
            return tree.metric("muster_tap_records_lost_total", actor=PRODUCER) or 0
        with Reader(tree, "--actor", PRODUCER, "--link", "samples") as reader:
            reader.wait_lines(100)
            assert lost() == 0
            reader.send(signal.SIGSTOP)
            wait_for(lambda: lost() > 1000, "records are lost, and counted", timeout=120)
            grown = resident_kib(tree.pid(PRODUCER)) - before
            tap.note(f"{grown} KiB more, {lost():.0f} records lost")
            assert grown < 3 * TAP_BUDGET_KIB, f"{grown} KiB for a reader that does not read"
            reader.send(signal.SIGCONT)
            wait_for(lambda: any(line.startswith("-- lost") for line in reader.lines()), "the reader sees it")
            reader.send(signal.SIGSTOP)
            before_stop = lost()
            wait_for(lambda: lost() > before_stop, "the budget is used up again", timeout=120)
            reader.end(signal.SIGKILL)
        # With it the budget is free again.
        got = tree.cli("tap", "--actor", PRODUCER, "--link", "samples", "-n", "50")
        assert got.returncode == 0 and len(got.stdout.splitlines()) == 50, got
        assert tree.actor(PRODUCER)["restarts"] == 0
        tree.settle()


@tap.case
def new_actors_and_new_incarnations_are_found():
    with Samples(consumers=1, producer=changing(rate=50, keys=50)) as tree:
        tree.wait_running()
        with Reader(tree, "--link", "samples", "-o", "json") as reader:
            reader.wait_lines(10)
            tree.consumers = [ONE, TWO]
            tree.write()
            tree.signal(signal.SIGHUP)
            wait_for(lambda: any(f'"from":"{TWO}"' in line for line in reader.lines()), "the new consumer")
            tree.wait_restarted(PRODUCER, tree.kill(PRODUCER))
            old = len(reader.lines())
            new = f'"from":"{PRODUCER}"'
            wait_for(lambda: any(new in line for line in reader.lines()[old:]), "the new producer")
            assert reader.end() == 0
            assert not any("lost" in line or "damaged" in line for line in reader.lines())


@tap.case
def a_closed_output_ends_it():
    with Samples(consumers=1, producer=changing(rate=10)) as tree:
        tree.wait_running()
        for arguments in ([], ["--key", "nothing-has-this-key"]):
            process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=environment(tree))
            if not arguments:
                process.stdout.readline()
            process.stdout.close()
            assert process.wait(60) == 0 and process.stderr.read() == b""


@tap.case
def damaged_records_are_shown_as_such():
    topic, meta = f"o/{ONE}/samples/ACK".encode(), frames.pack([1, 0, 1, PRODUCER])
    good = frames.frame(frames.ACK, [5])
    bad = [[topic], [topic, meta], [topic, meta, good, good], [topic, meta, b""], [topic, b"", good],
           [topic, frames.pack([1, 0, 1]), good], [topic + b"/x", meta, good]]
    other, wrong = frames.frame(frames.BEAT, [1]), frames.frame(frames.ACK, ["5"])
    for frame in (good[:-1], good + good, other, wrong, b"\xdd\xff\0\0\0", os.urandom(100)):
        bad.append([topic, meta, frame])
    with Samples(consumers=1, producer=changing(rate=1)) as tree, rawzmq.Socket(PUB) as publisher:
        tree.wait_running()
        (tree.run_dir / ONE / "tap.ipc").unlink()              # ours stands in its place
        publisher.bind(f"ipc://{tree.run_dir}/{ONE}/tap.ipc")
        with Reader(tree, "--actor", ONE) as reader:
            def seen():
                publisher.send(topic, meta, good)
                return reader.lines()
            wait_for(seen, "a good record of ours")
            for parts in bad:
                publisher.send(*parts)
            wait_for(lambda: sum("-- damaged" in line for line in reader.lines()) == len(bad), "all of them")
            assert reader.process.poll() is None
            fine = [line for line in reader.lines() if "-- damaged" not in line]
            assert all(" samples ACK - 6B credit=5" in line for line in fine)
            assert reader.end() == 0


tap.main()
