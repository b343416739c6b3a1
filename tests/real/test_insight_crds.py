"""tests/real/test_insight_crds.py - B5: what a real server accepts and refuses with deploy/crds.

muster-test: parallel
muster-test: timeout=600
"""
import copy
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
from kube import RESOURCES, Resource
from kubeservers import RealServer
from kubesuite import case, expect_error
from muster import ROOT

BASE = "apis/openshift.muller.dev/v1alpha1"
NODES, POOLS = "nodeprogressinsights", "machineconfigpoolprogressinsights"
RESOURCES[NODES] = Resource(BASE, "NodeProgressInsight", namespaced=False)
RESOURCES[POOLS] = Resource(BASE, "MachineConfigPoolProgressInsight", namespaced=False)


def condition(kind, **more):
    return {"type": kind, "status": "True", "reason": "AsExpected", "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z", **more}


GOOD = {
    NODES: {"name": "w1", "scopeType": "WorkerPool", "version": "4.20.3", "estimatedToComplete": "10m0s",
            "message": "", "poolResource": {"group": "machineconfiguration.openshift.io",
                                            "resource": "machineconfigpools", "name": "worker"},
            "conditions": [condition("Updating", reason="Draining"), condition("Available"),
                           condition("Degraded", status="False")]},
    POOLS: {"name": "w1", "scopeType": "ControlPlane", "assessment": "Progressing", "completionPercent": 33,
            "summaries": [{"type": kind, "count": count} for kind, count in (
                ("Total", 3), ("Outdated", 2), ("Progressing", 1), ("Draining", 0), ("Degraded", 0))],
            "conditions": [condition("Updating", reason="Progressing"), condition("Healthy")]},
}
ABSENT = object()

# resource, what is changed in a good status, and the field that the server blames; None: it takes it.
ROWS = [
    (NODES, {}, None), (POOLS, {}, None),
    (NODES, dict.fromkeys(("version", "estimatedToComplete", "message", "conditions"), ABSENT), None),
    (NODES, {"message": "é" * 100}, None),
    (NODES, {"message": "é" * 101}, "status.message"),
    (NODES, {"name": "w2"}, "<nil>"),
    (NODES, {"name": ABSENT}, "status.name"),
    (NODES, {"scopeType": ABSENT}, "status.scopeType"),
    (NODES, {"scopeType": "Other"}, "status.scopeType"),
    (NODES, {"poolResource": ABSENT}, "status.poolResource"),
    (NODES, {"poolResource.group": ABSENT}, "status.poolResource"),
    (NODES, {"poolResource.group": "example.com"}, "status.poolResource"),
    (NODES, {"poolResource.resource": "nodes"}, "status.poolResource"),
    (NODES, {"poolResource.resource": ABSENT}, "status.poolResource.resource"),
    (NODES, {"poolResource.name": ABSENT}, "status.poolResource.name"),
    (NODES, {"poolResource.name": "p" * 254}, "status.poolResource.name"),
    (NODES, {"version": "4.20.3-rc.1+build.5"}, None),
    (NODES, {"version": "4.20"}, "status.version"),
    (NODES, {"version": "v4.20.3"}, "status.version"),
    (NODES, {"version": "4.20.3-" + "a" * 57}, None),
    (NODES, {"version": "4.20.3-" + "a" * 58}, "status.version"),
    (NODES, {"estimatedToComplete": "0s"}, None),
    (NODES, {"estimatedToComplete": "ten minutes"}, "status.estimatedToComplete"),
    (NODES, {"conditions": [condition(f"T{i}") for i in range(5)]}, None),
    (NODES, {"conditions": [condition(f"T{i}") for i in range(6)]}, "status.conditions"),
    (NODES, {"conditions": [condition("Updating"), condition("Updating")]}, "status.conditions[1]"),
    (NODES, {"conditions": [condition("Updating", reason="")]}, "status.conditions[0].reason"),
    (NODES, {"conditions": [condition("Updating", reason="two words")]}, "status.conditions[0].reason"),
    (NODES, {"conditions": [condition("Updating", status="Maybe")]}, "status.conditions[0].status"),
    (NODES, {"conditions": [condition("Updating", message="é" * 32768)]}, None),
    (NODES, {"conditions": [condition("Updating", message="é" * 32769)]}, "status.conditions[0].message"),
    (NODES, {"conditions": [condition("Updating", lastTransitionTime="today")]},
     "status.conditions[0].lastTransitionTime"),
    (POOLS, {"name": "w2"}, "<nil>"),
    (POOLS, {"assessment": ABSENT}, "status.assessment"),
    (POOLS, {"assessment": "Fine"}, "status.assessment"),
    (POOLS, {"scopeType": ABSENT}, "status.scopeType"),
    (POOLS, {"completionPercent": 101}, "status.completionPercent"),
    (POOLS, {"completionPercent": -1}, "status.completionPercent"),
    (POOLS, {"summaries": [{"type": "Lost", "count": 1}]}, "status.summaries[0].type"),
    (POOLS, {"summaries": [{"type": "Total", "count": -1}]}, "status.summaries[0].count"),
    (POOLS, {"summaries": [{"type": "Total", "count": 1}] * 2}, "status.summaries[1]"),
    (POOLS, {"conditions": [condition(f"T{i}") for i in range(6)]}, "status.conditions"),
]


def changed(status, changes):
    status = copy.deepcopy(status)
    for path, value in changes.items():
        *way, last = path.split(".")
        place = status
        for word in way:
            place = place[word]
        if value is ABSENT:
            del place[last]
        else:
            place[last] = value
    return status


def fresh(server, resource):
    """An insight as muster-insight creates it."""
    if server.kube.find(resource, "w1"):
        server.kube.delete(resource, "w1")
    return server.kube.create(resource, {"metadata": {"name": "w1"}, "spec": {}})


@case
def B5_the_server_finds_nothing_to_warn_about(server):
    for resource in (NODES, POOLS):
        crd = server.kube.get("customresourcedefinitions", f"{resource}.openshift.muller.dev")
        conditions = {c["type"]: c["status"] for c in crd["status"]["conditions"]}
        assert conditions == {"NamesAccepted": "True", "Established": "True"}, conditions
        applied = server.kubectl("apply", "--dry-run=server", "-f", ROOT / "deploy/crds" / f"{resource}.yaml")
        lines = [line for line in applied.stderr.splitlines() if "last-applied-configuration" not in line]
        assert applied.returncode == 0 and not lines, applied.stderr


@case
def B5_created_empty_then_status_and_each_limit_holds(server):
    for resource, changes, blamed in ROWS:
        made = fresh(server, resource)
        assert "status" not in made
        body = {"metadata": {"name": "w1", "resourceVersion": made["metadata"]["resourceVersion"]},
                "status": changed(GOOD[resource], changes)}
        try:
            if blamed is None:
                answer = server.kube.replace(resource, body, sub="status")
                assert answer["status"] == body["status"] and answer["spec"] == {}, answer
            else:
                refused = expect_error(422, "Invalid", server.kube.replace, resource, body, sub="status")
                fields = [cause.get("field") for cause in refused.causes]
                assert blamed in fields, refused.causes
        except AssertionError:
            print(f"# {resource} {str(changes)[:100]}: {blamed}", flush=True)
            raise


@case
def B5_a_status_in_the_creation_is_dropped_and_spec_is_required(server):
    for resource in (NODES, POOLS):
        fresh(server, resource)
        server.kube.delete(resource, "w1")
        expect_error(422, "Invalid", server.kube.create, resource, {"metadata": {"name": "w1"}})
        made = server.kube.create(resource, {"metadata": {"name": "w1"}, "spec": {},
                                             "status": GOOD[resource]})
        assert "status" not in made


@case
def kubectl_shows_the_most_used_columns(server):
    for resource, short in ((NODES, "npi"), (POOLS, "mcppi")):
        made = fresh(server, resource)
        server.kube.replace(resource, {"metadata": {"name": "w1", "resourceVersion":
                                                    made["metadata"]["resourceVersion"]},
                                       "status": GOOD[resource]}, sub="status")
        shown = server.kubectl("get", short)
        assert shown.returncode == 0, shown.stderr
        print("\n".join(f"# {line}" for line in shown.stdout.splitlines()), flush=True)
        head, row = (line.split() for line in shown.stdout.splitlines())
        cells = dict(zip(head, row))
        want = ({"NAME": "w1", "POOL": "worker", "PHASE": "Draining", "AVAILABLE": "True",
                 "DEGRADED": "False", "VERSION": "4.20.3", "EST": "10m0s"} if resource == NODES else
                {"NAME": "w1", "ASSESSMENT": "Progressing", "DONE": "33", "NODES": "3", "OUTDATED": "2",
                 "PROGRESSING": "1", "DRAINING": "0", "DEGRADED": "0"})
        assert {key: cells.get(key) for key in want} == want, shown.stdout
    both = server.kubectl("get", "insights", "-o", "name").stdout.split()
    assert len(both) == 2, both


kubesuite.run(RealServer, prepare=lambda server: server.install(
    *sorted((ROOT / "deploy/crds").glob("*progressinsights.yaml"))))
