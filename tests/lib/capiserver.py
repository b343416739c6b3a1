"""tests/lib/capiserver.py - a real API server with the real Cluster API: its manager, kinds and webhooks.

    with CapiServer() as server:
        server.apply(ROOT / "deploy/vip/clusterclass-v1beta2.yaml", "team-a")
        server.kube.create("clusters", ...)
        server.manager_errors("topology/cluster")   # reconciles that failed, from its log

The gates ClusterTopology and RuntimeSDK are on. The manager converts between the versions of its kinds and
checks what is written; its webhooks have a certificate of the test. Providers are played by the test
(ipamprovider). A Service has no address here: the manager reaches that of the hooks, HOOKS, through a proxy
which leads to hook_port of 127.0.0.1, so that ExtensionConfig and certificate are used as they are.
"""
import base64
import contextlib
import json
import re
import signal
import socket

import kubecerts
import kubecrds
import kubetools
import muster
import providercrds
from kube import RESOURCES, KubeError, Resource
from kubefaults_proxy import Proxy
from kubeservers import START_S, RealServer
from muster import wait_for

CORE, IPAM, RUNTIME, ADDONS = (f"{part}cluster.x-k8s.io" for part in ("", "ipam.", "runtime.", "addons."))
# All that the manager works with: it does not start without them.
KINDS = ("clusterclasses", "clusters", "machines", "machinesets", "machinedeployments", "machinedrainrules",
         "machinepools", "machinehealthchecks", "clusterresourcesets", "clusterresourcesetbindings",
         "extensionconfigs", "ipaddresses", "ipaddressclaims")
VERSIONS = ("v1beta1", "v1beta2")
MANAGER = "capi-manager"
HOOKS = "vip-claimer.muster-system.svc:443"

for _version in VERSIONS:
    _suffix = "" if _version == "v1beta2" else f".{_version}"
    for _group, _plural, _kind in ((CORE, "clusters", "Cluster"), (CORE, "clusterclasses", "ClusterClass"),
                                   (CORE, "machinedeployments", "MachineDeployment"),
                                   (CORE, "machines", "Machine"), (CORE, "machinesets", "MachineSet"),
                                   (IPAM, "ipaddressclaims", "IPAddressClaim"),
                                   (IPAM, "ipaddresses", "IPAddress")):
        RESOURCES[_plural + _suffix] = Resource(f"apis/{_group}/{_version}", _kind)
RESOURCES["extensionconfigs"] = Resource(f"apis/{RUNTIME}/v1beta2", "ExtensionConfig", namespaced=False)
RESOURCES["extensionconfigs.v1alpha1"] = Resource(f"apis/{RUNTIME}/v1alpha1", "ExtensionConfig",
                                                  namespaced=False)


class CapiServer(RealServer):
    """hook_port: where the test serves the hooks, if it does."""
    name = "capi"

    def __init__(self, **more):
        self.manager_program = kubetools.path(MANAGER)
        self.source = kubetools.module(*kubecrds.CAPI[:2])
        # It requires what an ownerReference with blockOwnerDeletion may need elsewhere (OpenShift has it).
        super().__init__(flags=["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"], **more)
        self.hook_port = muster.free_port()
        self.proxy = Proxy(names={HOOKS: f"127.0.0.1:{self.hook_port}"})
        self.authority = kubecerts.Authority(self.folder / "webhook")
        pair = self.authority.sign("tls", names="IP:127.0.0.1")
        assert (pair.certificate.name, pair.key.name) == ("tls.crt", "tls.key")
        self.port, self.health = muster.free_port(), None

    def start(self):
        super().start()
        self.proxy.__enter__()
        self.install_kinds()
        self.install(*providercrds.crds())
        self.start_manager()
        self.install_webhooks()

    def end(self):
        super().end()
        if self.proxy.thread.is_alive():
            self.proxy.__exit__()

    # -- kinds and webhooks

    def client_config(self, path):
        """Of a webhook."""
        bundle = base64.b64encode(self.authority.certificate.read_bytes()).decode()
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": bundle}

    def install_kinds(self):
        """As config/crd of Cluster API has them: with labels of its contracts, and conversion."""
        self.install(*kubecrds.from_module(kubecrds.CAPI, *KINDS))
        webhook = {"conversionReviewVersions": ["v1"], "clientConfig": self.client_config("/convert")}
        for name in self.installed:
            self.kube.merge("customresourcedefinitions", name, {
                "metadata": {"labels": {f"{CORE}/{version}": version for version in VERSIONS}},
                "spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}})

    def install_webhooks(self):
        """The file of Cluster API, with the address of this manager instead of its Service."""
        text = (self.source / "config/webhook/manifests.yaml").read_text()
        for document in filter(str.strip, re.split(r"^---$", text, flags=re.M)):
            document, count = re.subn(r"( *)clientConfig:\n(?:\1 +.*\n)*?\1 +path: (\S+)\n",
                                      lambda found: f"{found[1]}clientConfig: "
                                      f"{json.dumps(self.client_config(found[2]))}\n", document)
            kind = re.search(r"^kind: (\w+)$", document, re.M)[1]
            assert count > 5, f"{kind} has {count} webhooks"
            self.kube.call("POST", f"apis/admissionregistration.k8s.io/v1/{kind.lower()}s", body=document,
                           content="application/yaml")
        # A server learns of them by a watch: one that must refuse shows that they are in force.
        wait_for(self.refuses, "the webhooks are in force", START_S)

    def refuses(self):
        nothing = {"metadata": {"name": "webhook-probe"}, "spec": {"topology": {
            "classRef": {"name": "none"}, "version": "not a version"}}}
        try:
            self.kube.create("clusters", nothing, "default", dryRun="All")
        except KubeError as error:
            return "version" in str(error) and "admission webhook" in str(error)
        return False

    # -- the manager

    def start_manager(self):
        self.health = muster.free_port()
        environment = dict(self.environment(), HTTPS_PROXY=self.proxy.url, NO_PROXY="")
        self.spawn(MANAGER, [
            self.manager_program, "--feature-gates=ClusterTopology=true,RuntimeSDK=true",
            f"--webhook-port={self.port}", f"--webhook-cert-dir={self.authority.folder}",
            f"--health-addr=127.0.0.1:{self.health}", "--diagnostics-address=127.0.0.1:0",
            "--insecure-diagnostics"], env=environment)
        self.wait_ready(MANAGER, self.manager_ready)

    def manager_ready(self):
        for port in (self.health, self.port):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                continue
            return False
        return True

    def stop_manager(self, number=signal.SIGTERM):
        self.stop_process(MANAGER, number)

    def manager_errors(self, controller=None):
        """Lines of the log; controller: those of its reconciles that failed."""
        rows = [line for line in self.log(MANAGER).splitlines() if line.startswith("E")]
        return [row for row in rows if controller is None or
                ('"Reconciler error"' in row and f'controller="{controller}"' in row)]

    # -- objects

    def apply(self, manifest, namespace=None):
        """A file, or its text, by kubectl."""
        text = manifest if isinstance(manifest, str) else manifest.read_text()
        words = ["-n", namespace] if namespace else []
        done = self.kubectl("apply", "--server-side", "--force-conflicts", *words, "-f", "-", stdin=text)
        assert done.returncode == 0, f"{'' if isinstance(manifest, str) else manifest}: {done.stderr}"
        return done.stdout
