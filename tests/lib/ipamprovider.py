"""tests/lib/ipamprovider.py - what other controllers do, played: IPAM, infrastructure, garbage collector.

    with IpamProvider(server.kube) as ipam:     # gives each claim the first free address of its pool
        ipam.make_pool("cp", "rke2", ["192.0.2.10-192.0.2.11"])
        ipam.hold()                             # until release(): gives nothing
    collect_garbage(server.kube)

It does as the in-cluster provider does: finalizers, no conditions, no address for a claim that names a
missing or paused Cluster, numbers in the status of each pool, an IPAddress named as its claim.
"""
import contextlib
import ipaddress
import threading

from kube import KubeError
from providercrds import GLOBAL_POOLS, IPAM, POOLS

RELEASE = f"{IPAM}/ReleaseAddress"
CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
PREFIX = "vip.capi.gorizond.io/"
EVERY_S = 0.05


class IpamProvider:
    def __init__(self, kube):
        self.kube, self.error = kube, None
        self.running, self.held, self.ended = threading.Event(), False, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        assert self.error is None, f"the IPAM of the test failed: {self.error!r}"

    def hold(self):
        self.held = True

    def release(self):
        self.held = False

    def run(self):
        while not self.ended.wait(EVERY_S):
            try:
                self.step()
            except KubeError as error:
                # Changed meanwhile, or the webhooks of Cluster API are away: the next step tries again.
                if error.code not in (404, 409, 500):
                    self.error = error
                    return
            except OSError:
                pass                                    # the server is not there just now

    # -- pools

    def make_pool(self, name, cluster_class, addresses, namespace=None, **more):
        """more: labels below the prefix, as priority."""
        labels = {"cluster-class": cluster_class, "role": "control-plane", **more}
        return self.kube.create(POOLS if namespace else GLOBAL_POOLS, {
            "metadata": {"name": name, "labels": {PREFIX + key: value for key, value in labels.items()}},
            "spec": {"addresses": addresses, "prefix": 24, "gateway": "192.0.2.1"}}, namespace)

    def free(self, name, namespace=None):
        """What the status of the pool has."""
        pool = self.kube.get(POOLS if namespace else GLOBAL_POOLS, name, namespace)
        return pool.get("status", {}).get("ipAddresses", {}).get("free")

    # -- one turn

    def step(self):
        clusters = {key(item): item for item in self.items("clusters")}
        pools = {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): item
                 for plural in (GLOBAL_POOLS, POOLS) for item in self.items(plural)}
        claims, given = self.items("ipaddressclaims"), self.items("ipaddresses")
        for claim in claims:
            pool = pools.get(pool_key(claim))
            if claim["metadata"].get("deletionTimestamp"):
                self.release_address(claim)
            elif pool is not None and not self.held and not claim.get("status", {}).get("addressRef") \
                    and is_active(claim, clusters):
                self.allocate(claim, pool, given)
        for name, pool in pools.items():
            self.count(name, pool)

    def items(self, plural):
        found = self.kube.list(plural)
        return [{"kind": found["kind"].removesuffix("List"), **item} for item in found["items"]]

    def allocate(self, claim, pool, given):
        meta, spec = claim["metadata"], claim["spec"]
        if RELEASE not in meta.get("finalizers", []):
            self.kube.merge("ipaddressclaims", meta["name"], {"metadata": {
                "resourceVersion": meta["resourceVersion"],
                "finalizers": [*meta.get("finalizers", []), RELEASE]}}, meta["namespace"])
            return              # next turn
        own = [row for row in given if key(row) == key(claim)]
        if not own:
            used = {row["spec"]["address"] for row in given if pool_key(row) == pool_key(claim)}
            left = [address for address in addresses(pool) if address not in used]
            if not left:
                return
            reference = {"apiVersion": claim.get("apiVersion", f"{IPAM}/v1beta2"), "kind": "IPAddressClaim",
                         "name": meta["name"], "uid": meta["uid"], "controller": True}
            own = [self.kube.create("ipaddresses", {
                "metadata": {"name": meta["name"], "ownerReferences": [reference]},
                "spec": {"claimRef": {"name": meta["name"]}, "poolRef": spec["poolRef"], "address": left[0],
                         "prefix": pool["spec"]["prefix"], "gateway": pool["spec"]["gateway"]}},
                meta["namespace"])]
            given += own
        self.kube.merge("ipaddressclaims", meta["name"], {"status": {"addressRef": {"name": meta["name"]}}},
                        meta["namespace"], "status")

    def release_address(self, claim):
        meta = claim["metadata"]
        with contextlib.suppress(KubeError):
            self.kube.delete("ipaddresses", meta["name"], meta["namespace"])
        left = [name for name in meta.get("finalizers", []) if name != RELEASE]
        self.kube.merge("ipaddressclaims", meta["name"], {"metadata": {"finalizers": left}},
                        meta["namespace"])

    def count(self, name, pool):
        kind, namespace, own = name
        used = sum(1 for row in self.items("ipaddresses") if pool_key(row) == name)
        total = len(addresses(pool))
        counts = {"total": total, "used": used, "free": total - used, "outOfRange": 0}
        if pool.get("status", {}).get("ipAddresses") != counts:
            self.kube.merge(POOLS if namespace else GLOBAL_POOLS, own, {"status": {"ipAddresses": counts}},
                            namespace or None, "status")


def key(item):
    return item["metadata"]["namespace"], item["metadata"]["name"]


def pool_key(claim):
    """Of a claim, or of an IPAddress."""
    reference = claim["spec"]["poolRef"]
    namespace = claim["metadata"]["namespace"] if reference["kind"] == "InClusterIPPool" else ""
    return reference["kind"], namespace, reference["name"]


def is_active(claim, clusters):
    name = claim["spec"].get("clusterName") or claim["metadata"].get("labels", {}).get(CLUSTER_NAME)
    if not name:
        return True
    cluster = clusters.get((claim["metadata"]["namespace"], name))
    return cluster is not None and not cluster["spec"].get("paused")


def addresses(pool):
    """All that it may give, in their order."""
    spec, found = pool["spec"], []
    for text in spec["addresses"]:
        if "-" in text:
            first, last = map(ipaddress.ip_address, text.split("-"))
            found += [str(first + number) for number in range(int(last) - int(first) + 1)]
        else:
            found += [str(address) for address in ipaddress.ip_network(text, strict=False)]
    outside = {spec.get("gateway"), *spec.get("excludedAddresses", [])}
    return [address for address in found if address not in outside]


def provision(kube, namespace, name):
    """The infrastructure is there. name: of the infrastructure cluster."""
    kube.merge("proxmoxclusters", name, {"status": {"ready": True}}, namespace, "status")


def collect_garbage(kube, plurals=("ipaddressclaims", "proxmoxclusters", "rke2controlplanes")):
    """Deletes what is owned by objects that are gone. Returns their names."""
    uids = {item["metadata"]["uid"] for plural in ("clusters", *plurals)
            for item in kube.list(plural)["items"]}
    gone = []
    for plural in plurals:
        for item in kube.list(plural)["items"]:
            meta = item["metadata"]
            owners = [row["uid"] for row in meta.get("ownerReferences", [])]
            if owners and not uids & set(owners) and not meta.get("deletionTimestamp"):
                kube.delete(plural, meta["name"], meta["namespace"], uid=meta["uid"])
                gone.append(meta["name"])
    return gone
