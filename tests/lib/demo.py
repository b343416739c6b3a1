"""tests/lib/demo.py - ./dev demo: a simulated cluster whose nodes come, change and go, seen through the bus.

    muster-sim  ->  kube-watcher  ->  test-kube-1 (stands for the actors to come)
"""
import argparse
import signal
import sys
import time

import muster
from kubeservers import SimServer
from kubetree import KubeTree

NODES, CHURN, ROWS = 40, 8, 12
LIVE_S = 10


def headline(text):
    print(f"\n== {text}", flush=True)


def show(tree, *arguments):
    print(f"$ muster {' '.join(arguments)}\n{tree.cli(*arguments).stdout}", end="", flush=True)


class Fleet:
    """The nodes as the test actor holds them, and what became of them since the last look."""

    def __init__(self, tree):
        self.tree, self.seen, self.news = tree, {}, {}

    def look(self):
        now = self.tree.objects("nodes")
        moment = time.monotonic()
        for key in now.keys() | self.seen.keys():
            if key not in now:
                self.news[key] = (moment, "gone")
            elif key not in self.seen:
                self.news[key] = (moment, "new")
            elif now[key]["rv"] != self.seen[key]["rv"]:
                self.news[key] = (moment, changed(self.seen[key]["fields"], now[key]["fields"]))
        self.seen = now
        return now

    def lines(self):
        nodes = self.look()
        latest = sorted(self.news, key=lambda key: self.news[key][0], reverse=True)[:ROWS]
        ready = sum(is_ready(row["fields"]) for row in nodes.values())
        yield f"{len(nodes)} nodes, {ready} ready; the latest changes:"
        yield f"  {'NODE':<14}{'READY':<8}{'TAINTS':<34}{'WHAT HAPPENED':<30}"
        for key in latest:
            row = nodes.get(key) or {"fields": {}}
            fields = row["fields"]
            taints = ",".join(taint[0].split("/")[-1] for taint in fields.get("taints", []))
            state = "-" if key not in nodes else "yes" if is_ready(fields) else "no"
            yield f"  {key.removeprefix('nodes/'):<14}{state:<8}{taints[:32]:<34}{self.news[key][1][:30]:<30}"


def is_ready(fields):
    return any(condition[:2] == ["Ready", "True"] for condition in fields.get("conditions", []))


def changed(before, after):
    names = [name for name in after if before.get(name) != after[name]]
    return ", ".join(names) or "nothing we read"


def live(fleet, seconds):
    """Redraws in place on a terminal; elsewhere the first and the last picture."""
    terminal, until = sys.stdout.isatty(), time.monotonic() + seconds
    fleet.look()
    drawn = 0
    while time.monotonic() < until:
        time.sleep(0.5 if terminal else seconds)
        if drawn and terminal:
            print(f"\x1b[{drawn}A\x1b[J", end="")
        lines = list(fleet.lines())
        print("\n".join(lines), flush=True)
        drawn = len(lines)


def kill_watcher(tree, log):
    headline("kill -9 kube-watcher, the one that holds the cluster credential")
    before, gone = tree.actor("kube-watcher")["incarnation"], tree.counts()["gone"]
    began = time.monotonic()
    tree.kill("kube-watcher")
    tree.wait_back("kube-watcher", before)
    tree.wait_synced()
    took, lost = time.monotonic() - began, tree.counts()["gone"] - gone
    print(log.read(), end="")
    really = "none was reported gone" if lost == 0 else f"{lost} really went meanwhile"
    print(f"back and complete after {took:.1f} s; of {len(tree.objects('nodes'))} nodes {really}", flush=True)
    return took


def stay(tree, server):
    headline("it stays up until you press Ctrl-C")
    print(f"cluster:  KUBECONFIG={server.kubeconfig} kubectl get nodes -w\n"
          f"inside:   MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster tap --link kube.test-1\n"
          f"faults:   curl -X POST {server.control}/faults -d '{{\"kind\": \"status\", \"code\": 429}}'")
    try:
        signal.pause()
    except KeyboardInterrupt:
        print()


def main():
    options = argparse.ArgumentParser(prog="./dev demo", description="A simulated cluster, watched.")
    options.add_argument("--stay", action="store_true", help="leave it running, and say how to look at it")
    options.add_argument("--seconds", type=int, default=LIVE_S, help="of the live view (%(default)s)")
    asked = options.parse_args()
    with SimServer(options=["--nodes", str(NODES), "--churn", str(CHURN)]) as server:
        headline(f"muster-sim serves a cluster of {NODES} nodes with {CHURN} changes a second")
        print(f"KUBECONFIG={server.kubeconfig} kubectl get nodes")
        with KubeTree(server, console=True) as tree, open(tree.log_path, errors="replace") as log:
            began = time.monotonic()
            headline("musterd starts kube-watcher, and an actor that reads through it")
            tree.wait_synced()
            up_s = time.monotonic() - began
            print(log.read(), end="")
            show(tree, "status")
            headline("the fleet, as the actor holds it")
            live(Fleet(tree), asked.seconds)
            headline("what passes between them: each line is one message on the bus")
            show(tree, "tap", "--link", "kube.test-1", "--key", "nodes/*", "-n", "6")
            back_s = kill_watcher(tree, log)
            headline("a write goes the other way: actor, kube-watcher, apiserver, and back into the mirror")
            name = sorted(tree.objects("nodes"))[0]
            answer = tree.write("merge", "nodes", name.removeprefix("nodes/"),
                                body={"metadata": {"labels": {"demo.muster.dev/seen": "yes"}}})
            print(f"{name}: {answer['outcome']}, resourceVersion {answer['rv']}, label in the mirror: "
                  f"{tree.fields(name)['labels'].get('demo.muster.dev/seen')}")
            if asked.stay:
                stay(tree, server)
            headline("stop, stage by stage")
            code = tree.stop()
            print(log.read(), end="")
    headline("summary")
    print(f"complete picture {up_s:.1f} s after the start; kube-watcher killed and back after "
          f"{back_s:.1f} s, nothing lost;\nmusterd stopped everything and exited with {code}.")
    sys.exit(code)


if __name__ == "__main__":
    main()
