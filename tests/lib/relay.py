"""tests/lib/relay.py - carries the objects of an update from one API server to another.

    relay = Relay(sim.kube, real.kube)
    for phase in relay.carry():         # what changed since the last time: first all but status, then status
        ...                             # the target stands still meanwhile

So one engine, the rollout of muster-sim, drives both servers. A phase without a change is left out.
"""
import rolloutworld
from kube import MERGE, typed
from rolloutcrds import INPUTS

RESOURCES = ("clusterversions", "machineconfigs", "machineconfigpools", "nodes")
assert set(RESOURCES) == {"nodes", *INPUTS}
STATUS = ("clusterversions", "machineconfigpools", "nodes")


class Relay:
    def __init__(self, source, target):
        self.source, self.target = source, target
        self.carried = {}       # (resource, name) -> (all but status, status)

    def carry(self):
        found = {(resource, item["metadata"]["name"]): parts(item) for resource in RESOURCES
                 for item in rolloutworld.items(self.source, resource)}
        before, self.carried = self.carried, found
        requests = [self.request("DELETE", key) for key in before.keys() - found.keys()]
        for key in sorted(found, key=lambda key: RESOURCES.index(key[0])):
            if key not in before:
                main = found[key][0]
                status = {"status": found[key][1]} if key[0] == "nodes" else {}
                requests.append({"method": "POST", "path": self.target.path(key[0]),
                                 "body": typed(key[0], {**main, **status})})
            elif before[key][0] != found[key][0]:
                requests.append(self.request("PATCH", key, body=difference(before[key][0], found[key][0])))
        yield from self.phase(requests)
        yield from self.phase([
            self.request("PATCH", key, "status", body={"status": status or None})
            for key, (_, status) in found.items() if key[0] in STATUS
            and status != (before[key][1] if key in before else status if key[0] == "nodes" else {})])

    def request(self, method, key, sub=None, **more):
        content = {"content": MERGE} if method == "PATCH" else {}
        return {"method": method, "path": self.target.path(*key, sub=sub), **content, **more}

    def phase(self, requests):
        if requests:
            self.target.bulk(requests, workers=4)
            yield len(requests)


def parts(item):
    meta = item["metadata"]
    meta = {key: meta[key] for key in ("name", "labels", "annotations") if key in meta}
    return {"metadata": meta, "spec": item.get("spec") or {}}, item.get("status") or {}


def difference(old, new):
    """The merge patch that makes new of old."""
    patch = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            below = difference(old[key], value)
            if below:
                patch[key] = below
        elif key not in old or old[key] != value:
            patch[key] = value
    return patch
