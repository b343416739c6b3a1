"""tests/sim/test_linode_wire.py - lke-claimer's requests and answers with muster-sim --linode: C3, C8, C12.

muster-test: parallel
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from muster import wait_for
from providers import Provider

PROGRAM = pathlib.Path(os.environ["MUSTER_BIN"]) / "muster-test-linode"
TIERS = {"standard": 70001, "enterprise": 70002}
CLAIM = "karpenter.sh/nodeclaim:a"


class Wire:
    """The API, asked with the bytes that wire.c makes; answers go to answers.c as they came."""

    def __init__(self, linode, tier):
        self.linode, self.tier, self.cluster = linode, tier, TIERS[tier]
        self.folder = tempfile.TemporaryDirectory()

    def run(self, verb, *words):
        done = subprocess.run([PROGRAM, verb, self.tier, str(self.cluster), *map(str, words)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def send(self, call, pool=1, instance=1, node="n"):
        """The body of the answer, as a file."""
        [row] = [row for row in self.run("requests", pool, instance, node) if row["call"] == call]
        connection = self.linode.api.connect()
        headers = {"Authorization": f"Bearer {self.linode.token}", "Content-Type": "application/json"}
        if row["filter"]:
            headers["X-Filter"] = row["filter"]
        connection.request(row["method"], f"/v4beta{row['path']}", row["body"] or None, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        assert response.status == 200, (row, response.status, text)
        file = pathlib.Path(self.folder.name) / call
        file.write_bytes(text)
        return file

    def snapshot(self, *more):
        """(what answers.c reads, the documents as they are)"""
        pools, instances = self.send("pools"), self.send("instances")
        [got] = self.run("read", "pools", pools, "instances", instances, *more)
        return got, json.loads(pools.read_text())["data"], json.loads(instances.read_text())["data"]


def machines(wire):
    """Waits until all machines of the one pool are members of it."""
    wait_for(lambda: (pool := wire.snapshot()[0]["pools"][0])["count"] == len(pool["members"]), "members")
    return wire.snapshot()[0]["pools"][0]


@tap.case
def C3_both_tiers_are_read_as_they_are():
    for tier, cluster in TIERS.items():
        with Provider("linode", speed=50) as linode:
            wire = Wire(linode, tier)
            [found] = json.loads(wire.send("clusters").read_text())["data"]
            assert (found["id"], found["tier"]) == (cluster, tier)
            for call in ("cluster", "types", "availability"):
                wire.send(call)
            made = json.loads(wire.send("create-pool").read_text())
            pool = machines(wire)
            assert (pool["id"], pool["count"], pool["tags"]) == (made["id"], 3, made["tags"]), pool
            got, pools, instances = wire.snapshot()
            assert got["pools"][0]["nodes"] == [
                {"id": node["id"], "instance_id": node["instance_id"] or 0,
                 "ready": node["status"] == "ready"} for node in pools[0]["nodes"]]
            assert [{key: i[key] for key in ("id", "label", "type", "leaving", "tags")}
                    for i in got["instances"]] == [
                {"id": i["id"], "label": i["label"], "type": i["type"], "leaving": False, "tags": i["tags"]}
                for i in instances]
            # C8: in Enterprise no node is listed yet, and the label of the instance is its id.
            labels = [i["label"] for i in instances]
            nodes = [member["node"] for member in pool["members"]]
            assert nodes == ([node["id"] for node in pools[0]["nodes"]] if tier == "standard" else labels)


@tap.case
def C1_C8_C12_claim_scale_delete():
    for tier in TIERS:
        with Provider("linode", speed=50) as linode:
            wire = Wire(linode, tier)
            made = json.loads(wire.send("create-pool").read_text())["id"]
            first = machines(wire)["members"][0]
            # C12: the answers are the instance and the pool; no list is needed after them.
            tagged = wire.send("tag-instance", instance=first["id"])
            got, _, _ = wire.snapshot("instance", tagged)
            assert CLAIM in {i["id"]: i["tags"] for i in got["instances"]}[first["id"]], got
            scaled = wire.send("scale-pool", pool=made)
            got, _, _ = wire.snapshot("pool", scaled)
            assert got["pools"][0]["count"] == 4, got
            wire.send("delete-node", node=first["node"])
            got, pools, _ = wire.snapshot()
            assert pools[0]["count"] == 3, pools
            # C13: one that is being deleted is recognised; or it is gone already.
            assert {i["id"]: i["leaving"] for i in got["instances"]}.get(first["id"], True), got
            wire.send("delete-pool", pool=made)
            assert wire.snapshot()[0]["pools"] == []


tap.main()
