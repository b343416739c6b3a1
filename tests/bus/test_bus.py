"""tests/bus/test_bus.py - real processes: mirrors equal the store, whichever actor is killed or stopped.

muster-test: parallel
muster-test: timeout=600
"""
import collections
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import frames
import rawzmq
import tap
from muster import wait_for
from samples import PRODUCER, Samples, consumer, pause, resident_kib

ONE, TWO, THREE = consumer(1), consumer(2), consumer(3)
KEYS = 1000


def changing(churn=0, rate=1000, **more):
    return {"keys": KEYS, "rate": rate, "churn": churn, **more}


def nothing_gone(tree):
    for name in tree.consumers:
        counts = tree.counts(name)
        assert counts["gone"] == 0, f"{name} received that keys are gone: {counts}"


def sessions(tree):
    return tree.metric("muster_sessions", actor=PRODUCER, link="samples")


def restarts(tree):
    return {name: tree.actor(name)["restarts"] for name in tree.everyone()}


@tap.case
def mirrors_equal_the_store():
    with Samples(consumers=3, producer=changing(churn=100)) as tree:
        tree.wait_running()
        for name in tree.consumers:
            tree.wait_received(name, 2000)
        store = tree.settle()
        assert 0 < len(store) < KEYS, f"churn removed nothing of {len(store)}"
        tree.unsettle()
        tree.wait_received(ONE, 1000)
        assert tree.settle() != store
        assert restarts(tree) == dict.fromkeys(tree.everyone(), 0)


@tap.case
def an_empty_store_is_a_complete_snapshot():
    with Samples(consumers=1, producer={"keys": 0}) as tree:
        tree.wait_running()
        assert tree.settle() == []


@tap.case
def values_of_64_kib_pass():
    with Samples(consumers=2, producer={"keys": 300, "rate": 100, "value-bytes": 65536}) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 500)
        assert len(tree.settle()) == 300


@tap.case
def a_killed_consumer_gets_everything_again():
    with Samples(consumers=2, producer=changing(churn=50)) as tree:
        tree.wait_running()
        for _ in range(3):
            killed = tree.kill(ONE)
            tree.wait_restarted(ONE, killed)
            tree.wait_received(TWO, 100)
        tree.settle()
        assert restarts(tree) == {PRODUCER: 0, ONE: 3, TWO: 0}


@tap.case
def a_killed_producer_makes_nothing_gone():
    with Samples(consumers=3, producer=changing()) as tree:
        tree.wait_running()
        for _ in range(3):
            tree.wait_received(ONE, 1000)
            killed = tree.kill(PRODUCER)
            tree.wait_restarted(PRODUCER, killed)
        assert len(tree.settle()) == KEYS
        nothing_gone(tree)
        assert restarts(tree) == {PRODUCER: 3, ONE: 0, TWO: 0, THREE: 0}


@tap.case
def while_the_producer_is_dead_mirrors_are_stale_and_readable():
    with Samples(consumers=2, producer=changing(**{"ready-after": "3s"})) as tree:
        tree.wait_running()
        wait_for(lambda: tree.counts(ONE).get("fresh") == 1, "the mirror is fresh")
        killed = tree.kill(PRODUCER)
        wait_for(lambda: tree.counts(ONE)["fresh"] == 0, "the mirror is stale")
        wait_for(lambda: tree.actor(PRODUCER)["state"] == "running", "the producer runs")
        assert not tree.actor(PRODUCER)["synced"]
        seen = 0
        while not tree.actor(PRODUCER)["synced"]:
            for name in tree.consumers:
                counts = tree.counts(name)
                assert (counts["keys"], counts["gone"]) == (KEYS, 0), f"{name} with half a snapshot: {counts}"
                seen += counts["fresh"] == 0
        assert seen > 2, "no mirror was stale"
        tree.wait_restarted(PRODUCER, killed)
        wait_for(lambda: tree.counts(ONE)["fresh"] == 1, "the mirror is fresh again")
        assert len(tree.settle()) == KEYS
        nothing_gone(tree)


@tap.case
def no_consumer_is_synced_before_the_snapshot_is_complete():
    with Samples(consumers=1, producer=changing(**{"ready-after": "3s"})) as tree:
        wait_for(lambda: tree.actors().get(ONE, {}).get("state") == "running", "the consumer runs")
        row = tree.actor(ONE)
        assert not row["synced"] and not tree.actor(PRODUCER)["synced"], row
        wait_for(lambda: "keys" in tree.counts(ONE), "the consumer gives its status")
        counts = tree.counts(ONE)
        assert counts["keys"] == counts["added"] == 0, f"a snapshot of half the keys: {counts}"
        tree.wait_running()
        order = [fact["actor"] for fact in tree.facts(msg="actor is synced")]
        assert order == [PRODUCER, ONE], order


@tap.case
def a_stopped_consumer_loses_its_session_and_affects_no_other():
    with Samples(consumers=3, producer=changing(churn=50), metrics=True, patient=True) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 1000)
        producer = tree.pid(PRODUCER)
        memory, fds = resident_kib(producer), tree.steady_descriptors()
        wait_for(lambda: sessions(tree) == 3, "three sessions")
        tree.kill(ONE, signal.SIGSTOP)
        wait_for(lambda: sessions(tree) == 2, "the session of the stopped one is closed")
        for name in (TWO, THREE):
            tree.wait_received(name, 2000)
        pause(3)
        assert resident_kib(producer) < memory + 4096, f"{memory} KiB became {resident_kib(producer)}"
        tree.kill(ONE, signal.SIGCONT)
        tree.wait_received(ONE, 1000)
        tree.settle()
        tree.wait_descriptors(fds)
        assert restarts(tree) == dict.fromkeys(tree.everyone(), 0)
        resyncs = wait_for(lambda: tree.metric("muster_resync_total", actor=ONE, link="samples"),
                           "its resync is counted")
        assert resyncs == 1, f"{resyncs} resyncs of the stopped one"
        for name in (TWO, THREE):
            assert not tree.metric("muster_resync_total", actor=name), f"{name} had to start over"


@tap.case
def a_stopped_producer_makes_mirrors_stale():
    with Samples(consumers=2, producer=changing(), patient=True) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 500)
        tree.kill(PRODUCER, signal.SIGSTOP)
        wait_for(lambda: tree.counts(ONE)["fresh"] == 0, "silence makes the mirror stale")
        assert tree.counts(ONE)["keys"] == KEYS
        tree.kill(PRODUCER, signal.SIGCONT)
        tree.wait_received(ONE, 500)
        assert len(tree.settle()) == KEYS
        nothing_gone(tree)
        assert restarts(tree) == dict.fromkeys(tree.everyone(), 0)


@tap.case
def a_slow_consumer_gets_fewer_and_newer_changes():
    with Samples(consumers=2, producer={"keys": 100, "rate": 2000}, only={2: {"slow": "200ms"}}) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 8000)
        store = tree.settle()
        changes, slow = sum(int(line.split()[2]) for line in store), tree.changes_received(TWO)
        assert len(store) == 100
        assert slow < changes * 0.7, f"the slow one received {slow} of {changes} changes"
        assert restarts(tree) == dict.fromkeys(tree.everyone(), 0)


@tap.case
def a_reload_adds_and_removes_consumers():
    with Samples(consumers=2, producer=changing(churn=20), metrics=True) as tree:
        tree.wait_running()
        tree.wait_received(ONE, 500)
        before = {name: tree.pid(name) for name in tree.everyone()}
        tree.consumers.append(THREE)
        tree.write()
        assert "error" not in tree.control("reload")
        tree.wait_running(THREE)
        tree.settle()
        tree.unsettle()
        wait_for(lambda: tree.metric("muster_link_keys", actor=THREE), "the new one is on the page")
        wait_for(lambda: sessions(tree) == 3, "three sessions")

        held = tree.metric("muster_metrics_series")
        tree.consumers.remove(TWO)
        tree.write()
        tree.signal(signal.SIGHUP)
        wait_for(lambda: tree.actors().get(TWO, {}).get("state", "off") == "off", "the second one is off")
        wait_for(lambda: sessions(tree) == 2, "two sessions")
        wait_for(lambda: tree.metric("muster_link_keys", actor=TWO) is None, "it is not on the page")
        wait_for(lambda: tree.metric("muster_metrics_series") < held - 10, "its mirror is freed")
        tree.settle()
        assert {name: tree.pid(name) for name in (PRODUCER, ONE, "metrics")} \
            == {name: before[name] for name in (PRODUCER, ONE, "metrics")}, "another actor was restarted"


@tap.case
def a_log_level_reaches_the_actor():
    with Samples(consumers=1, producer=changing()) as tree:
        tree.wait_running()
        assert "error" not in tree.control(f"level {PRODUCER} debug")
        wait_for(lambda: tree.facts(actor=PRODUCER, msg="log level changes", to_level="debug"),
                 "the actor logs it")
        killed = tree.kill(ONE)
        wait_for(lambda: tree.facts(actor=PRODUCER, level="debug", msg="session opened"), "it logs more")
        tree.wait_restarted(ONE, killed)
        assert not tree.facts(actor=ONE, level="debug")


@tap.case
def resyncs_are_counted_by_reason():
    with Samples(consumers=1, producer=changing(), metrics=True) as tree:
        tree.wait_running()
        tree.wait_restarted(PRODUCER, tree.kill(PRODUCER))
        wait_for(lambda: tree.metric("muster_resync_total", actor=ONE, link="samples", reason="peer") == 1,
                 "one resync, because the producer is a new one")


@tap.case
def a_trace_is_the_same_at_both_ends():
    topics = [f"o/{PRODUCER}/samples/DELTA".encode(), f"i/{ONE}/samples/DELTA".encode()]
    with Samples(consumers=1, producer=changing(rate=200)) as tree, \
            rawzmq.Socket(rawzmq.SUB, subscribe=topics) as reader:
        tree.wait_running()
        for name in (PRODUCER, ONE):
            reader.connect(f"ipc://{tree.run_dir}/{name}/tap.ipc")
        sent, taken = collections.defaultdict(set), collections.defaultdict(set)

        def in_both():
            while (parts := reader.recv(0.1)) is not None:
                topic, _, data = parts
                end = sent if topic.startswith(b"o/") else taken
                for item in frames.unpack_frame(data)[1]:
                    end[item[frames.ITEM_TRACE]].add(item[frames.ITEM_KEY])
                if len(sent.keys() & taken.keys()) >= 100:
                    return True
            return False
        wait_for(in_both, "100 changes seen at both ends")
        for trace in sent.keys() & taken.keys():
            assert trace != 0 and len(sent[trace]) == 1 and sent[trace] == taken[trace]


if __name__ == "__main__":
    tap.main()
