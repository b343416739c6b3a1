"""tests/lib/providers.py - a provider API of muster-sim: what tests read of it and do to it.

    with Provider("linode") as linode:
        linode.url, linode.token_file                   # for the settings of an actor
        linode.fault("lost", "create-pool")         # the next one has its effect and no answer
        linode.state()                                  # what the provider has, whatever its answers show
        linode.audit("POST")                            # every call, with its effect and the id of its token

    with Provider("linode", join=True) as linode: linode.server.kube    # its machines are Nodes there

Several on one muster-sim: each gets the SimServer before that starts, and is entered after it.
"""
import contextlib
import json

from kube import Kube
from kubeservers import SimServer

TOKENS = {"one": "token-of-the-test-provider"}


class Provider:
    """tokens: {id: token}; the first one is in token_file. speed: the machines live so much faster.
    server: the SimServer that has it; without one it has its own."""

    def __init__(self, name, join=False, speed=10, tokens=None, options=(), tls=False, server=None):
        self.name = name
        self.tokens = dict(tokens or TOKENS)
        self.token = next(iter(self.tokens.values()))
        self.shared = server is not None
        self.server = server or SimServer(options=["--speed", speed, *options], tls=tls)
        folder = self.server.folder
        self.token_file, self.audit_file = folder / f"{name}-token", folder / "provider-audit.jsonl"
        self.token_file.write_text(self.token)
        self.token_file.chmod(0o600)
        self.server.options += [f"--{name}", "127.0.0.1:0", f"--{name}-join", "yes" if join else "no"]
        if "--provider-audit" not in self.server.options:
            self.server.options += ["--provider-audit", self.audit_file]
        for known, token in self.tokens.items():
            self.server.options += [f"--{name}-token", f"{token}={known}"]
        self.url = self.api = None

    def __enter__(self):
        if not self.shared:
            self.server.__enter__()
        self.url = self.server.urls[self.name]
        self.api = Kube(self.url, self.token, self.server.ca())     # for calls by hand
        return self

    def __exit__(self, *wrong):
        if not self.shared:
            self.server.__exit__(*wrong)

    # -- what the provider has

    def state(self):
        """Without a call of the API: no fault hits it, and nothing lags."""
        return self.server.order("GET", "providers")["apis"][self.name]["state"]

    def audit(self, method=None):
        """One row per call that has ended, in that order: method, path, class, token (its id), effect, code,
        at_ms and effect_at_ms (CLOCK_MONOTONIC)."""
        text = self.audit_file.read_text()
        rows = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [row for row in rows if row["api"] == self.name and method in (None, row["method"])]

    def effects(self, method=None):
        """The rows of calls that changed something, in the order of the changes."""
        rows = [row for row in self.audit(method) if row["effect"]]
        return sorted(rows, key=lambda row: row["effect_at_ms"])

    # -- what happens to it

    def fault(self, kind, call_class=None, **keys):
        """docs/simulator.md has the kinds, and the classes of calls; default all of them."""
        which = {"class": call_class} if call_class else {}
        return self.server.order("POST", "faults", {"kind": kind, "api": self.name, **which, **keys})["id"]

    def clear_faults(self):
        self.server.order("DELETE", "faults")

    def hits(self, fault):
        """How often that fault has hit a call."""
        return next(row["hits"] for row in self.server.order("GET", "faults") if row["id"] == fault)

    def command(self, op, **keys):
        return self.server.order("POST", "providers", {"api": self.name, "op": op, **keys})

    def limit(self, call_class, calls, window_s=60):
        """At most that many calls per window and token; 0: no limit, as at the start."""
        self.command("limit", **{"class": call_class, "limit": calls, "window_ms": int(window_s * 1000)})

    def add_token(self, name, token):
        self.command("token", token=token, id=name)

    def remove_token(self, token):
        self.command("token", token=token)

    def set(self, key, value):
        """A setting of the model."""
        self.command("set", key=key, value=value)

    @contextlib.contextmanager
    def unreachable(self):
        """Connections are refused meanwhile."""
        self.command("down")
        try:
            yield
        finally:
            self.command("up")
