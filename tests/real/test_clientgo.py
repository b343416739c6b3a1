"""tests/real/test_clientgo.py - a program built on client-go works on the real server and on muster-sim.

tests/real/go/clientgo is that program. Each of its cases runs on both.

muster-test: parallel
muster-test: timeout=900
"""
import contextlib
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubetools
import tap
from kubeservers import RealServer, SimServer

CASE_S = 120


def run(program, server, name):
    done = subprocess.run([program, "-kubeconfig", str(server.kubeconfig), name],
                          text=True, timeout=CASE_S, env=server.environment(), stdin=subprocess.DEVNULL,
                          capture_output=True)
    # A Go panic begins with its text; the stacks of the goroutines are left out.
    why = done.stderr.split("\ngoroutine ")[0]
    assert done.returncode == 0, f"exit code {done.returncode}: {why}"


def add(program, server, name):
    def case():
        run(program, server, name)
    case.__name__ = f"{server.name}: {name}"
    tap.case(case)


def main():
    try:
        program, servers = kubetools.path("clientgo"), [RealServer(), SimServer()]
    except tap.Skip as why:
        print(f"1..0 # SKIP {str(why).splitlines()[0]}", flush=True)
        return
    names = subprocess.run([program, "-list"], text=True, check=True, capture_output=True).stdout.splitlines()
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.enter_context(server).install(kubecrds.widgets())
            server.expire()         # so that version 1 can no longer be watched from, which a case relies on
            for name in names:
                add(program, server, name)
        tap.main()


if __name__ == "__main__":
    main()
