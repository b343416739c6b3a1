"""tests/lib/samples.py - a tree of the test actors: one producer, some consumers, and what they hold.

    with Samples(consumers=2, producer={"rate": 1000}) as tree:
        tree.wait_running()
        tree.kill("test-producer")
        tree.settle()               # every mirror equals the store

A dump is what an actor holds, as sorted lines. The producer changes nothing while the settle file exists.
"""
import os
import pathlib
import re
import signal
import time
import urllib.request

import muster
from muster import wait_for

PRODUCER = "test-producer"
READINGS = 10


def consumer(number):
    return f"test-consumer-{number}"


class Samples(muster.Muster):
    """producer: its settings; only: {number: settings} of single consumers; patient: the watchdog waits for
    minutes, where somebody is stopped and a busy machine must not make a hung one of him."""

    def __init__(self, consumers=2, producer=None, only=None, metrics=False, patient=False):
        self.consumers = [consumer(n) for n in range(1, consumers + 1)]
        self.metrics = metrics
        self.supervisor = {"beat-interval": "60s"} if patient else {}
        self.settings = {PRODUCER: producer or {}}
        for number, name in enumerate(self.consumers, 1):
            self.settings[name] = (only or {}).get(number, {})
        super().__init__("")
        self.dumps, self.settle_file = self.folder / "dumps", self.folder / "dumps" / "settle"
        self.dumps.mkdir()
        self.write()

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                self.end_well()
        except BaseException as wrong:
            kind = type(wrong)
            raise
        finally:
            super().__exit__(kind, *rest)

    def end_well(self):
        """An ordered stop, after which the log has no error of any process."""
        if self.process.poll() is None:
            assert self.stop() == 0
        endings = {fact["cause"] for fact in self.facts(msg="actor ended")}
        assert endings <= {"exit 0"}, f"actors that were asked to stop ended by {endings}"
        for complaint in ("Sanitizer", "runtime error:", "panic:", "Assertion"):
            assert complaint not in self.log(), f"the log has {complaint!r}"

    def write(self):
        """Writes the configuration that self.consumers, self.metrics and self.settings describe."""
        actors = {name: {**self.settings.get(name, {}), "dump": str(self.dump(name))}
                  for name in [PRODUCER, *self.consumers]}
        actors[PRODUCER]["settle-file"] = str(self.settle_file)
        actors["metrics"] = {"enabled": self.metrics}
        if self.metrics:
            for setting in ("metrics-bind-address", "health-probe-bind-address"):
                actors["metrics"][setting] = "127.0.0.1:0"
        self.configure({"supervisor": self.supervisor, "actors": actors})

    def everyone(self):
        return [PRODUCER, *self.consumers] + (["metrics"] if self.metrics else [])

    def dump(self, name):
        return self.dumps / name

    def pid(self, name):
        return self.actor(name)["pid"]

    def kill(self, name, number=signal.SIGKILL):
        """Returns the incarnation that got the signal."""
        row = self.actor(name)
        os.kill(row["pid"], number)
        return row["incarnation"]

    def wait_restarted(self, name, incarnation, timeout=60):
        """Until a later incarnation of it runs and is synced."""
        def again():
            row = self.actor(name)
            return row["incarnation"] > incarnation and row["state"] == "running" and row["synced"]
        wait_for(again, f"{name} came back", timeout)

    def counts(self, name):
        """The counts in a consumer's status: added, updated, gone, worked, keys, fresh; at first empty."""
        return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", self.actor(name)["status"])}

    def changes_received(self, name):
        """How many changes a consumer has received."""
        counts = self.counts(name)
        return sum(counts.get(key, 0) for key in ("added", "updated", "gone"))

    def wait_received(self, name, more=1, timeout=60):
        """Until the consumer has received that many more changes than now."""
        before = self.changes_received(name)
        wait_for(lambda: self.changes_received(name) >= before + more, f"{name} receives {more} more changes",
                 timeout)

    def settle(self, timeout=60, among=None):
        """Stops the changes and waits until every mirror equals the store. Returns the store's lines."""
        self.settle_file.touch()
        names = among or self.consumers
        for name in [PRODUCER, *names]:
            self.dump(name).unlink(missing_ok=True)

        def equal():
            if not self.dump(PRODUCER).exists():
                return False
            truth = self.dump(PRODUCER).read_bytes()
            return all(self.dump(name).exists() and self.dump(name).read_bytes() == truth for name in names)
        try:
            wait_for(equal, "every mirror equals the store", timeout)
        except AssertionError as late:
            raise AssertionError(f"{late}: {self.difference(names)}") from None
        return self.dump(PRODUCER).read_text().splitlines()

    def difference(self, names):
        """Where the dumps differ, in a few words."""
        truth = self.lines(PRODUCER)
        held = {name: self.lines(name) for name in names}
        return f"the store has {len(truth)} lines; " + "; ".join(
            f"{name}: {len(lines - truth)} too many, {len(truth - lines)} missing"
            for name, lines in held.items())

    def lines(self, name):
        path = self.dump(name)
        return set(path.read_text().splitlines()) if path.exists() else set()

    def unsettle(self):
        self.settle_file.unlink(missing_ok=True)

    def descriptors(self):
        """name -> open descriptors, of musterd too; empty when unreadable (actors are not dumpable)."""
        rows = self.actors()
        pids = {"musterd": self.process.pid, **{name: rows[name]["pid"] for name in self.everyone()}}
        try:
            return {name: len(os.listdir(f"/proc/{pid}/fd")) for name, pid in pids.items()}
        except PermissionError:
            return {}

    def steady_descriptors(self):
        """The same once every actor has found its peers, and without what is open for a moment (a question to
        musterd, a scrape): the least of several readings, twice the same."""
        if self.metrics:
            self.wait_counted()
        seen = [None]

        def steady():
            readings = []
            for _ in range(READINGS):
                readings.append(self.descriptors())
                time.sleep(0.05)
            seen.append({name: min(reading[name] for reading in readings) for name in readings[0]})
            return seen[-1] == seen[-2]
        wait_for(steady, "the number of descriptors stays the same")
        return seen[-1]

    def wait_counted(self):
        """Until the metrics actor has counters of every actor; it connects to them after they start."""
        def all_of_them():
            page = self.scrape()
            return all(any(f'actor="{name}"' in series for series in page) for name in self.everyone())
        wait_for(all_of_them, "everyone is on the page of the metrics")

    def wait_descriptors(self, before):
        """Until there are as many as then: leaked descriptors are never closed."""
        seen = []

        def the_same():
            seen[:] = [self.steady_descriptors()]
            return seen[0] == before
        try:
            wait_for(the_same, "as many descriptors as before")
        except AssertionError as late:
            raise AssertionError(f"{late}: {seen[0]}, not {before}") from None

    def scrape(self, timeout=60):
        """The page of the metrics actor: {series: value}; empty while it is not served."""
        try:
            address = (self.run_dir / "metrics" / "metrics.addr").read_text().strip()
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=timeout) as page:
                lines = page.read().decode().splitlines()
        except OSError:
            return {}
        return {series: float(value) for series, value in
                (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))}

    def metric(self, family, **labels):
        """The sum of the series of that family with these labels, or None when there are none."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        found = [value for series, value in self.scrape().items()
                 if re.split(r"[{ ]", series)[0] == family and all(w in series for w in wanted)]
        return sum(found) if found else None


def resident_kib(pid):
    """0 with sanitizers: they keep what was freed, so that growth has no meaning."""
    if b"__asan_init" in (muster.BIN / "musterd").read_bytes():
        return 0
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def pause(seconds):
    """For what has to last: a stop of ten seconds is not a condition that one could wait for."""
    time.sleep(seconds)
