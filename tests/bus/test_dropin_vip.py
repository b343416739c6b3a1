"""tests/bus/test_dropin_vip.py - musterd in the place of capi-vip-allocator: V1, V6, V9, V10, health, Lease.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecerts
import tap
from kubeservers import SimServer
from muster import BIN, USER, Muster, wait_for
from viptree import ACTOR, Hooks, World, crds, patches

NAME, LEASE = "capi-vip-allocator", "capi-vip-allocator.gorizond.io"
ANY = "127.0.0.1:0"


class DropIn(Muster):
    """As a Deployment of the original runs it: a name, flags, no file."""

    def __init__(self, server, *flags):
        super().__init__("")
        self.config.unlink()
        self.authority = kubecerts.Authority(self.folder / "authority")
        tls, pair = self.folder / "tls", self.authority.sign("hooks", names="IP:127.0.0.1")
        tls.mkdir()
        (tls / "tls.key").write_bytes(pair.key.read_bytes())
        (tls / "tls.crt").write_bytes(pair.certificate.read_bytes())
        self.command = [str(BIN / NAME), "--kubeconfig", str(server.kubeconfig), f"--tls-dir={tls}",
                        f"--metrics-bind-address={ANY}", f"--health-probe-bind-address={ANY}", *flags,
                        *(f"--{name}={value}" for name, value in USER.items())]
        self.env["MUSTER_RUN_DIR"] = str(self.run_dir)

    def hook_address(self):
        return self.run_dir / ACTOR / "hook.addr"

    def hooks(self, extension):
        port = int(self.hook_address().read_text().strip().rsplit(":", 1)[1])
        return Hooks(("127.0.0.1", port), str(self.authority.certificate), extension=extension)

    def get(self, which, path):
        address = self.run_dir / "metrics" / f"{which}.addr"
        with urllib.request.urlopen(f"http://{address.read_text().strip()}{path}", timeout=20) as answer:
            return answer.read().decode()


@tap.case
def V1_V6_V9_V10_it_gives_addresses_serves_hooks_health_and_metrics_and_holds_the_Lease_of_the_original():
    with SimServer() as server:
        server.install(*crds())
        world = World(server)
        world.cluster_class()
        world.pool("cp")
        world.ipam()
        with DropIn(server, "--leader-elect", "--runtime-extension-port=0", "--default-port=8443",
                    "--runtime-extension-name=vip", "--enable-reconciler") as tree:
            tree.wait_running(ACTOR, "kube-watcher", "metrics")
            world.cluster("c1")
            world.wait_endpoint("c1", "10.2.0.20", 8443)
            hooks = tree.hooks("vip")
            names = [row["name"] for row in hooks.discovery()["handlers"]]
            assert names == ["vip-before-create", "vip-generate-patches"], names
            assert hooks.before_create(world.request("c1"))["retryAfterSeconds"] == 0
            given = wait_for(lambda: patches(hooks.generate_patches("c1")), "the address is given")
            assert given["one"][0]["value"] == {"host": "10.2.0.20", "port": 8443}, given
            leases = server.kube.list("leases")["items"]
            assert [row["metadata"]["name"] for row in leases] == [LEASE], leases
            assert leases[0]["spec"]["holderIdentity"], leases
            wait_for(lambda: tree.get("health", "/readyz").endswith("ok"), "it is ready")
            wait_for(lambda: "capi_vip_allocator_allocations_total" in tree.get("metrics", "/metrics"),
                     "its metrics")
            assert tree.stop() == 0


@tap.case
def V6_without_the_runtime_extension_there_is_no_hook_and_the_address_is_given():
    with SimServer() as server:
        server.install(*crds())
        world = World(server)
        world.cluster_class()
        world.pool("cp")
        world.ipam()
        with DropIn(server, "--enable-runtime-extension=false") as tree:
            tree.wait_running(ACTOR, "kube-watcher", "metrics")
            world.cluster("c1")
            world.wait_endpoint("c1", "10.2.0.20")
            assert not tree.hook_address().exists()


tap.main()
