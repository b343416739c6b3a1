"""tests/real/test_rbac.py - the shipped RBAC is enough, and every right that is missing is reported.

A service account has what `muster check --print-rbac` prints, and nothing else but what the test actors need.

muster-test: parallel
muster-test: timeout=600
"""
import copy
import datetime
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from kube import TEST_GROUP
from kubeservers import RealServer
from kubetree import KubeTree
from muster import BIN, ROOT, wait_for

NAMESPACE, ACCOUNT = "muster-system", "muster"
ELECTING = {"leader-elect": True, "leader-elect-lease-duration": "15s", "lease-namespace": NAMESPACE}
HERE = ("nodes", "events", "leases")    # the others are node-state's and insight's: test_nodes_rbac.py
WRITE = ["create", "update", "patch", "delete"]
READ = ["get", "list", "watch"]
# What tests/actors/kinds.def and rights.def ask for beyond the shipped tables.
TEST_RULES = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", *WRITE]},
    {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": WRITE},
    {"apiGroups": [""], "resources": ["pods", "namespaces", "secrets"], "verbs": READ + WRITE},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [TEST_GROUP], "resources": ["widgets", "widgets/status"], "verbs": READ + WRITE},
]


def printed(*file):
    return subprocess.run([str(BIN / "muster"), "check", "--print-rbac", *file], check=True, text=True,
                          capture_output=True).stdout


def apply(server, rights):
    done = server.kubectl("apply", "-f", "-", stdin=rights)
    assert done.returncode == 0, done.stderr


def bind_test_rules(server):
    server.kube.create("clusterrolebindings", {
        "metadata": {"name": "muster-test"},
        "roleRef": {"kind": "ClusterRole", "name": "muster-test", "apiGroup": "rbac.authorization.k8s.io"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]})
    wait_right(server)


def wait_right(server, allowed=True):
    """Until what was written last counts: widgets are in TEST_RULES and in the rights of a file."""
    kubesuite.wait_right(server, f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}", "watch", "widgets",
                         TEST_GROUP, allowed)


def prepare(server):
    server.install(kubecrds.widgets())
    apply(server, printed())
    server.kube.create("clusterroles", {"metadata": {"name": "muster-test"}, "rules": TEST_RULES})
    bind_test_rules(server)
    made = server.kubectl("create", "token", ACCOUNT, "-n", NAMESPACE)
    assert made.returncode == 0, made.stderr
    server.account = made.stdout.strip()


def roles(server):
    """(resource of roles, namespace, the role) of what is shipped."""
    return [("clusterroles", None, server.kube.get("clusterroles", "muster")),
            ("roles", NAMESPACE, server.kube.get("roles", "muster", NAMESPACE))]


def send_event(tree, uid):
    for _ in range(3):
        tree.ask("event", group="", resource="nodes", namespace="", name="n1", uid=uid, type="Normal",
                 reason="Tested", action="Testing", note="the rights of an account")


def what_is_shipped_is_what_the_program_prints(_server):
    assert (ROOT / "deploy" / "rbac.yaml").read_text() == printed()


def the_shipped_rights_are_enough(server):
    work_without_a_refusal(server, KubeTree(server, watcher=ELECTING, token=server.account))


def the_rights_of_the_actors_of_a_file_are_enough_for_them(server):
    """What TEST_RULES grants in the other cases, test-kube-1 has by `muster check --print-rbac FILE`, until
    they are printed for a file without it."""
    tree = KubeTree(server, watcher=ELECTING, token=server.account)
    server.kube.delete("clusterrolebindings", "muster-test")
    try:
        apply(server, printed(str(tree.config)))
        wait_right(server)
        work_without_a_refusal(server, tree)
        with KubeTree(server, readers=0, watcher=ELECTING, token=server.account) as without:
            apply(server, printed(str(without.config)))
            wait_right(server, allowed=False)
        with KubeTree(server, watcher=ELECTING, token=server.account) as refused:
            wait_for(lambda: "widgets" in "".join(line for line in refused.log().splitlines()
                                                  if '"level":"warn"' in line), "the missing right is logged")
    finally:
        apply(server, printed())
        bind_test_rules(server)


def work_without_a_refusal(server, tree):
    made = server.kube.create("nodes", {"metadata": {"name": "n1"}})
    with tree:
        tree.wait_synced()
        wait_for(tree.leads, "it leads")
        for resource in ("nodes", "pods", "namespaces", "widgets"):
            assert tree.kind(resource)["state"] == "synced", tree.kind(resource)
            tree.wait_equal(resource)
        tree.write("merge", "nodes", "n1", body={"metadata": {"labels": {"a": "b"}}})
        tree.write("get", "nodes", "n1")
        tree.write("list", "nodes")
        send_event(tree, made["metadata"]["uid"])
        wait_for(lambda: any(event["regarding"].get("uid") == made["metadata"]["uid"] and event.get("series")
                             for event in server.kube.list("events")["items"]), "an event with its count")
        refused = [row for row in server.audit() if ACCOUNT in row["user"] and row["code"] == 403]
        assert refused == [], refused
        assert "forbidden" not in tree.log().lower()


def a_right_that_is_taken_away_is_named(server):
    """A right that is not needed must not be shipped."""
    made = server.kube.create("nodes", {"metadata": {"name": "n1"}})
    unnamed = []
    for kind, namespace, role in roles(server):
        for number, rule in enumerate(role["rules"]):
            for verb in needed_here(rule):
                reduced = copy.deepcopy(role)
                reduced["rules"][number]["verbs"].remove(verb)
                reduced["metadata"].pop("resourceVersion")
                server.kube.replace(kind, reduced, namespace)
                if not named(server, verb, rule["resources"][0], made["metadata"]["uid"]):
                    unnamed.append(f"{verb} {rule['resources'][0]}")
        restored = copy.deepcopy(role)
        restored["metadata"].pop("resourceVersion")
        server.kube.replace(kind, restored, namespace)
    assert unnamed == [], f"these rights are not needed, or nothing reports that they are missing: {unnamed}"


def needed_here(rule):
    """The verbs of a shipped rule that the actors of this program need. What TEST_RULES has too cannot be
    missed here: lke-claimer's rights to get, patch and delete Nodes."""
    if rule["resources"][0] not in HERE:
        return []
    doubled = [verb for other in TEST_RULES for verb in other["verbs"]
               if rule["apiGroups"] == other["apiGroups"] and rule["resources"][0] in other["resources"]]
    return [verb for verb in rule["verbs"] if verb not in doubled]


def named(server, verb, resource, uid):
    """Whether a leader or a standby reports, in its log or in the answer to a write, that this verb on this
    resource is not allowed."""
    about = rf"\b{verb}\b", rf"\b{resource}\b"
    # Most of them are reported at once by the leader or by the standby; only the others get more time.
    return any(complaint(server, leading, *about, uid, timeout_s) for timeout_s in (8, 30)
               for leading in (True, False))


def complaint(server, leading, verb, resource, uid, timeout_s):
    server.kube.delete_all("leases", NAMESPACE)
    if not leading:
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        server.kube.create("leases", {"metadata": {"name": "muster"}, "spec": {
            "holderIdentity": "another", "leaseDurationSeconds": 600, "leaseTransitions": 0,
            "acquireTime": now, "renewTime": now}}, NAMESPACE)
    with KubeTree(server, watcher=ELECTING, token=server.account) as tree:
        tree.wait(lambda: tree.kind("pods").get("state") == "synced", "the other kinds are read")
        messages = []

        def there():
            if tree.leads():
                messages.append(tree.begin_write("get", "nodes", "n1").answer()["message"])
                messages.append(tree.begin_write("list", "nodes").answer()["message"])
                send_event(tree, uid)
            lines = [line for line in tree.log().splitlines() if re.search('"level":"(warn|error)"', line)]
            return any(re.search(verb, line) and re.search(resource, line) for line in [*lines, *messages])
        try:
            return bool(tree.wait(there, "it is named", timeout_s, every=0.5))
        except AssertionError:
            return False


kubesuite.run(RealServer, what_is_shipped_is_what_the_program_prints, the_shipped_rights_are_enough,
              the_rights_of_the_actors_of_a_file_are_enough_for_them, a_right_that_is_taken_away_is_named,
              prepare=prepare)
