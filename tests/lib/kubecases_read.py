"""tests/lib/kubecases_read.py - kube-watcher reads: what its consumers hold is what the server has.

The rule of all cases: an object that exists is never reported gone, whichever process dies.
"""
import kubecrds
import kubesuite
from kubesuite import case
from kubetree import WATCHER, KubeTree, reader
from muster import wait_for

MANY = 3000


def nodes(count, start=0):
    return [{"metadata": {"name": f"n{number}", "labels": {"number": str(number)}}}
            for number in range(start, start + count)]


def names(numbers):
    return [f"n{number}" for number in numbers]


def keys(numbers):
    return {f"nodes/n{number}" for number in numbers}


def pod(name, namespace="default", **labels):
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "nothing"}]}}


def widget(name, **spec):
    return {"metadata": {"name": name}, "spec": spec}


def gone(tree, number=1):
    """Every key that was ever reported gone. Checks that each was reported once."""
    counts = tree.counts(number)
    assert counts["gone"] == len(counts["gone_keys"]), counts
    return set(counts["gone_keys"])


def label(server, name, value):
    server.kube.merge("nodes", name, {"metadata": {"labels": {"value": value}}})


def wait_label(tree, name, value, number=1):
    """A change that can be seen: everything before it has been seen too."""
    def seen():
        fields = tree.fields(f"nodes/{name}", number)
        return fields and fields["labels"].get("value") == value
    wait_for(seen, f"{reader(number)} sees {name} with {value}")


@case
def thousands_of_objects_are_listed_and_followed(server):
    server.kube.create_many("nodes", nodes(MANY))
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.wait_equal("nodes")
        assert tree.counts()["added"] >= MANY and gone(tree) == set()
        server.kube.merge_many("nodes", names(range(300)), {"metadata": {"labels": {"value": "new"}}})
        server.kube.delete_many("nodes", names(range(300, 400)))
        server.kube.create_many("nodes", nodes(50, start=MANY))
        tree.wait_equal("nodes")
        assert gone(tree) == keys(range(300, 400))
    kubesuite.sweep(server.kube)


@case
def kinds_of_every_form_are_held(server):
    server.kube.create_many("nodes", nodes(3))
    server.kube.create("pods", pod("p1", app="x"))
    server.kube.create("widgets", widget("w1", size=3, color="red", mode="busy"))
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()
        for resource in ("nodes", "pods", "namespaces", "widgets"):
            tree.wait_equal(resource)
            assert tree.kind(resource)["state"] == "synced"
        for resource in ("nodes", "pods", "widgets"):
            tree.wait_equal(resource, number=2)
        held = tree.fields("widgets/default/w1")
        assert (held["size"], held["color"], held["generation"]) == (3, "red", 1), held
        assert set(tree.fields("pods/default/p1", number=2)) == {"labels"}, "more than it asked for"
        assert tree.objects("namespaces", number=2) == {}, "a kind it did not ask for"


@case
def a_change_of_unrequested_fields_notifies_nobody(server):
    server.kube.create_many("nodes", nodes(2))
    server.kube.create("pods", pod("p1"))
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()
        tree.wait_equal("pods")
        before = [tree.counts(number) for number in (1, 2)]
        heartbeat = {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "x",
                                                "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        server.kube.merge("nodes", "n0", heartbeat, sub="status")
        for minute in range(5):
            heartbeat["status"]["conditions"][0]["lastHeartbeatTime"] = f"2026-01-01T00:0{minute}:00Z"
            server.kube.merge("nodes", "n0", heartbeat, sub="status")
        server.kube.merge("pods", "p1", {"status": {"phase": "Running"}}, sub="status")
        label(server, "n1", "fence")
        for number in (1, 2):
            wait_label(tree, "n1", "fence", number)
        wait_for(lambda: tree.fields("pods/default/p1")["phase"] == "Running", "the phase is seen")
        updates = [tree.counts(number)["updated"] - earlier["updated"]
                   for number, earlier in zip((1, 2), before)]
        assert updates == [3, 2], f"the condition, the fence, and for the first the phase: not {updates}"


@case
def a_relist_finds_what_was_missed(server):
    server.kube.create_many("nodes", nodes(50))
    server.kube.create("widgets", widget("kept", size=1))
    server.kube.create("widgets", widget("lost", size=1))
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.wait_equal("nodes")

        def changes(kube):
            kube.delete_many("nodes", names(range(10)))
            kube.create_many("nodes", nodes(5, start=50))
            kube.merge_many("nodes", names(range(20, 30)), {"metadata": {"labels": {"value": "missed"}}})
            kube.delete("widgets", "lost")
        server.behind(changes)
        tree.wait_equal("nodes")
        tree.wait_equal("widgets")
        assert gone(tree) == keys(range(10)) | {"widgets/default/lost"}
        label(server, "n49", "live")
        wait_label(tree, "n49", "live")
        assert tree.actor(WATCHER)["restarts"] == 0


@case
def a_restarted_consumer_gets_everything_again(server):
    server.kube.create_many("nodes", nodes(500))
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()
        before = len([row for row in server.audit() if row["verb"] in ("list", "watch")])
        for round_ in range(3):
            dead = tree.kill(reader(1))
            label(server, "n1", f"round-{round_}")
            server.kube.delete("nodes", f"n{100 + round_}")
            tree.wait_back(reader(1), dead)
            tree.wait_equal("nodes")
        tree.wait_equal("nodes", number=2)
        assert gone(tree, 2) == keys(range(100, 103))
        assert tree.actor(WATCHER)["restarts"] == 0
        after = len([row for row in server.audit() if row["verb"] in ("list", "watch")])
        assert after - before <= 20, f"{after - before} more requests for consumers that came back"


@case
def kube_watcher_dies_under_its_consumers_and_nothing_is_gone(server):
    server.kube.create_many("nodes", nodes(1000))
    with KubeTree(server, readers=2) as tree:
        tree.wait_synced()
        tree.wait_equal("nodes")
        for round_ in range(3):
            dead = tree.kill(WATCHER)
            held = tree.dump()
            assert len(held["objects"]) >= 990, "the mirror of a dead watcher stays readable"
            server.kube.delete("nodes", f"n{round_}")
            label(server, "n999", f"round-{round_}")
            tree.wait_back(WATCHER, dead)
            wait_label(tree, "n999", f"round-{round_}")
        for number in (1, 2):
            tree.wait_equal("nodes", number)
            assert gone(tree, number) == keys(range(3)), "just those that were deleted"
            assert tree.actor(reader(number))["restarts"] == 0


@case
def an_object_of_the_same_name_is_another_one(server):
    server.kube.create_many("nodes", nodes(3))
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.wait_equal("nodes")
        server.kube.delete("nodes", "n1")
        server.kube.create("nodes", {"metadata": {"name": "n1", "labels": {"value": "second"}}})
        tree.wait_equal("nodes")
        dead = tree.kill(WATCHER)
        server.kube.delete("nodes", "n2")
        server.kube.create("nodes", {"metadata": {"name": "n2"}})
        tree.wait_back(WATCHER, dead)
        tree.wait_equal("nodes")
        assert gone(tree) <= keys((1, 2))


@case
def an_interruption_makes_nothing_gone(server):
    server.kube.create_many("nodes", nodes(200))
    with KubeTree(server) as tree:
        tree.wait_synced()
        for round_ in range(2):
            server.interrupt()
            label(server, "n7", f"round-{round_}")
            wait_label(tree, "n7", f"round-{round_}")
        tree.wait_equal("nodes")
        assert gone(tree) == set()
        assert tree.actor(WATCHER)["restarts"] == 0


@case
def a_pause_of_the_server_makes_nothing_gone(server):
    server.kube.create_many("nodes", nodes(200))
    with KubeTree(server) as tree:
        tree.wait_synced()
        server.pause()
        try:
            wait_for(tree.dump, "the mirror answers")
            kubesuite.pause(5)
            assert len(tree.objects("nodes")) == 200
        finally:
            server.resume()
        label(server, "n7", "after")
        wait_label(tree, "n7", "after")
        tree.wait_equal("nodes")
        assert gone(tree) == set()


@case
def with_a_namespace_only_that_one_is_read(server):
    for namespace in ("default", "kube-system"):
        server.kube.create("pods", pod("p1", namespace))
        server.kube.create("widgets", widget("w1", size=1), namespace)
    with KubeTree(server, watcher={"namespace": "default"}) as tree:
        tree.wait_synced()
        tree.wait_equal("pods", namespace="default")
        tree.wait_equal("widgets", namespace="default")
        server.kube.create("pods", pod("p2", "kube-system"))
        server.kube.create("pods", pod("p2"))
        tree.wait_equal("pods", namespace="default")
        everywhere = [row for row in server.audit() if row["user-agent"].startswith("muster")
                      and row["resource"] == "pods" and row["namespace"] != "default"]
        assert everywhere == [], everywhere


def run(make, *more):
    kubesuite.run(make, *more, prepare=lambda server: server.install(kubecrds.widgets()))
