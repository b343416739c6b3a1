"""tests/lib/rolloutworld.py - the objects of an OpenShift update: made by hand, and read back for the oracle.

    populate(server, [node("w1"), node("m1", "master")], [pool("master"), pool("worker")])
    annotate(server, "w1", desiredConfig=rendered("worker", NEW), state="Working")
    world_of(server).nodes()["w1"]          # what its insight must be
"""
import contextlib

import oracle
import rolloutcrds
from kube import KubeError
from oracle import MCO

ROLE = "node-role.kubernetes.io/"
OLD, NEW = "4.20.2", "4.20.3"
EARLY, LATER = "2026-01-02T03:04:05Z", "2026-01-02T04:05:06Z"


def rendered(pool_name, version):
    return f"rendered-{pool_name}-{version.replace('.', '')}"


def notes(**values):
    """MCO's annotations, by their names without prefix; None removes one in a patch."""
    return {MCO + key: value for key, value in values.items()}


def node(name, *roles, version=OLD, labels=None, conditions=None, spec=None, **more):
    """A Node that runs that version and is at rest; more: other annotations of MCO, None leaves one out."""
    roles = roles or ("worker",)
    config = rendered(roles[-1], version)
    values = {"currentConfig": config, "desiredConfig": config, "state": "Done", **more}
    return {"metadata": {"name": name, "labels": {**{ROLE + role: "" for role in roles}, **(labels or {})},
                         "annotations": {k: v for k, v in notes(**values).items() if v is not None}},
            "spec": spec or {},
            "status": {"conditions": conditions if conditions is not None else [condition("Ready", "True")]}}


def condition(kind, status, when=EARLY):
    return {"type": kind, "status": status, "reason": "Test", "lastTransitionTime": when}


def pool(name, selector=None, paused=False, **more):
    selector = {"matchLabels": {ROLE + name: ""}} if selector is None else selector
    return {"metadata": {"name": name, **more}, "spec": {"nodeSelector": selector, "paused": paused}}


def config(name, version):
    annotations = notes(**{"release-image-version": version})
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {}}


def configs_of(*pools, versions=(OLD, NEW)):
    return [config(rendered(name, version), version) for name in pools for version in versions]


def populate(server, nodes=(), pools=None, configs=None, target=NEW):
    """Everything of it, the ClusterVersion first and the nodes last."""
    pools = [pool("master"), pool("worker")] if pools is None else pools
    configs = configs_of(*(p["metadata"]["name"] for p in pools)) if configs is None else configs
    if target is not None:
        server.kube.create("clusterversions", {"metadata": {"name": "version"}, "spec": {}})
        aim(server, target)
    server.kube.create_many("machineconfigs", configs)
    server.kube.create_many("machineconfigpools", pools)
    server.kube.create_many("nodes", nodes)


def aim(server, version, *earlier):
    """The cluster updates to that version."""
    history = [{"state": "Partial", "version": v, "startedTime": EARLY, "completionTime": None, "image": "i"}
               for v in (version, *earlier)]
    server.kube.merge("clusterversions", "version", {"status": {"history": history}}, sub="status")


def annotate(server, name, **values):
    server.kube.merge("nodes", name, {"metadata": {"annotations": notes(**values)}})


def relabel(server, name, **labels):
    """Labels by role: worker="" is node-role.kubernetes.io/worker; None takes one away."""
    server.kube.merge("nodes", name, {"metadata": {"labels": {ROLE + k: v for k, v in labels.items()}}})


def set_conditions(server, name, *conditions):
    server.kube.merge("nodes", name, {"status": {"conditions": list(conditions)}}, sub="status")


def set_pool(server, name, **spec):
    server.kube.merge("machineconfigpools", name, {"spec": spec})


def items(kube, resource):
    """Every object of it; none where the kind is not served."""
    try:
        return kube.list(resource)["items"]
    except KubeError as error:
        if error.code != 404:
            raise
        return []


def world_of(server):
    versions = [cv for cv in items(server.kube, "clusterversions") if cv["metadata"]["name"] == "version"]
    return oracle.World(items(server.kube, "nodes"), items(server.kube, "machineconfigpools"),
                        items(server.kube, "machineconfigs"), versions[0] if versions else None)


def sweep(server):
    """Nothing of an earlier case is left. Nodes go first, insights last: they are not written any more."""
    for resource in ("nodes", *rolloutcrds.INPUTS, *rolloutcrds.INSIGHTS):
        with contextlib.suppress(KubeError):        # the kind may not be there
            server.kube.delete_all(resource)
