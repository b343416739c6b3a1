"""tests/lib/kubeservers.py - two Kubernetes API servers with one interface: the real one, and muster-sim.

    with RealServer() as server:                  etcd and kube-apiserver in a folder of their own
    with SimServer(nodes=100) as server:          muster-sim of the build under test
        server.kube.create("nodes", {"metadata": {"name": "n1"}})
        server.kubectl("get", "nodes")
        server.audit()                            who asked for what, and what was answered

Whatever happens, nothing of it is left running; after a failure the ends of the logs are shown.
"""
import base64
import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

import kubecerts
import kubetools
import muster
import procs
import tap
from kube import Kube
from muster import wait_for

ADMIN = "admin-token"
LOG_TAIL = 30
START_S = 120

AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                "rules": [{"level": "Metadata"}]}


class Server:
    """The interface of both servers."""
    url = control = None

    def __init__(self, users=None):
        """users: {token: (name, [group...])} beside the administrator."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kube-", dir="/tmp"))
        self.kubeconfig = self.folder / "kubeconfig"
        self.users = {ADMIN: ("admin", ["system:masters"]), **(users or {})}
        self.token = ADMIN
        self.token_file = self.folder / "tokens"
        with open(self.token_file, "w", newline="") as tokens:
            for token, (user, groups) in self.users.items():
                csv.writer(tokens).writerow([token, user, user, ",".join(groups)])
        self.processes = {}
        self.installed = []
        self.kube = None

    def __enter__(self):
        try:
            self.start()
        except BaseException as wrong:
            self.__exit__(type(wrong), wrong)
            raise
        return self

    def __exit__(self, kind, value=None, *_):
        """A case that failed has shown its own error: then only the errors of the server are shown."""
        cases = kind is SystemExit
        unasked = kind is None or issubclass(kind, (tap.Skip, KeyboardInterrupt))
        if not (unasked or (cases and not value.code)):
            for log in sorted(self.folder.glob("*.log")):
                lines = [line for line in log.read_text(errors="replace").splitlines()
                         if not cases or line[:1] in "EF" or log.name == "muster-sim.log"]
                tap.note(f"the last {min(LOG_TAIL, len(lines))} lines of {log.name}")
                tap.note("\n".join(lines[-LOG_TAIL:]))
        self.end()

    def end(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, token=None, user_agent="kube-test"):
        return Kube(self.url, token or self.token, self.ca(), user_agent)

    def kubectl(self, *arguments, stdin=None, timeout=60):
        """Runs the real kubectl; the result has returncode, stdout, stderr."""
        command = [kubetools.path("kubectl"), "--kubeconfig", str(self.kubeconfig), *map(str, arguments)]
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        return subprocess.run(command, text=True, capture_output=True, timeout=timeout,
                              env=self.environment(), **given)

    def environment(self):
        """For programs with a cache of discovery documents in their home: a home of this server alone."""
        return dict(os.environ, HOME=str(self.folder), KUBECONFIG=str(self.kubeconfig), LC_ALL="C")

    def write_kubeconfig(self, path, token):
        ca = {}
        if self.ca():
            text = base64.b64encode(pathlib.Path(self.ca()).read_bytes()).decode()
            ca["certificate-authority-data"] = text
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url, **ca}}],
            "users": [{"name": "test", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}))
        path.chmod(0o600)
        return path

    def user_kubeconfig(self, token):
        """A kubeconfig of one of the users."""
        return self.write_kubeconfig(self.folder / f"kubeconfig-{self.users[token][0]}", token)

    def touch(self):
        """Changes an object: even the newest version that a client has seen is an old one now."""
        self.kube.merge("namespaces", "default", {"metadata": {"labels": {"touched": os.urandom(6).hex()}}})

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def spawn(self, name, command, **more):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stderr=log, cwd=self.folder,
                preexec_fn=procs.die_with_parent, **{"stdout": log, **more})
        return self.processes[name]

    def install(self, *crds):
        """CustomResourceDefinitions, as dicts or as files of YAML; returns when they are served."""
        for crd in crds:
            text = crd.read_text() if isinstance(crd, pathlib.Path) else json.dumps(crd)
            made = self.kube.call("POST", "apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=text,
                                  content="application/yaml")
            self.installed.append(made["metadata"]["name"])
        self.wait_served()

    def wait_served(self):
        """Until every kind that a test installed is served, from the watch cache too."""
        for name in self.installed:
            wait_for(lambda: self.established(name), f"{name} is served")

    def established(self, name):
        crd = self.kube.find("customresourcedefinitions", name)
        if crd is None:
            return True         # a test took it away again
        conditions = {c["type"]: c["status"] for c in crd.get("status", {}).get("conditions") or []}
        if conditions.get("Established") != "True":
            return False
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        paths = [f"apis/{group}/{v['name']}/{plural}" for v in crd["spec"]["versions"] if v["served"]]
        return all(self.kube.raw("GET", path, query={"resourceVersion": "0"}).code == 200 for path in paths)


class RealServer(Server):
    """etcd: which of kubetools.TOOLS; flags: more of them for kube-apiserver."""
    name = "real"

    def __init__(self, users=None, etcd="etcd", flags=()):
        self.programs = {name: kubetools.path(name) for name in (etcd, "kube-apiserver")}
        super().__init__(users)
        self.etcd_program, self.flags = etcd, list(flags)
        self.etcd_url = None
        self.audit_log, self.audit_from = self.folder / "audit.jsonl", 0
        (self.folder / "audit.json").write_text(json.dumps(AUDIT_POLICY))
        subprocess.run(["openssl", "genrsa", "-out", str(self.folder / "accounts.key"), "2048"],
                       check=True, capture_output=True)

    def ca(self):
        """The file has the certificate of the server and that of the authority made up for it."""
        return str(self.folder / "certs" / "apiserver.crt")

    def start(self):
        """Ports are chosen free; if another process binds one first, others are chosen."""
        for attempt in range(5):
            try:
                self.start_etcd(muster.free_port(), muster.free_port())
                self.start_apiserver(muster.free_port())
                break
            except PortTaken:
                tap.note("a port was taken, choosing others")
                self.stop_process("etcd", signal.SIGKILL)
        else:
            raise AssertionError("no free ports")
        self.write_kubeconfig(self.kubeconfig, self.token)
        wait_for(lambda: self.kube.find("namespaces", "default"), "the namespace default", START_S)

    def start_etcd(self, port, peer):
        self.etcd_url = f"http://127.0.0.1:{port}"
        self.etcd_command = [
            self.programs[self.etcd_program], "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
            "--log-level=warn",
            "--listen-client-urls", self.etcd_url, "--advertise-client-urls", self.etcd_url,
            "--listen-peer-urls", f"http://127.0.0.1:{peer}"]
        self.spawn("etcd", self.etcd_command)
        self.wait_ready("etcd", self.etcd_ready)

    def start_apiserver(self, port):
        self.url = f"https://127.0.0.1:{port}"
        self.apiserver_command = [
            self.programs["kube-apiserver"], f"--etcd-servers={self.etcd_url}", f"--secure-port={port}",
            "--bind-address=127.0.0.1", f"--cert-dir={self.folder}/certs",
            f"--service-account-key-file={self.folder}/accounts.key",
            f"--service-account-signing-key-file={self.folder}/accounts.key",
            "--service-account-issuer=https://kubernetes.default.svc", f"--token-auth-file={self.token_file}",
            "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount", f"--audit-policy-file={self.folder}/audit.json",
            f"--audit-log-path={self.audit_log}", *self.flags]
        self.run_apiserver()

    def run_apiserver(self):
        self.spawn("kube-apiserver", self.apiserver_command)
        self.wait_ready("kube-apiserver", self.apiserver_ready)

    def wait_ready(self, name, ready):
        def settled():
            if self.processes[name].poll() is not None:
                if "address already in use" in self.log(name):
                    raise PortTaken(name)
                raise AssertionError(f"{name} ended with {self.processes[name].returncode}")
            return ready()
        wait_for(settled, f"{name} is ready", START_S)

    def etcd_ready(self):
        try:
            return self.etcd("maintenance/status").get("leader")
        except OSError:
            return False

    def apiserver_ready(self):
        try:
            self.kube = self.kube or self.client()
        except OSError:
            return False        # its certificate is not there yet
        return _ready(self.kube)

    # -- what can happen to it

    def stop_process(self, name, number=signal.SIGTERM):
        process = self.processes.get(name)
        if process is not None and process.poll() is None:
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            process.wait(60)

    def stop(self, number=signal.SIGKILL):
        """Ends the kube-apiserver; etcd keeps its objects."""
        self.stop_process("kube-apiserver", number)

    def restart(self, number=signal.SIGKILL):
        """The same address again, with an empty watch cache."""
        self.stop(number)
        self.run_apiserver()
        self.wait_served()

    def pause(self):
        procs.freeze(self.processes["kube-apiserver"].pid)

    def resume(self):
        self.processes["kube-apiserver"].send_signal(signal.SIGCONT)

    def etcd(self, call, **body):
        """One call through etcd's JSON gateway."""
        request = urllib.request.Request(f"{self.etcd_url}/v3/{call}", data=json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def compact(self):
        """etcd forgets all history up to now. Returns the revision."""
        revision = self.etcd("maintenance/status")["header"]["revision"]
        self.etcd("kv/compaction", revision=revision, physical=True)
        return int(revision)

    def interrupt(self):
        """Every connection breaks, for a moment there is no answer; nothing is lost."""
        self.restart()

    @contextlib.contextmanager
    def unreachable(self):
        """Connections are refused meanwhile."""
        self.stop()
        try:
            yield
        finally:
            self.run_apiserver()
            self.wait_served()

    def behind(self, changes):
        """changes(kube) happen while no client can watch, and no version from before can be watched from.
        They are made through a second server on the same etcd."""
        self.stop()
        port = muster.free_port()
        words = [f"--secure-port={port}" if word.startswith("--secure-port=") else word
                 for word in self.apiserver_command]
        other = Kube(f"https://127.0.0.1:{port}", self.token, self.ca())
        self.spawn("other-apiserver", words)
        self.wait_ready("other-apiserver", lambda: _ready(other))
        changes(other)
        self.stop_process("other-apiserver", signal.SIGKILL)
        self.compact()
        self.run_apiserver()
        self.wait_served()

    def expire(self):
        """Every resource version handed out until now is too old to watch from: such a watch gets a 410."""
        self.touch()
        self.compact()
        self.restart()

    def forget_audit(self):
        """From now on audit() returns only later requests."""
        self.audit_from = self.audit_log.stat().st_size if self.audit_log.exists() else 0

    def audit(self):
        """One row per request, oldest first; a watch stands there from its beginning."""
        rows = {}
        with open(self.audit_log, "rb") as log:
            log.seek(self.audit_from)
            lines = log.read().splitlines()
        for line in lines:
            entry = json.loads(line)
            about = entry.get("objectRef", {})
            rows[entry["auditID"]] = {
                "verb": entry["verb"], "user": entry["user"].get("username", ""),
                **{key: about.get(key, "") for key in ("resource", "subresource", "namespace", "name")},
                "user-agent": entry.get("userAgent", ""), "uri": entry["requestURI"],
                "code": entry.get("responseStatus", {}).get("code", 0),
                "time": entry["requestReceivedTimestamp"]}
        return list(rows.values())


class SimServer(Server):
    """muster-sim; options: more of its command line. tls: only so is a token shown, and a user known."""
    name = "sim"

    def __init__(self, users=None, options=(), tls=False):
        self.program = muster.BIN / "muster-sim"
        assert self.program.exists(), f"{self.program} was not built"
        super().__init__(users)
        self.options = list(options)
        self.addresses = ["127.0.0.1:0", "127.0.0.1:0"]
        self.authority = kubecerts.Authority(self.folder / "certs") if tls else None
        if tls:
            self.pair = pair = self.authority.sign("server", names="IP:127.0.0.1")
            self.options += ["--tls-cert", pair.certificate, "--tls-key", pair.key]

    def ca(self):
        return str(self.authority.certificate) if self.authority else None

    def start(self):
        kube, control = self.addresses
        process = self.spawn("muster-sim", [
            self.program, "--kube", kube, "--control", control, "--token-file", self.token_file,
            "--write-kubeconfig", self.kubeconfig, *self.options], stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        found = re.match(r"muster-sim: kube (https?://\S+) control (http://\S+)", line)
        assert found, f"muster-sim printed {line!r}"
        self.url, self.control = found.groups()
        words = line.split()[1:]
        self.urls = dict(zip(words[::2], words[1::2]))      # those of provider APIs among them
        self.addresses = [url.split("://")[1] for url in found.groups()]
        self.kube = self.client()

    def order(self, method, path, body=None):
        """One request to the control endpoint."""
        return Kube(self.control).call(method, path, body=body)

    def forget_audit(self):
        self.order("DELETE", "audit")

    def audit(self):
        """The same rows as RealServer.audit."""
        return [{**row, "code": row["code"] or 0} for row in self.order("GET", "audit")]

    def stop(self, number=signal.SIGKILL):
        """Nobody answers any more. A simulator keeps nothing: the next one on this address is empty."""
        process = self.processes["muster-sim"]
        process.send_signal(number)
        process.wait(60)
        process.stdout.close()

    def pause(self):
        procs.freeze(self.processes["muster-sim"].pid)

    def resume(self):
        self.processes["muster-sim"].send_signal(signal.SIGCONT)

    def interrupt(self):
        self.order("POST", "disconnect")

    @contextlib.contextmanager
    def unreachable(self):
        self.order("POST", "down")
        try:
            yield
        finally:
            self.order("POST", "up")

    def behind(self, changes):
        """Requests with the user agent muster are dropped meanwhile."""
        self.order("POST", "faults", {"kind": "drop_connection", "user_agent": "muster", "count": -1})
        self.interrupt()
        changes(self.kube)
        self.order("POST", "compact")
        self.order("DELETE", "faults")

    def expire(self):
        self.touch()
        self.order("POST", "compact")
        self.interrupt()


class PortTaken(Exception):
    """Another process bound the port first."""


def _ready(kube):
    try:
        return kube.raw("GET", "readyz").code == 200
    except OSError:
        return False
