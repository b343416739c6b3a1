"""tests/e2e/test_capi.py - vip-claimer and the real Cluster API manager, with the files of deploy/vip.

V1 to V4, V6, V7, V9, V11 to V13.

The kinds and webhooks are real, with real certificates; IPAM, infrastructure and the garbage collector are
played (ipamprovider). The hooks are reached by the shipped ExtensionConfig, and the account of musterd has
the shipped rights.

muster-test: parallel
muster-test: timeout=900
"""
import base64
import os
import pathlib
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from capiserver import CapiServer
from capiworld import CLASS, LONG_S, SHIPPED, World
from ipamprovider import IpamProvider, collect_garbage, provision
from kube import RESOURCES, Resource
from kubesuite import case
from muster import ROOT, wait_for
from providercrds import GLOBAL_POOLS
from viptree import VipTree

CERT_MANAGER = ("github.com/cert-manager/cert-manager", "v1.21.2", "deploy/crds")
NAMESPACE, EXTENSION = "muster-system", "vip-allocator"
TIGHT, BARE = "tight", "without-hooks"
BUDGET = "3s"           # before-create-timeout
RESOURCES["services"] = Resource("api/v1", "Service")


class Account:
    """The ServiceAccount that deploy/rbac.yaml makes, and the Secret with the certificate of the hooks."""

    def __init__(self, server):
        server.apply(ROOT / "deploy" / "rbac.yaml")
        made = server.kubectl("create", "token", "muster", "-n", NAMESPACE, "--duration=24h")
        assert made.returncode == 0, made.stderr
        self.token = made.stdout.strip()
        self.folder = server.folder / "hook-tls"
        self.folder.mkdir()
        self.server = server
        self.renew()

    def renew(self):
        """As a kubelet mounts it; a file that changes is replaced."""
        printed = subprocess.run([SHIPPED / "secret.sh"], check=True, capture_output=True, text=True).stdout
        self.server.apply(printed)
        secret = self.server.kube.get("secrets", f"vip-claimer-tls", NAMESPACE)
        assert secret["type"] == "kubernetes.io/tls", secret["type"]
        for name in ("tls.crt", "tls.key"):
            fresh = self.folder / f".{name}"
            fresh.write_bytes(base64.b64decode(secret["data"][name]))
            fresh.chmod(0o600)
            fresh.replace(self.folder / name)


class ShippedTree(VipTree):
    """musterd with vip-claimer, as the shipped files expect it."""

    def __init__(self, server, account, **settings):
        super().__init__(server, token=account.token, watcher={
            "leader-elect": True, "leader-elect-lease-duration": "15s", "lease-namespace": NAMESPACE},
            settings={"hook-bind-address": f"127.0.0.1:{server.hook_port}", "tls-dir": str(account.folder),
                      "before-create-timeout": BUDGET, **settings})


def prepare(server):
    """What all cases share: one observer, one IPAM, one musterd."""
    server.world, server.account = World(server), Account(server)
    server.ipam = IpamProvider(server.kube)
    server.ipam.__enter__()
    server.tree = ShippedTree(server, server.account)
    server.tree.__enter__()
    server.tree.wait_running()


class Server(CapiServer):
    """Ends what prepare has begun, after the last case."""
    world = account = ipam = tree = None

    def __exit__(self, kind, value=None, *rest):
        failed = kind if kind is not SystemExit or value.code else None
        try:
            if self.tree:
                self.tree.__exit__(failed, value, *rest)
            if self.ipam:
                self.ipam.__exit__()
        finally:
            if self.world:
                self.world.__exit__()
            super().__exit__(kind, value, *rest)


def discovered(server, version=""):
    """The handlers of the ExtensionConfig once they are discovered in its newest form."""
    item = server.kube.get("extensionconfigs" + version, EXTENSION)
    for row in item.get("status", {}).get("conditions", []):
        if row["type"] == "Discovered" and row["status"] == "True":
            return item["status"].get("handlers")
    return None


@case
def V13_V1_the_hooks_are_discovered_with_the_shipped_files_of_both_versions(server):
    world = server.world
    world.apply("service.yaml")
    for version in ("v1alpha1", "v1beta2"):
        world.apply(f"extensionconfig-{version}.yaml")
        rows = wait_for(lambda: discovered(server), f"{version}: Discovered, "
                        f"{server.kube.get('extensionconfigs', EXTENSION).get('status')}", LONG_S)
        assert [(row["name"], row["requestHook"]["hook"], row["timeoutSeconds"], row["failurePolicy"])
                for row in rows] == [
            (f"vip-allocator-before-create.{EXTENSION}", "BeforeClusterCreate", 10, "Fail"),
            (f"vip-allocator-generate-patches.{EXTENSION}", "GeneratePatches", 10, "Fail")], rows
        old = server.kube.get("extensionconfigs.v1alpha1", EXTENSION)
        assert old["apiVersion"] == "runtime.cluster.x-k8s.io/v1alpha1" and old["status"]["handlers"], old
    bundle = server.kube.get("extensionconfigs", EXTENSION)["spec"]["clientConfig"]["caBundle"]
    assert bundle == server.kube.get("secrets", "vip-claimer-tls", NAMESPACE)["data"]["ca.crt"]


@case
def V13_the_shipped_certificate_and_pools_are_accepted(server):
    server.install(*kubecrds.from_module(CERT_MANAGER, "issuers", "certificates"))
    server.world.apply("certificate.yaml")
    server.world.apply("pools.yaml")
    certificate = server.kube.call(
        "GET", f"apis/cert-manager.io/v1/namespaces/{NAMESPACE}/certificates/vip-claimer")
    extension = server.kube.get("extensionconfigs", EXTENSION)
    service = extension["spec"]["clientConfig"]["service"]
    assert f"{service['name']}.{service['namespace']}.svc" in certificate["spec"]["dnsNames"]
    injected = extension["metadata"]["annotations"]["runtime.cluster.x-k8s.io/inject-ca-from-secret"]
    assert injected == f"{NAMESPACE}/{certificate['spec']['secretName']}", injected
    ports = server.kube.get("services", service["name"], service["namespace"])["spec"]["ports"]
    assert [(row["port"], row["targetPort"]) for row in ports] == [(service["port"], 9443)], ports
    pools = server.kube.list(GLOBAL_POOLS)["items"]
    wait_for(lambda: all(server.ipam.free(pool["metadata"]["name"]) for pool in pools), "all are counted")


def shipped_example(server, namespace, version):
    """The shipped Clusters: one gets its address before it is rendered, the other has its own (V6)."""
    world = server.world
    world.shipped_class(namespace, version)
    world.apply(f"cluster-{version}.yaml", namespace)
    world.wait_rendered(namespace, "team-a")
    world.check_first_attempt(namespace, "team-a")
    world.check_one_claim(namespace, "team-a")
    pool = server.kube.get("ipaddressclaims", "vip-cp-team-a", namespace)["spec"]["poolRef"]
    assert (pool["kind"], pool["name"]) == ("GlobalInClusterIPPool", "control-plane"), pool
    infra, control = world.wait_rendered(namespace, "team-a-manual")
    manual = {"host": "192.0.2.5", "port": 6443}
    assert world.endpoint(namespace, "team-a-manual") == manual
    assert infra["spec"]["controlPlaneEndpoint"] == manual, infra["spec"]
    assert control["spec"]["registrationAddress"] == manual["host"], control["spec"]
    assert (infra["metadata"]["generation"], control["metadata"]["generation"]) == (1, 1)
    # A Cluster that never waited may be rendered before this replica has read it: GeneratePatches is a
    # Failure then, and Cluster API repeats the pass. So it is not checked that none of its passes fails.
    assert sorted(world.claims(namespace)) == ["vip-cp-team-a"], sorted(world.claims(namespace))
    return infra


@case
def V2_V6_V7_V11_a_Cluster_has_its_VIP_before_it_is_rendered(server):
    world = server.world
    shipped_example(server, "new", "v1beta2")
    assert "VIPAllocated" in world.events("new", "team-a"), world.events("new", "team-a")
    # The infrastructure is there: Cluster API reads the endpoint of its objects, and changes none.
    infra, _ = world.rendered("new", "team-a")
    provision(server.kube, "new", infra["metadata"]["name"])
    wait_for(lambda: world.cluster("new", "team-a")["status"].get("initialization", {}).get(
        "infrastructureProvisioned"), "the infrastructure is provisioned", LONG_S)
    world.check_first_attempt("new", "team-a")


@case
def V13_V2_V7_V11_the_same_with_objects_of_v1beta1(server):
    shipped_example(server, "old", "v1beta1")


@case
def V3_an_exhausted_pool_is_reported_and_the_wait_ends_when_it_grows(server):
    world, ipam = server.world, server.ipam
    world.make_class("tight", TIGHT)
    ipam.make_pool(TIGHT, TIGHT, ["192.0.2.100-192.0.2.100"])
    wait_for(lambda: ipam.free(TIGHT) == 1, "the pool is counted")
    world.make_cluster("tight", "first", TIGHT)
    world.wait_rendered("tight", "first")
    world.make_cluster("tight", "second", TIGHT)
    world.wait_blocked("tight", "second", f"the pool is exhausted, add addresses or free some: pool {TIGHT}")
    wait_for(lambda: TIGHT in world.events("tight", "second").get("VIPWaiting", ""), "a Warning", LONG_S)
    server.kube.merge(GLOBAL_POOLS, TIGHT, {"spec": {"addresses": ["192.0.2.100-192.0.2.101"]}})
    world.wait_rendered("tight", "second")
    world.check_first_attempt("tight", "second")
    world.check_one_claim("tight", "second")
    assert world.address("tight", "second") != world.address("tight", "first")


@case
def V6_deleting_the_Cluster_frees_the_address(server):
    world, ipam, kube = server.world, server.ipam, server.kube
    given = world.address("tight", "first")
    assert ipam.free(TIGHT) == 0
    kube.delete("clusters", "first", "tight")
    wait_for(lambda: kube.find("clusters", "first", "tight") is None, "the Cluster is gone", LONG_S)
    assert "vip-cp-first" in collect_garbage(kube)
    wait_for(lambda: ipam.free(TIGHT) == 1, "its address is free", LONG_S)
    assert "vip-cp-first" not in world.claims("tight")
    # Under the same name again: another Cluster, another claim.
    world.make_cluster("tight", "first", TIGHT)
    world.wait_rendered("tight", "first")
    world.check_one_claim("tight", "first")
    assert world.address("tight", "first") == given


@case
def V4_the_manager_restarts_while_vip_claimer_is_up(server):
    """Its webhooks are away meanwhile: no claim is fulfilled, and no Cluster can be patched."""
    world = server.world
    server.ipam.hold()
    world.make_cluster("new", "manager-restart", CLASS)
    world.wait_blocked("new", "manager-restart", "vip-cp-manager-restart")
    server.stop_manager(signal.SIGKILL)
    server.ipam.release()
    server.start_manager()
    world.wait_rendered("new", "manager-restart")
    world.check_first_attempt("new", "manager-restart")
    world.check_one_claim("new", "manager-restart")


@case
def V4_vip_claimer_restarts_while_the_manager_is_up(server):
    """The actor first, while a Cluster waits; then all of musterd, while one is created."""
    world, tree = server.world, server.tree
    server.ipam.hold()
    world.make_cluster("new", "actor-restart", CLASS)
    world.wait_blocked("new", "actor-restart", "vip-cp-actor-restart")
    os.kill(tree.actor("vip-claimer")["pid"], signal.SIGKILL)
    wait_for(lambda: tree.actors().get("vip-claimer", {}).get("restarts", 0) > 0, "it was restarted")
    tree.wait_running()
    server.ipam.release()
    world.wait_rendered("new", "actor-restart")
    world.check_one_claim("new", "actor-restart")
    assert tree.stop() == 0
    # failurePolicy Fail: nothing is rendered without an address while nobody answers.
    world.make_cluster("new", "musterd-restart", CLASS)
    wait_for(lambda: world.condition("new", "musterd-restart")[1] == "ReconcileFailed", "the call fails",
             LONG_S)
    assert world.rendered("new", "musterd-restart") is None
    tree.start()
    infra, control = world.wait_rendered("new", "musterd-restart")
    assert infra["spec"]["controlPlaneEndpoint"]["host"] == world.address("new", "musterd-restart")
    assert (infra["metadata"]["generation"], control["metadata"]["generation"]) == (1, 1)
    world.check_one_claim("new", "musterd-restart")


@case
def V9_a_new_certificate_is_used_by_both_without_a_restart(server):
    before = server.kube.get("extensionconfigs", EXTENSION)["spec"]["clientConfig"]["caBundle"]
    server.account.renew()
    wait_for(lambda: server.kube.get("extensionconfigs", EXTENSION)["spec"]["clientConfig"]["caBundle"]
             != before, "Cluster API has the new authority", LONG_S)
    server.world.make_cluster("new", "new-certificate", CLASS)
    server.world.wait_rendered("new", "new-certificate")
    assert server.tree.actor("vip-claimer")["restarts"] == 0, "it was started anew with the last case"


@case
def V6_without_the_hooks_the_reconciler_alone_gives_the_address(server):
    """The flag: no hook is served, and no ExtensionConfig is needed. A class must not name its handlers."""
    world = server.world
    server.kube.delete("extensionconfigs", EXTENSION)
    server.tree.__exit__(None)
    server.tree = ShippedTree(server, server.account, **{"enable-runtime-extension": False})
    server.tree.__enter__()
    server.tree.wait_running()
    world.make_class("bare", BARE, hook=False)
    server.ipam.make_pool(BARE, BARE, ["192.0.2.110-192.0.2.119"])
    world.make_cluster("bare", "c1", BARE)
    world.make_cluster("bare", "manual", BARE, host="192.0.2.6")
    wait_for(lambda: world.endpoint("bare", "c1").get("host"), "the endpoint is set", LONG_S)
    _, control = world.wait_rendered("bare", "c1")
    address = world.address("bare", "c1")
    assert world.endpoint("bare", "c1") == {"host": address, "port": 6443}
    wait_for(lambda: world.rendered("bare", "c1")[1]["spec"].get("registrationAddress") == address,
             "clusterVip reaches the control plane", LONG_S)
    world.wait_rendered("bare", "manual")
    assert world.endpoint("bare", "manual") == {"host": "192.0.2.6", "port": 6443}
    assert sorted(world.claims("bare")) == ["vip-cp-c1"], sorted(world.claims("bare"))
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", server.hook_port)) != 0, "a hook is served"


@case
def V13_the_shipped_rights_were_enough(server):
    server.audit_from = 0
    rows = [row for row in server.audit() if row["user"].endswith(f":{NAMESPACE}:muster")]
    assert {row["verb"] for row in rows} >= {"watch", "create", "patch"}, len(rows)
    refused = [row for row in rows if row["code"] == 403]
    assert refused == [], refused


@case
def V13_every_shipped_file_was_applied(server):
    # The list of kustomize is no object: real/test_manifests applies what it names.
    manifests = {file.name for file in SHIPPED.glob("*.yaml")} - {"kustomization.yaml"}
    assert manifests == server.world.applied, manifests ^ server.world.applied


kubesuite.run(Server, prepare=prepare)
