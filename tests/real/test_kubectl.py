"""tests/real/test_kubectl.py - kubectl prints the same on muster-sim as on the real server.

muster-test: parallel
muster-test: timeout=900
"""
import contextlib
import difflib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubescript
import kubesuite
import tap
from kubeservers import RealServer, SimServer


def compare(servers, name):
    real, sim = (kubescript.Transcript(server).run(name) for server in servers)
    differences = [difference(title, ours, theirs)
                   for (title, theirs), (_, ours) in zip(real, sim) if ours != theirs]
    assert not differences, f"{len(differences)} of {len(real)} steps differ\n" + "\n".join(differences)


def difference(title, ours, theirs):
    rows = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "real", "sim", lineterm="", n=1)
    return "\n".join([f"$ {title}", *rows])


def follow(server):
    """get -w beside changes: what it printed."""
    kubesuite.sweep(server.kube)
    server.kube.create("nodes", {"metadata": {"name": "w1"}})
    watching = kubescript.Watching(server, "nodes", "-w", "--output-watch-events", "--show-labels")
    watching.wait_lines(2)
    server.kube.create("nodes", {"metadata": {"name": "w2"}})
    server.kube.merge("nodes", "w1", {"metadata": {"labels": {"color": "red"}}})
    server.kube.delete("nodes", "w2")
    watching.wait_lines(5)
    return watching.end()


def follow_widgets(server):
    """The same for a custom resource, from now on, with a selector, as JSON of one field."""
    kubesuite.sweep(server.kube)
    server.kube.create("widgets", {"metadata": {"name": "w0", "labels": {"a": "b"}}, "spec": {"size": 1}})
    watching = kubescript.Watching(server, "widgets", "-l", "a=b", "-w", "-o", "jsonpath={.spec.size}{'\\n'}")
    watching.wait_lines(1)
    for size in (2, 3):
        server.kube.merge("widgets", "w0", {"spec": {"size": size}})
    server.kube.create("widgets", {"metadata": {"name": "w1"}, "spec": {"size": 9}})
    server.kube.merge("widgets", "w0", {"spec": {"size": 4}})
    watching.wait_lines(4)
    return watching.end()


def same(servers, act):
    real, sim = map(act, servers)
    assert real == sim, difference("kubectl get -w", sim, real)


def api_resources(servers):
    """The simulator serves fewer kinds; what it serves is listed as the real one lists it."""
    real, sim = map(table, servers)
    for wanted in (("nodes", "v1"), ("pods", "v1"), ("secrets", "v1"), ("namespaces", "v1"),
                   ("serviceaccounts", "v1"), ("leases", "coordination.k8s.io/v1"),
                   ("events", "events.k8s.io/v1"), ("widgets", "test.muster.dev/v1")):
        assert wanted in sim, f"{wanted} is not listed: {sorted(sim)}"
    differing = [f"- {real.get(key)}\n+ {row}" for key, row in sim.items() if real.get(key) != row]
    assert not differing, "\n".join(differing)


def table(server):
    """(name, apiVersion) -> the row, by the columns of the header."""
    done = server.kubectl("api-resources", "-o", "wide")
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    starts = [match.start() for match in re.finditer(r"\S+", header)]
    rows = [[line[a:b].strip() for a, b in zip(starts, [*starts[1:], None])] for line in lines]
    return {(row[0], row[2]): row for row in rows}


def add(name, function, *arguments):
    def case():
        function(*arguments)
    case.__name__ = name
    tap.case(case)


def main():
    try:
        servers = [RealServer(), SimServer()]
    except tap.Skip as why:
        print(f"1..0 # SKIP {str(why).splitlines()[0]}", flush=True)
        return
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.enter_context(server).install(kubecrds.widgets())
        for name in kubescript.SCRIPTS:
            add(name, compare, servers, name)
        add("get -w with its events", same, servers, follow)
        add("get -w of a custom resource", same, servers, follow_widgets)
        add("api-resources", api_resources, servers)
        tap.main()


if __name__ == "__main__":
    main()
