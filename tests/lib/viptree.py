"""tests/lib/viptree.py - a musterd with vip-claimer, on a muster-sim with the kinds of Cluster API.

    with claimer() as (server, tree):
        world = World(server)
        world.pool("cp")
        world.cluster("c1")
        world.wait_endpoint("c1", "10.2.0.20")

World makes objects in the form of v1beta2, or in that of v1beta1, on any server. Hooks calls them as Cluster
API does: paths in lower case, ?timeout=, no Content-Type.
"""
import base64
import contextlib
import http.client
import json
import re
import ssl
import urllib.parse

import anycrds
import kubecerts
from kubeservers import SimServer
from kubetree import KubeTree
from muster import BIN, wait_for

ACTOR = "vip-claimer"
CAPI, IPAM = "cluster.x-k8s.io", "ipam.cluster.x-k8s.io"
VIP = "vip.capi.gorizond.io/"
HOOKS = "hooks.runtime.cluster.x-k8s.io/v1alpha1"
CLUSTERS, CLASSES, CLAIMS, ADDRESSES = "clusters", "clusterclasses", "ipaddressclaims", "ipaddresses"
GLOBAL_POOLS, POOLS = "globalinclusterippools", "inclusterippools"
CORE, OLD = ("v1beta2", "v1beta1"), ("v1beta1",)
# plural: (group, kind, versions, namespaced)
KINDS = {CLUSTERS: (CAPI, "Cluster", CORE, True), CLASSES: (CAPI, "ClusterClass", CORE, True),
         CLAIMS: (IPAM, "IPAddressClaim", CORE, True), ADDRESSES: (IPAM, "IPAddress", CORE, True),
         GLOBAL_POOLS: (IPAM, "GlobalInClusterIPPool", ("v1alpha2",), False),
         POOLS: (IPAM, "InClusterIPPool", ("v1alpha2",), True)}

for _plural, (_group, _kind, _versions, _namespaced) in KINDS.items():
    anycrds.register(_group, _plural, _kind, _versions, _namespaced)


def crds(core=CORE, leave_out=()):
    """core: the versions of Cluster API's own kinds that are served."""
    return [anycrds.crd(group, plural, kind, core if versions == CORE else versions, namespaced)
            for plural, (group, kind, versions, namespaced) in KINDS.items() if plural not in leave_out]


class VipTree(KubeTree):
    """settings: of vip-claimer; actors: sections of others; killed: by crashsweep."""

    def __init__(self, server, settings=None, metrics=False, actors=None, killed=False, **more):
        super().__init__(server, readers=0, **more)
        self.command += ["--libexec-dir", str(BIN / "killed")] if killed else []
        self.authority = kubecerts.Authority(self.folder / "authority")
        self.tls_dir = self.folder / "tls"
        self.tls_dir.mkdir()
        self.write_certificate()
        self.settings.update({ACTOR: {"hook-bind-address": "127.0.0.1:0", "tls-dir": str(self.tls_dir),
                                      **(settings or {})}, **(actors or {})})
        shown = {"metrics-bind-address": "127.0.0.1:0", "health-probe-bind-address": "127.0.0.1:0"}
        self.configure({"supervisor": {"log-format": "json"},
                        "actors": {"metrics": shown if metrics else {"enabled": False}, **self.settings}})

    def write_certificate(self, name="hooks"):
        """As a Secret's mount replaces them: both files by one rename each."""
        pair = self.authority.sign(name, names="IP:127.0.0.1")
        for source, file in ((pair.key, "tls.key"), (pair.certificate, "tls.crt")):
            (self.tls_dir / ".new").write_bytes(source.read_bytes())
            (self.tls_dir / ".new").replace(self.tls_dir / file)
        return pair

    def hook_address(self):
        host, port = (self.run_dir / ACTOR / "hook.addr").read_text().strip().rsplit(":", 1)
        return host, int(port)

    def hooks(self, **more):
        return Hooks(self.hook_address(), str(self.authority.certificate), **more)

    def wait_hooks(self):
        """Until the hooks are served, whatever else is there."""
        def served():
            try:
                return self.hooks().discovery()["status"] == "Success"
            except OSError:
                return False
        wait_for(served, "discovery is answered")

    def explain(self, name, namespace="default"):
        return self.cli("explain", f"cluster/{namespace}/{name}").stdout

    def series(self, name):
        """The series of that metric: {labels: value}."""
        rows = re.findall(rf"^{name}{{([^}}]*)}} (\S+)$", self.metrics_page(), re.M)
        return {labels: float(value) for labels, value in rows if f'actor="{ACTOR}"' in labels}

    def total(self, name, *labels):
        return sum(value for row, value in self.series(name).items() if all(text in row for text in labels))

    def steps(self, cluster, namespace="default"):
        """The texts of the log lines about that Cluster, in their order, without those of the hooks."""
        return [fact["why"] for fact in self.facts(actor=ACTOR, cluster=f"{namespace}/{cluster}")
                if fact["msg"] != "a hook is answered"]


class Hooks:
    """extension: its name. pair: a client certificate."""

    def __init__(self, address, ca, extension="vip-allocator", pair=None, timeout=60):
        self.address, self.extension, self.timeout = address, extension, timeout
        self.context = ssl.create_default_context(cafile=ca)
        if pair is not None:
            self.context.load_cert_chain(pair.certificate, pair.key)

    def connect(self):
        return http.client.HTTPSConnection(*self.address, context=self.context, timeout=self.timeout)

    def send(self, method, path, body=b"", connection=None):
        """(code, headers, text)"""
        line = connection or self.connect()
        try:
            line.putrequest(method, path, skip_accept_encoding=True)
            line.putheader("User-Agent", "Go-http-client/1.1")
            line.putheader("Content-Length", str(len(body)))
            line.putheader("Accept-Encoding", "gzip")
            line.endheaders(body)
            answer = line.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            if connection is None:
                line.close()

    def path(self, hook, suffix=""):
        handler = f"/{self.extension}{suffix}" if suffix else ""
        return f"/{HOOKS}/{hook.lower()}{handler}?timeout=10s"

    def post(self, hook, suffix, request, connection=None):
        body = {"apiVersion": HOOKS, "kind": f"{hook}Request", **request}
        code, headers, text = self.send("POST", self.path(hook, suffix), json.dumps(body).encode(),
                                        connection)
        assert code == 200, f"{hook}: {code} {text}"
        assert headers["Content-Type"] == "application/json", headers
        answer = json.loads(text)
        assert answer["kind"] == f"{hook}Response" and answer["apiVersion"] == HOOKS, answer
        return answer

    def discovery(self):
        return self.post("Discovery", "", {})

    def before_create(self, cluster, connection=None):
        return self.post("BeforeClusterCreate", "-before-create", {"settings": {}, "cluster": cluster},
                         connection)

    def generate_patches(self, name, namespace="default", spec=None, uid=None):
        """For an infrastructure cluster template and a machine template of that Cluster."""
        holder = {"apiVersion": f"{CAPI}/v1beta2", "kind": "Cluster", "namespace": namespace, "name": name,
                  "fieldPath": "spec.infrastructureRef"}
        template = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "TestClusterTemplate",
                    "metadata": {"name": "t"}, "spec": {"template": {"spec": spec or {}}}}
        machine = {**template, "kind": "TestMachineTemplate"}
        value = {"cluster": {"name": name, "namespace": namespace, **({"uid": uid} if uid else {})}}
        return self.post("GeneratePatches", "-generate-patches", {
            "settings": {}, "variables": [{"name": "builtin", "value": value}],
            "items": [{"uid": "one", "holderReference": holder, "object": template},
                      {"uid": "two", "holderReference": {**holder, "fieldPath": "spec.machineTemplate"},
                       "object": machine}]})


def patches(answer):
    """{uid: operations} of an answer of GeneratePatches."""
    return {item["uid"]: json.loads(base64.b64decode(item["patch"])) for item in answer["items"]}


@contextlib.contextmanager
def claimer(core=CORE, leave_out=(), options=(), prepare=None, **more):
    """prepare(server): before musterd starts."""
    with SimServer(options=options) as server:
        server.install(*crds(core, leave_out))
        if prepare is not None:
            prepare(server)
        with VipTree(server, **more) as tree:
            tree.wait_running()
            yield server, tree


class World:
    """The objects of one namespace. version: of Cluster API, in whose form they are made."""

    def __init__(self, server, namespace="default", version="v1beta2"):
        self.server, self.kube = server, server.kube
        self.namespace, self.version = namespace, version

    def core(self, plural):
        return plural if self.version == "v1beta2" else f"{plural}.{self.version}"

    # -- objects

    def pool(self, name, cluster_class="rke2", role="control-plane", free=None, namespaced=False,
             lists=None, addresses=("10.2.0.20-10.2.0.120",), **meta):
        """free: what its status has; None: no status yet. lists: annotations instead of labels."""
        labels = {VIP + "cluster-class": cluster_class, VIP + "role": role}
        meta.setdefault("labels", {}).update({VIP + key: "true" for key in lists} if lists else labels)
        if lists:
            meta.setdefault("annotations", {}).update({VIP + key: text for key, text in lists.items()})
        plural, where = (POOLS, self.namespace) if namespaced else (GLOBAL_POOLS, None)
        self.kube.create(plural, {"metadata": {"name": name, **meta}, "spec": {
            "addresses": list(addresses), "prefix": 16, "gateway": "10.2.0.1"}}, where)
        if free is not None:
            self.free(name, free, namespaced)

    def free(self, name, free, namespaced=False):
        plural, where = (POOLS, self.namespace) if namespaced else (GLOBAL_POOLS, None)
        self.kube.merge(plural, name, {"status": {"ipAddresses": {
            "total": 100, "free": free, "used": 100 - free, "outOfRange": 0}}}, where, sub="status")

    def cluster_class(self, name="rke2", variables=()):
        rows = [{"name": row, "required": False, "schema": {"openAPIV3Schema": {"type": "string"}}}
                for row in variables]
        return self.kube.create(self.core(CLASSES), {"metadata": {"name": name}, "spec": {"variables": rows}},
                                self.namespace)

    def topology(self, cluster_class="rke2", class_namespace=None, variables=None):
        rows = {"version": "v1.33.0", **({"variables": variables} if variables is not None else {})}
        if self.version == "v1beta2":
            reference = {"name": cluster_class,
                         **({"namespace": class_namespace} if class_namespace else {})}
            return {"classRef": reference, **rows}
        return {"class": cluster_class, **({"classNamespace": class_namespace} if class_namespace else {}),
                **rows}

    def cluster(self, name, cluster_class="rke2", class_namespace=None, variables=None, endpoint=None,
                paused=None, **meta):
        spec = {}
        if cluster_class is not None:
            spec["topology"] = self.topology(cluster_class, class_namespace, variables)
        if endpoint is not None:
            spec["controlPlaneEndpoint"] = endpoint
        elif self.version == "v1beta1":
            spec["controlPlaneEndpoint"] = {"host": "", "port": 0}      # it always writes both
        if paused is not None:
            spec["paused"] = paused
        return self.kube.create(self.core(CLUSTERS), {"metadata": {"name": name, **meta}, "spec": spec},
                                self.namespace)

    def get(self, name):
        return self.kube.get(self.core(CLUSTERS), name, self.namespace)

    def request(self, name):
        """The Cluster as a hook gets it."""
        found = self.get(name)
        found.pop("status", None)
        return {"apiVersion": f"{CAPI}/{self.version}", "kind": "Cluster", **found}

    def endpoint(self, name):
        return self.get(name)["spec"].get("controlPlaneEndpoint") or {}

    def claim(self, name):
        return self.kube.find(CLAIMS, name, self.namespace)

    def claims(self):
        return self.kube.names(CLAIMS, self.namespace)

    # -- IPAM

    def ipam(self, **keys):
        """That of muster-sim: enabled, delay_ms (-1: never), conditions."""
        return self.server.order("POST", "capi", {"op": "ipam", **keys})

    def used(self, pool, plural=GLOBAL_POOLS):
        found = self.kube.get(plural, pool, None if plural == GLOBAL_POOLS else self.namespace)
        return found.get("status", {}).get("ipAddresses", {}).get("used")

    def fulfil(self, cluster, address, name=None, prefix="vip-cp-"):
        """As the in-cluster provider does: an IPAddress of the claim's name, then the claim's status."""
        claim = wait_for(lambda: self.claim(prefix + cluster), f"the claim of {cluster}")
        self.kube.create(ADDRESSES, {
            "metadata": {"name": name or prefix + cluster},
            "spec": {"claimRef": {"name": prefix + cluster}, "poolRef": claim["spec"]["poolRef"],
                     "address": address, "prefix": 16, "gateway": "10.2.0.1"}}, self.namespace)
        self.kube.merge(CLAIMS, prefix + cluster, {"status": {"addressRef": {
            "name": name or prefix + cluster}}}, self.namespace, sub="status")
        return claim

    # -- waiting

    def events(self, name):
        """[(type, reason, note)] of the Events about that Cluster."""
        return [(event["type"], event["reason"], event.get("note", ""))
                for event in self.kube.list("events", self.namespace)["items"]
                if event["regarding"]["name"] == name and event["regarding"]["kind"] == "Cluster"]

    def wait_event(self, name, reason, text=""):
        try:
            wait_for(lambda: any(row == reason and text in note for _, row, note in self.events(name)),
                     f"{name}: Event {reason} with {text!r}")
        except AssertionError as late:
            raise AssertionError(f"{late}: {self.events(name)}") from None

    def wait_claim(self, name, prefix="vip-cp-"):
        return wait_for(lambda: self.claim(prefix + name), f"the claim of {name}")

    def wait_endpoint(self, name, host, port=6443):
        def there():
            found.update(endpoint=self.endpoint(name))
            return found["endpoint"].get("host") == host
        found = {}
        try:
            wait_for(there, f"{name} has the endpoint {host}")
        except AssertionError as late:
            raise AssertionError(f"{late}: {found['endpoint']}, {self.events(name)}") from None
        assert found["endpoint"] == {"host": host, "port": port}, found

    def wait_any_endpoint(self, name):
        return wait_for(lambda: self.endpoint(name).get("host"), f"{name} has an endpoint")


def writes(server):
    """Everything that muster wrote, without its Lease and its Events."""
    return [row for row in server.audit() if row["verb"] not in ("get", "list", "watch")
            and row["resource"] not in ("leases", "events") and "muster" in row["user-agent"]]


def query(path):
    return urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
