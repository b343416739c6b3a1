"""tests/lib/kubefaults.py - faults of the simulator aimed at kube-watcher, and what it asked for meanwhile.

    with steady(server) as tree:                            # holds what the server has, now and at the end
        arm(server, "gone_in_stream", resource="nodes", now=True)
        see(server, tree, "n1")                             # a change that comes through
        assert len(lists(server, "nodes")) == 1             # by the server's own log

The numbers of the faults are those of the catalogue that the tests are named after.
"""
import contextlib
import datetime
import functools
import time
import urllib.parse

import kubesuite
from kubetree import WATCHER, KubeTree
from muster import wait_for

AGENT = "muster-kube-watcher"
FIRST_REST_S = 0.8      # REFLECTOR_BACKOFF_MS of actors/kube-watcher/reflector.h; doubled after each failure
CLOCK_S = 0.005         # what two clocks may differ by


def case(function):
    """A case of the suite that leaves no fault behind."""
    @functools.wraps(function)
    def alone(server):
        try:
            function(server)
        finally:
            disarm(server)
    return kubesuite.case(alone)


# -- faults

def arm(server, kind, **keys):
    """Arms a fault against kube-watcher alone. Returns its number."""
    return server.order("POST", "faults", {"kind": kind, "user_agent": AGENT, **keys})["id"]


def disarm(server, *numbers):
    """These faults, or all of them."""
    for number in numbers or [0]:
        server.order("DELETE", f"faults?id={number}" if number else "faults")


def hits(server, number):
    return next(fault["hits"] for fault in server.order("GET", "faults") if fault["id"] == number)


def wait_hits(server, number, count=1, timeout=60):
    wait_for(lambda: hits(server, number) >= count, f"fault {number} has hit {count} times", timeout)


def strike(server, kind, **keys):
    """A fault that hits the open watches at once; it must find one."""
    number = arm(server, kind, now=True, **keys)
    assert hits(server, number) > 0, f"no open watch was hit by {kind} {keys}"


# -- what was asked for

def asked(server, resource=None, verb=None):
    """The requests of kube-watcher, oldest first."""
    return [row for row in server.audit() if row["user-agent"].startswith(AGENT)
            and resource in (None, row["resource"]) and verb in (None, row["verb"])]


def param(row, name):
    """A parameter of the request, or None."""
    query = urllib.parse.urlsplit(row["uri"]).query
    return urllib.parse.parse_qs(query, keep_blank_values=True).get(name, [None])[0]


def is_list(row):
    """A LIST, or a watch that begins with the whole set."""
    return row["verb"] == "list" or param(row, "sendInitialEvents") == "true"


def lists(server, resource=None):
    return [row for row in asked(server, resource) if is_list(row)]


def watches(server, resource=None):
    """Watches that go on from a version."""
    return [row for row in asked(server, resource, "watch") if not is_list(row)]


def versions(rows):
    """The versions that these requests named, as numbers; none where none was."""
    return [int(param(row, "resourceVersion") or 0) for row in rows]


# -- backoff. Only the lower bound of a rest is checked: a busy machine makes rests longer, never shorter.

def assert_rests(times_s, what, first_s=FIRST_REST_S, at_once=0):
    """What happened at these times happened ever less often. at_once: so many repetitions follow without a
    rest, as after a credential that has just changed; then the rests need not grow."""
    rests = [later - earlier for earlier, later in zip(times_s, times_s[at_once + 1:])]
    for number, rest_s in enumerate(rests):
        least_s = first_s * (1 if at_once else 2 ** number)
        assert rest_s >= least_s - CLOCK_S, f"{what}: {rest_s:.3f} s of rest, not {least_s} s: {rests}"


def asked_at(rows):
    """When, in seconds of the server's clock."""
    return [row["at_ms"] / 1000 for row in rows]


def wait_patient(server, kinds, verb=None, count=3, **how):
    """Each of these kinds is asked for at least so many times, with backoff."""
    for kind in kinds:
        wait_for(lambda: len(asked(server, kind, verb)) >= count, f"{kind} is asked for {count} times")
        assert_rests(asked_at(asked(server, kind, verb)), f"requests for {kind}", **how)


def complaints(tree, *words):
    """What kube-watcher warned of, in these words."""
    return [fact for fact in tree.facts(actor=WATCHER) if fact["level"] in ("warn", "error")
            and all(word in fact.get("why", "") for word in words)]


def wait_complaints(tree, *words, count=3, **how):
    """It complains in these words, so many times at least of some kind, and ever less often of each."""
    def by_kind():
        logged = {}
        for fact in complaints(tree, *words):
            logged.setdefault((fact["msg"], fact.get("resource")), []).append(logged_at(fact))
        return logged if any(len(times) >= count for times in logged.values()) else None
    for about, times in wait_for(by_kind, f"it logs {words} {count} times").items():
        assert_rests(times, f"complaints {about}", **how)


def logged_at(fact):
    return datetime.datetime.fromisoformat(fact["ts"].replace("Z", "+00:00")).timestamp()


# -- the tree

@contextlib.contextmanager
def steady(server, resources=("nodes",), check_end=True, **more):
    """A tree that is synced. At its end it holds what the server has again, and nothing was restarted."""
    with KubeTree(server, **more) as tree:
        tree.wait_synced()
        for resource in resources:
            tree.wait_equal(resource)
        server.forget_audit()
        yield tree
        for resource in resources if check_end else ():
            tree.wait_equal(resource, timeout=120)
        assert tree.actor(WATCHER)["restarts"] == 0


def node(name, **labels):
    return {"metadata": {"name": name, "labels": labels}}


def nodes(count, start=0):
    return [node(f"n{number}") for number in range(start, start + count)]


def label(server, resource, name, value):
    server.kube.merge(resource, name, {"metadata": {"labels": {"value": value}}})


def key_of(resource, name):
    return f"{resource}/{name}" if resource in ("nodes", "namespaces") else f"{resource}/default/{name}"


def holds(tree, resource, name, value):
    fields = tree.fields(key_of(resource, name))
    return bool(fields) and fields["labels"].get("value") == value


def wait_label(tree, resource, name, value, timeout=60):
    wait_for(lambda: holds(tree, resource, name, value), f"{name} is seen with {value}", timeout, every=0.003)


def see(server, tree, name, resource="nodes", timeout=60):
    """A change that comes through."""
    value = f"t{time.monotonic_ns()}"
    label(server, resource, name, value)
    wait_label(tree, resource, name, value, timeout)


class ReceivedChanges:
    """The changes that the first test actor has received since this object was made."""

    def __init__(self, tree):
        self.tree, self.before = tree, tree.counts()

    def so_far(self):
        """(added, updated, gone)"""
        now = self.tree.counts()
        return tuple(now[key] - self.before[key] for key in ("added", "updated", "gone"))

    def gone(self):
        """The keys that were reported gone, once each."""
        keys = self.tree.counts()["gone_keys"][len(self.before["gone_keys"]):]
        assert len(set(keys)) == len(keys), f"reported gone twice: {keys}"
        return set(keys)


def memory_kib(pid):
    """The most that a process ever had resident."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


# -- a workload whose events are known in advance

# 20 events of a few objects: (what, which). A deletion or creation can follow its contrary at once.
WORK = [("create", "a"), ("create", "b"), ("create", "c"), ("label", "a"), ("label", "b"), ("delete", "c"),
        ("create", "d"), ("label", "a"), ("delete", "b"), ("create", "b"), ("label", "b"), ("create", "e"),
        ("delete", "a"), ("label", "d"), ("create", "c"), ("label", "c"), ("delete", "d"), ("create", "a"),
        ("delete", "e"), ("label", "b")]
TYPES = {"create": "ADDED", "label": "MODIFIED", "delete": "DELETED"}


def play(server, resource, group, tree=None):
    """The workload on objects of that group: GROUP-a, GROUP-b, ... With a tree it waits for each step to be
    seen: changes that come too fast arrive as one."""
    for number, (what, which) in enumerate(WORK):
        name = f"{group}-{which}"
        if what == "create":
            server.kube.create(resource, {**node(name), **({"spec": {}} if resource == "widgets" else {})})
        elif what == "label":
            label(server, resource, name, f"w{number}")
        else:
            server.kube.delete(resource, name)
        if tree is not None:
            wait_for(lambda: _is_seen(tree, what, resource, name, number), f"step {number}: {what} {name}",
                     every=0.005)


def _is_seen(tree, what, resource, name, number):
    if what == "label":
        return holds(tree, resource, name, f"w{number}")
    return (tree.fields(key_of(resource, name)) is None) == (what == "delete")


def count_work(what):
    return sum(step == what for step, _ in WORK)


def ever_deleted(resource, group):
    """Keys that were gone at some time."""
    return {key_of(resource, f"{group}-{which}") for what, which in WORK if what == "delete"}
