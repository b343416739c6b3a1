"""tests/real/test_linodego.py - the official SDK of the Linode API and ours on muster-sim: C3, C8, C11, C12.

tests/real/go/linodego makes every call of wire.c with the SDK, in both tiers. What it sends must be what
wire.c sends, and what it reads must be what answers.c reads of the same bytes.

muster-test: parallel
muster-test: timeout=600
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubetools
import procs
import tap
from muster import wait_for
from providers import Provider

OURS = pathlib.Path(os.environ["MUSTER_BIN"]) / "muster-test-linode"
TIERS = {"standard": 70001, "enterprise": 70002}
REGION = "us-ord"
# The kind of answer that a call has; a DELETE has none that is read.
KINDS = {"create-pool": "pool", "scale-pool": "pool", "tag-instance": "instance",
         "delete-pool": None, "delete-node": None}
# Recorded answers of the API have them, and the SDK does not.
UNKNOWN = {"clusters": {"locks"}, "cluster": {"locks"}, "pools": {"locks"}, "create-pool": {"locks"},
           "scale-pool": {"locks"}, "instances": {"site_type"}, "tag-instance": {"site_type"}}
# The API has them only in some accounts, in v4beta, or in Enterprise.
OPTIONAL = {"subnet_id", "vpc_id", "stack_type", "tier", "k8s_version", "update_strategy", "firewall_id",
            "locks", "control_plane.acl", "control_plane.audit_logs_enabled"}


class Sdk:
    """Both programs on one API. Every call is made by the SDK, then its bytes are given to ours."""

    def __init__(self, linode, tier, version="v4beta"):
        self.linode, self.tier, self.version, self.cluster = linode, tier, version, TIERS[tier]
        self.made, self.folder = set(), tempfile.TemporaryDirectory()
        linode.limit("lists", 0)        # the cases repeat them while they wait
        self.child = subprocess.Popen(
            [kubetools.path("linodego"), "-url", linode.url, "-version", version,
             "-token-file", linode.token_file],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=procs.die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        assert self.child.wait(timeout=60) == 0

    def ours(self, verb, *words):
        done = subprocess.run([OURS, verb, self.tier, str(self.cluster), *map(str, words)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (words, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def requests(self, pool=1, instance=1, node="n"):
        return {row["call"]: row for row in self.ours("requests", pool, instance, node)}

    def ask(self, call, page_size=0, change=None, **target):
        """The SDK's answer to the request that wire.c makes. change: what is different in its body."""
        row = self.requests(**target)[call]
        if change:
            row["body"] = json.dumps(json.loads(row["body"]) | change)
        self.child.stdin.write(json.dumps(row | {"page_size": page_size}) + "\n")
        self.child.stdin.flush()
        answer = json.loads(self.child.stdout.readline())
        if not page_size:
            for exchange in answer["exchanges"]:
                compare_requests(self.version, row, exchange)
        self.made.add(call)
        return answer

    def both(self, call, **keys):
        """(what the SDK read, what ours read of the same bytes)"""
        answer = self.ask(call, **keys)
        assert "error" not in answer, answer
        unknown = set(answer["unknown"]) - UNKNOWN.get(call, set())
        assert not unknown, f"{call} has members that the API does not have: {unknown}"
        absent = set(answer["absent"]) - OPTIONAL
        assert not absent, f"{call} lacks members that the API has: {absent}"
        kind = KINDS.get(call, call)
        files = [(kind, self.file(number, page["answer"])) for number, page in enumerate(answer["exchanges"])]
        return answer["value"], self.read(*files) if kind else None

    def file(self, number, text):
        file = pathlib.Path(self.folder.name) / str(number)
        file.write_text(text)
        return file

    def read(self, *files):
        [got] = self.ours("read", *(word for pair in files for word in pair))
        return got

    def compare_pools(self, **keys):
        pools, got = self.both("pools", **keys)
        assert same(got["pools"], [pool_of(pool) for pool in pools])
        return pools

    def compare_instances(self, **keys):
        """Ours drops instances of other clusters."""
        instances, got = self.both("instances", **keys)
        mine = [instance for instance in instances if instance["lke_cluster_id"] == self.cluster]
        assert same(got["instances"], [instance_of(instance) for instance in mine])
        return mine

    def members(self, count):
        """Waits until the one pool has so many machines with an instance that both read."""
        wait_for(lambda: len(self.compare_instances()) == count, f"{count} instances")
        return self.compare_instances()

    def fails(self, status, fault, call, **keys):
        """Both read the same error."""
        answer = self.ask(call, **keys)
        got = self.read((f"{call}:{status}", self.file(0, answer["exchanges"][0]["answer"])))
        assert answer["code"] == answer["exchanges"][0]["status"] == status, answer
        text = f"[{got['field']}] {got['reason']}" if got["field"] else got["reason"]
        assert (answer["error"], got["fault"]) == (text, fault), (answer, got)


def compare_requests(version, row, exchange):
    ours, theirs = (urllib.parse.urlsplit(path) for path in (f"/{version}{row['path']}", exchange["path"]))
    assert (row["method"], ours.path) == (exchange["method"], theirs.path), (row, exchange)
    assert urllib.parse.parse_qs(ours.query) == urllib.parse.parse_qs(theirs.query), (row, exchange)
    assert row["filter"] == exchange["filter"], (row, exchange)
    # The SDK also sends lists that are null, which mean what their absence means.
    body = {key: value for key, value in json.loads(exchange["body"] or "{}").items() if value is not None}
    assert json.loads(row["body"] or "{}") == body, (row, exchange)


def same(ours, theirs):
    assert len(ours) == len(theirs), (ours, theirs)
    for mine, other in zip(*(sorted(rows, key=lambda row: row["id"]) for rows in (ours, theirs))):
        assert {key: mine[key] for key in other} == other, (mine, other)
    return True


def cluster_of(cluster):
    return {key: cluster[key] for key in ("id", "label", "region", "k8s_version")} | {
        "tier": cluster["tier"] or "standard", "ready": cluster["status"] == "ready"}


def pool_of(pool):
    return {key: pool[key] for key in ("id", "count", "type", "tags")} | {
        "nodes": [{"id": node["id"], "instance_id": node["instance_id"], "ready": node["status"] == "ready"}
                  for node in pool["nodes"]]}


def instance_of(instance):
    return {key: instance[key] for key in ("id", "created_us", "label", "type", "tags")} | {
        "leaving": instance["status"] == "deleting"}


def type_of(kind, available):
    price = next((row for row in kind["region_prices"] if row["id"] == REGION), kind["price"])
    return {key: kind[key] for key in ("id", "class", "vcpus", "memory", "disk", "gpus", "transfer",
                                       "network_out", "accelerated_devices")} | {
        "price": round(price["hourly"] * 1e6), "available": available.get(kind["id"], True)}


def every_call(sdk):
    clusters, got = sdk.both("clusters")
    assert [cluster_of(cluster) for cluster in clusters] == [got["cluster"]], (clusters, got)
    assert got["cluster"]["id"] == sdk.cluster
    cluster, got = sdk.both("cluster")
    assert got["cluster"] == cluster_of(cluster) == cluster_of(clusters[0])
    kinds, got = sdk.both("types")
    assert same(got["types"], [type_of(kind, {}) for kind in kinds]) and len(kinds) > 5
    # The SDK has the availability as a list; ours is applied to the types.
    types = sdk.file(0, sdk.ask("types")["exchanges"][0]["answer"])
    answer = sdk.ask("availability")
    got = sdk.read(("types", types), ("availability", sdk.file(1, answer["exchanges"][0]["answer"])))
    available = {row["plan"]: row["available"] for row in answer["value"] if row["region"] == REGION}
    assert same(got["types"], [type_of(kind, available) for kind in kinds]) and False in available.values()

    made, got = sdk.both("create-pool")
    assert same(got["pools"], [pool_of(made)])
    # Standard: each node is there, and its instance is null at first. Enterprise: no node is there.
    nodes = [node["instance_id"] for node in made["nodes"]]
    assert nodes == ([0, 0, 0] if sdk.tier == "standard" else []), made
    sdk.compare_pools()
    first, *_ = sdk.members(3)
    # The tags replace those that are there; without the cluster's own an Enterprise list would not have it.
    tags = ["karpenter.sh/nodeclaim:a", *first["tags"]]
    tagged, got = sdk.both("tag-instance", instance=first["id"], change={"tags": tags})
    assert same(got["instances"], [instance_of(tagged)]) and tagged["tags"] == tags
    scaled, got = sdk.both("scale-pool", pool=made["id"])
    assert same(got["pools"], [pool_of(scaled)]) and scaled["count"] == 4
    sdk.members(4)
    wait_for(lambda: sdk.compare_pools()[0]["nodes"], "nodes of the pool")
    sdk.both("delete-node", node=sdk.compare_pools()[0]["nodes"][0]["id"])
    # One that is being deleted is in the list for a while.
    wait_for(lambda: len(sdk.compare_instances()) == 3, "the instance to be gone")
    assert sdk.compare_pools()[0]["count"] == 3
    sdk.both("delete-pool", pool=made["id"])
    assert sdk.compare_pools() == []
    assert sdk.made == set(sdk.requests()), set(sdk.requests()) - sdk.made


@tap.case
def C3_C11_C12_every_call_in_Standard_with_v4beta():
    with Provider("linode", speed=50) as linode, Sdk(linode, "standard") as sdk:
        every_call(sdk)


@tap.case
def C3_C8_C12_every_call_in_Enterprise_with_v4beta():
    with Provider("linode", speed=200) as linode, Sdk(linode, "enterprise") as sdk:
        every_call(sdk)


@tap.case
def C3_every_call_in_Standard_with_v4():
    """v4 does not name the tier."""
    with Provider("linode", speed=50) as linode, Sdk(linode, "standard", "v4") as sdk:
        every_call(sdk)


@tap.case
def C12_a_list_of_three_pages():
    with Provider("linode", speed=200) as linode, Sdk(linode, "enterprise") as sdk:
        for _ in range(60):
            sdk.ask("create-pool", change={"count": 1, "k8s_version": "v1.31.8+lke1", "firewall_id": 17})
        assert len(sdk.compare_pools(page_size=25)) == 60
        # Pages that are read while instances come do not belong together, and ours refuses them.
        wait_for(lambda: len(sdk.compare_instances()) == 60, "60 instances")
        assert len(sdk.compare_instances(page_size=25)) == 60
        assert {pool["firewall_id"] for pool in sdk.compare_pools()} == {17}


@tap.case
def C13_an_instance_that_is_being_deleted():
    """Its deletion takes 2.5 s, so that a list is read meanwhile."""
    with Provider("linode", speed=2) as linode, Sdk(linode, "standard") as sdk:
        made, _ = sdk.both("create-pool")
        sdk.members(3)
        sdk.both("delete-pool", pool=made["id"])
        seen = set()

        def gone():
            left = sdk.compare_instances()
            seen.update(instance["status"] for instance in left)
            return not left
        wait_for(gone, "the instances to be gone")
        assert "deleting" in seen, seen


@tap.case
def A7_errors_are_read_alike():
    with Provider("linode", speed=50) as linode, Sdk(linode, "standard") as sdk:
        sdk.fails(404, "gone", "scale-pool", pool=7)
        sdk.fails(404, "gone", "delete-node", node="none")
        sdk.fails(400, "capacity", "create-pool", change={"count": 101})
        sdk.fails(400, "invalid", "create-pool", change={"tags": ["a" * 51]})
        linode.set("quota", 2)
        sdk.fails(400, "capacity", "create-pool")
        linode.set("quota", 100)
        made, _ = sdk.both("create-pool")
        first, *_ = sdk.members(3)
        linode.fault("status", "tag-instance", code=400, message="Linode busy.")
        sdk.fails(400, "transient", "tag-instance", instance=first["id"])
        linode.clear_faults()
        linode.limit("lists", 1, window_s=3600)
        sdk.ask("pools")
        sdk.fails(429, "limited", "pools")
        linode.fault("status", "delete-pool", code=503)
        sdk.fails(503, "transient", "delete-pool", pool=made["id"])
        linode.clear_faults()
        linode.remove_token(linode.token)
        sdk.fails(401, "token", "cluster")


tap.main()
