"""tests/lib/demo.py - ./dev demo: a producer and three consumers under musterd, a death, a recovery."""
import os
import signal
import sys
import time

import muster

CONSUMERS = [f"test-consumer-{n}" for n in (1, 2, 3)]
CONFIG = {
    "supervisor": {"log-format": "console"},
    "actors": {
        "test-producer": {"keys": 1000, "rate": 500, "churn": 50},
        **{name: {} for name in CONSUMERS},
        "metrics": {
            "metrics-bind-address": f"127.0.0.1:{muster.free_port()}",
            "health-probe-bind-address": f"127.0.0.1:{muster.free_port()}",
        },
    },
}


def headline(text):
    print(f"\n== {text}", flush=True)


def show(tree, *arguments):
    print(f"$ muster {' '.join(arguments)}\n{tree.cli(*arguments).stdout}", end="", flush=True)


def main():
    began = time.monotonic()
    victim = CONSUMERS[1]
    with muster.Muster(CONFIG) as tree, open(tree.log_path, errors="replace") as log:
        headline("one producer, three consumers and metrics start")
        tree.wait_running()
        up_s = time.monotonic() - began
        print(log.read(), end="")
        headline("the tree")
        show(tree, "status")
        headline("what passes between them: each line is one message on the bus")
        show(tree, "tap", "--link", "samples", "-n", "8")

        headline(f"kill -9 {victim}")
        before, killed = tree.actor(victim), time.monotonic()
        os.kill(before["pid"], signal.SIGKILL)
        muster.wait_for(lambda: tree.actor(victim)["incarnation"] > before["incarnation"], "it is back")
        tree.wait_running()
        back_s = time.monotonic() - killed
        print(log.read(), end="")
        show(tree, "status")

        headline("stop, stage by stage")
        code = tree.stop()
        print(log.read(), end="")
    headline("summary")
    print(f"all actors running and synced after {up_s:.1f} s; the killed one back, with all its keys, "
          f"after {back_s:.1f} s;\nmusterd stopped everything and exited with {code}.")
    sys.exit(code)


if __name__ == "__main__":
    main()
