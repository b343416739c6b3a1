"""tests/sim/test_linode.py - the Linode API of muster-sim, by hand: both tiers, tags, filters, limits, quota.

muster-test: parallel
"""
import http.client
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from kube import Kube
from muster import wait_for
from providers import Provider

STANDARD, ENTERPRISE = 70001, 70002
TYPE = "g6-standard-2"
NEVER_MS = 10 ** 12


class Linode(Provider):
    """Calls of v4beta; a KubeError where one is refused."""

    def __init__(self, version="v4beta", **more):
        super().__init__("linode", **{"speed": 50, **more})
        self.version = version

    def raw(self, method, path, body=None, **query):
        return self.api.raw(method, f"{self.version}/{path}", body=body, query=query)

    def call(self, method, path, body=None, **query):
        answer = self.raw(method, path, body, **query)
        assert answer.code == 200, (method, path, answer)
        return answer.json()

    def refusal(self, method, path, body=None, **query):
        """(code, field or None, reason) of an answer that refuses."""
        answer = self.raw(method, path, body, **query)
        [error] = answer.json()["errors"]
        return answer.code, error.get("field"), error["reason"]

    def filtered(self, path, wanted):
        """The answer to a list with an X-Filter."""
        connection = self.api.connect()
        text = wanted if isinstance(wanted, str) else json.dumps(wanted)
        connection.request("GET", f"/{self.version}/{path}", headers={
            "Authorization": f"Bearer {self.token}", "X-Filter": text})
        response = connection.getresponse()
        document = json.loads(response.read())
        connection.close()
        return response.status, document

    def create(self, cluster, count, **more):
        return self.call("POST", f"lke/clusters/{cluster}/pools", {"type": TYPE, "count": count, **more})

    def pool(self, made, cluster=STANDARD):
        return self.call("GET", f"lke/clusters/{cluster}/pools/{made['id']}")

    def instances(self):
        return self.call("GET", "linode/instances", page_size=500)["data"]

    def existing(self):
        """The ids of the instances, without a call: lists are limited."""
        return [node["instance"] for node in self.state()["nodes"] if node["machine"] != "ordered"]

    def wait_instances(self, count):
        wait_for(lambda: len(self.existing()) == count, f"{count} instances")
        return self.instances()


@tap.case
def a_cluster_of_each_tier():
    with Linode() as linode:
        found = linode.call("GET", "lke/clusters")
        assert [(c["id"], c["label"], c["tier"], c["region"]) for c in found["data"]] == [
            (STANDARD, "standard", "standard", "us-ord"), (ENTERPRISE, "enterprise", "enterprise", "us-ord")]
        assert (found["page"], found["pages"], found["results"]) == (1, 1, 2), found
        assert linode.call("GET", f"lke/clusters/{ENTERPRISE}") == found["data"][1]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", found["data"][0]["created"]), "no zone"
        assert linode.refusal("GET", "lke/clusters/1") == (404, None, "Not found")
        made = linode.call("POST", "lke/clusters", {"label": "enterprise", "region": "id-cgk"})
        code, both = linode.filtered("lke/clusters", {"label": "enterprise"})
        assert code == 200 and [c["id"] for c in both["data"]] == [ENTERPRISE, made["id"]]
        refused = Kube(linode.url, "x").raw("GET", "v4/lke/clusters")
        assert (refused.code, refused.json()) == (401, {"errors": [{"reason": "Invalid Token"}]})
        linode.create(ENTERPRISE, 1)
        linode.version = "v4"
        assert not any("tier" in c for c in linode.call("GET", "lke/clusters")["data"])
        assert "update_strategy" not in linode.call("GET", f"lke/clusters/{ENTERPRISE}/pools")["data"][0]
        assert linode.api.raw("GET", "v5/lke/clusters").code == 404


@tap.case
def a_Standard_pool_shows_its_nodes_at_once_and_their_instances_later():
    with Linode() as linode:
        made = linode.create(STANDARD, 3, tags=["a=b"])
        assert [node["instance_id"] for node in made["nodes"]] == [None] * 3, made
        for node in made["nodes"]:
            assert re.fullmatch(rf"{made['id']}-[0-9a-f]{{8}}0000", node["id"]), node
        assert "k8s_version" not in made and made["autoscaler"] == {"enabled": False, "min": 3, "max": 3}
        instances = linode.wait_instances(3)
        nodes = linode.pool(made)["nodes"]
        assert [node["instance_id"] for node in nodes] == [instance["id"] for instance in instances]
        assert [f"lke{STANDARD}-{node['id']}" for node in nodes] == [i["label"] for i in instances]
        assert all(i["tags"] == [] and i["lke_cluster_id"] == STANDARD for i in instances), instances
        gone = nodes[1]
        assert linode.call("DELETE", f"lke/clusters/{STANDARD}/nodes/{gone['id']}") == {}
        left = linode.pool(made)
        assert left["count"] == 2 and gone["id"] not in [node["id"] for node in left["nodes"]], left
        assert left["autoscaler"]["max"] == 3
        status = {i["id"]: i["status"] for i in linode.instances()}
        assert status.get(gone["instance_id"], "deleting") == "deleting", status
        linode.wait_instances(2)
        assert linode.refusal("DELETE", f"lke/clusters/{STANDARD}/nodes/{gone['id']}")[0] == 404
        assert linode.call("DELETE", f"lke/clusters/{STANDARD}/pools/{made['id']}") == {}
        linode.wait_instances(0)
        assert linode.state() == {"pools": [], "nodes": []}


@tap.case
def an_Enterprise_pool_lags_behind_its_instances():
    with Linode() as linode:
        linode.set("nodes_lag_ms", NEVER_MS)
        linode.set("tags_lag_ms", NEVER_MS)
        made = linode.create(ENTERPRISE, 2, tags=["team=x"], update_strategy="on_recycle")
        assert made["nodes"] == [] and made["count"] == 2 and made["update_strategy"] == "on_recycle", made
        instances = linode.wait_instances(2)
        assert [i["tags"] for i in instances] == [[], []], instances
        linode.set("tags_lag_ms", 0)
        tags = ["team=x", f"nodepool={made['id']}", f"lke{ENTERPRISE}"]
        assert [i["tags"] for i in linode.instances()] == [tags, tags]
        assert linode.pool(made, ENTERPRISE)["nodes"] == []
        # The label of the instance is the id of the node, which is not shown yet.
        linode.call("DELETE", f"lke/clusters/{ENTERPRISE}/nodes/{instances[0]['label']}")
        linode.wait_instances(1)
        linode.set("nodes_lag_ms", 0)
        left = linode.pool(made, ENTERPRISE)
        assert left["count"] == 1 and [node["id"] for node in left["nodes"]] == [instances[1]["label"]], left


@tap.case
def a_pool_grows_and_shrinks_within_its_limits():
    with Linode() as linode:
        path = f"lke/clusters/{STANDARD}/pools"
        made = linode.create(STANDARD, 2)
        grown = linode.call("PUT", f"{path}/{made['id']}", {"count": 4, "tags": ["a", "b"]})
        assert grown["count"] == len(grown["nodes"]) == 4 and grown["tags"] == ["a", "b"], grown
        assert [node["id"] for node in grown["nodes"][:2]] == [node["id"] for node in made["nodes"]]
        shrunk = linode.call("PUT", f"{path}/{made['id']}", {"count": 3})
        assert len(shrunk["nodes"]) == 3 and shrunk["tags"] == ["a", "b"], "the choice is the server's"
        rows = (({"count": 0}, "count", "Must be at least 1"), ({"count": 101}, "count", "limit"),
                ({"tags": ["x" * 51]}, "tags", "Length"), ({"tags": "x"}, "tags", "array"),
                ({"labels": []}, "labels", "object"), ({"taints": {}}, "taints", "array"),
                ({"update_strategy": "on_recycle"}, "update_strategy", "not valid"), ([], None, ""))
        for body, field, reason in rows:
            code, about, why = linode.refusal("PUT", f"{path}/{made['id']}", body)
            assert (code, about) == (400, field) and reason in why, (body, about, why)
        assert linode.refusal("POST", path, {"type": "g0-x", "count": 1})[:2] == (400, "type")
        assert linode.refusal("POST", path, {"type": TYPE})[:2] == (400, "count")
        linode.set("quota", 4)
        assert "Account Limit" in linode.refusal("PUT", f"{path}/{made['id']}", {"count": 5})[2]
        assert "Account Limit" in linode.refusal("POST", path, {"type": TYPE, "count": 2})[2]
        assert linode.call("PUT", f"{path}/{made['id']}", {"count": 4})["count"] == 4
        assert [pool["count"] for pool in linode.state()["pools"]] == [4]


@tap.case
def tags_of_an_instance_are_replaced_as_a_whole():
    with Linode() as linode:
        linode.create(STANDARD, 1)
        [instance] = linode.wait_instances(1)
        path = f"linode/instances/{instance['id']}"
        assert linode.call("PUT", path, {"tags": ["one", "two"]})["tags"] == ["one", "two"]
        assert linode.call("PUT", path, {"tags": ["three"]})["tags"] == ["three"]
        assert linode.call("PUT", path, {"label": "x"})["tags"] == ["three"]
        assert linode.call("GET", path)["tags"] == linode.instances()[0]["tags"] == ["three"]
        assert linode.refusal("PUT", path, {"tags": ["x" * 51]})[:2] == (400, "tags")
        assert linode.refusal("PUT", "linode/instances/1", {"tags": []}) == (404, None, "Not found")
        assert [row["effect"] for row in linode.effects("PUT")] == [
            f'instance {instance["id"]} tagged ["one","two"]', f'instance {instance["id"]} tagged ["three"]']


@tap.case
def filters_with_both_readings_of_what_is_not_confirmed():
    with Linode() as linode:
        linode.set("tags_lag_ms", 0)
        linode.create(STANDARD, 1)
        linode.create(ENTERPRISE, 2)
        linode.wait_instances(3)

        def found(wanted):
            code, document = linode.filtered("linode/instances", wanted)
            return document["results"] if code == 200 else (code, document["errors"][0]["reason"])
        assert found({"tags": f"lke{ENTERPRISE}"}) == 2 and found({"tags": "lke7000"}) == 0
        assert found({"tags": {"+contains": "lke7000"}}) == 2, "the worse reading is the default"
        linode.set("contains_substring", 0)
        assert found({"tags": {"+contains": "lke7000"}}) == 0
        assert found({"lke_cluster_id": STANDARD}) == (400, "Cannot filter on lke_cluster_id")
        linode.set("filter_lke_cluster_id", 1)
        assert found({"lke_cluster_id": STANDARD}) == 1
        assert found({"region": "us-ord", "type": TYPE}) == 3 and found("{") == (400, "Invalid filter")
        assert found('{"tags": "nothing", "tags": "lke70002"}') == 2, "of a repeated key the last counts"
        assert linode.filtered("linode/types", {"region": "us-ord"})[0] == 400


@tap.case
def pages_have_25_to_500_entries():
    with Linode() as linode:
        linode.create(STANDARD, 60)
        linode.wait_instances(60)
        assert [len(linode.call("GET", "linode/instances", page_size=25, page=page)["data"])
                for page in (1, 2, 3, 4)] == [25, 25, 10, 0]
        first = linode.call("GET", "linode/instances", page_size=25)
        assert (first["page"], first["pages"], first["results"]) == (1, 3, 60)
        for query in ({"page_size": 24}, {"page_size": 501}, {"page": 0}):
            assert linode.raw("GET", "linode/instances", **query).code == 400, query


@tap.case
def limits_are_shared_by_a_bucket_and_enforced():
    with Linode() as linode:
        limits = [linode.raw("GET", path).headers["X-RateLimit-Limit"] for path in (
            "linode/instances", f"lke/clusters/{STANDARD}/pools", f"lke/clusters/{STANDARD}")]
        assert limits == ["200", "200", "1600"], limits
        linode.limit("lists", 4)
        answers = [linode.raw("GET", "linode/types") for _ in range(3)]
        assert [answer.code for answer in answers] == [200, 200, 429], "two of them are spent"
        assert answers[2].json() == {"errors": [{"reason": "Too many requests"}]}
        assert int(answers[2].headers["Retry-After"]) <= 60, answers[2]
        assert answers[2].headers["X-RateLimit-Remaining"] == "0", answers[2]
        assert linode.raw("GET", f"lke/clusters/{STANDARD}").code == 200


@tap.case
def types_regions_and_availability():
    with Linode() as linode:
        types = {t["id"]: t for t in linode.call("GET", "linode/types", page_size=500)["data"]}
        one = types[TYPE]
        assert (one["memory"], one["vcpus"], one["price"]["hourly"]) == (4096, 2, 0.036), one
        [dear] = one["region_prices"]
        assert dear["id"] == "id-cgk" and dear["hourly"] > one["price"]["hourly"], dear
        assert linode.call("GET", f"linode/types/{TYPE}") == one
        regions = {r["id"]: r["capabilities"] for r in linode.call("GET", "regions")["data"]}
        assert "Kubernetes Enterprise" in regions["us-ord"]
        assert "Kubernetes Enterprise" not in regions["us-east"]
        plans = linode.call("GET", "regions/us-ord/availability")
        assert isinstance(plans, list) and {plan["region"] for plan in plans} == {"us-ord"}, plans
        assert {plan["plan"]: plan["available"] for plan in plans}["g1-gpu-rtx6000-1"] is False
        assert linode.call("GET", "regions/availability")["results"] == 6
        assert linode.refusal("GET", "regions/x/availability")[0] == 404


@tap.case
def recycling_makes_another_machine():
    with Linode() as linode:
        made = linode.create(STANDARD, 2)
        before = [i["id"] for i in linode.wait_instances(2)]
        node = linode.pool(made)["nodes"][0]
        linode.call("POST", f"lke/clusters/{STANDARD}/nodes/{node['id']}/recycle")
        after = linode.pool(made)
        assert after["count"] == len(after["nodes"]) == 2, after
        assert node["id"] not in [other["id"] for other in after["nodes"]], after
        linode.call("POST", f"lke/clusters/{STANDARD}/pools/{made['id']}/recycle")

        def replaced():
            now = linode.existing()
            return len(now) == 2 and not set(before) & set(now)
        wait_for(replaced, "two other instances")


@tap.case
def a_lost_answer_and_lists_that_are_behind():
    with Linode() as linode:
        linode.fault("lost", "create-pool")
        try:
            raise AssertionError(linode.create(STANDARD, 2))
        except (http.client.HTTPException, ConnectionError):
            pass
        [pool] = linode.state()["pools"]
        assert pool["count"] == 2
        linode.fault("stale", "pools")
        assert linode.call("GET", f"lke/clusters/{STANDARD}/pools")["data"] == []
        linode.wait_instances(2)
        [made] = linode.call("GET", f"lke/clusters/{STANDARD}/pools")["data"]
        linode.call("PUT", f"linode/instances/{linode.instances()[0]['id']}", {"tags": ["claimed"]})
        linode.fault("stale", "instances")
        assert [i["tags"] for i in linode.instances()] == [[], []]
        assert [i["tags"] for i in linode.instances()] == [["claimed"], []]
        linode.fault("late_effect", "delete-node", ms=500)
        linode.call("DELETE", f"lke/clusters/{STANDARD}/nodes/{made['nodes'][0]['id']}")
        [row] = linode.effects("DELETE")
        assert row["effect_at_ms"] - row["at_ms"] >= 490 and row["class"] == "delete-node", row


@tap.case
def its_machines_become_Nodes():
    with Linode(join=True) as linode:
        taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
        made = linode.create(ENTERPRISE, 2, labels={"team": "x"}, taints=[taint])
        kube = linode.server.kube
        wait_for(lambda: len(kube.names("nodes")) == 2, "two Nodes")
        instances = {i["label"]: i["id"] for i in linode.instances()}
        for name, number in instances.items():
            node = kube.get("nodes", name)
            labels = node["metadata"]["labels"]
            assert node["spec"]["providerID"] == f"linode://{number}", node
            assert taint in node["spec"]["taints"], node
            assert labels["lke.linode.com/pool-id"] == str(made["id"]) and labels["team"] == "x", labels
            assert labels["node.kubernetes.io/instance-type"] == TYPE, labels
            assert not any("zone" in key or "role" in key for key in labels), labels
            assert node["status"]["capacity"]["cpu"] == "2", node["status"]["capacity"]
        wait_for(lambda: {node["machine"] for node in linode.state()["nodes"]} == {"ready"}, "both are ready")
        linode.set("nodes_lag_ms", 0)
        assert [node["status"] for node in linode.pool(made, ENTERPRISE)["nodes"]] == ["ready", "ready"]
        linode.command("kill", name=name)
        assert {i["label"]: i["status"] for i in linode.instances()}[name] == "offline"
        linode.call("DELETE", f"lke/clusters/{ENTERPRISE}/pools/{made['id']}")
        wait_for(lambda: kube.names("nodes") == [], "the Nodes go with their machines")


tap.main()
