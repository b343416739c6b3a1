"""tests/lib/anycrds.py - CustomResourceDefinitions for muster-sim: names, versions and scopes.

Any field is taken. The real ones, with their schemas, are in Go modules (kubecrds).
"""
import kube
from kube import Resource

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def register(group, plural, kind, versions, namespaced=True):
    """Rows of kube.RESOURCES: the plural is that of the first version, PLURAL.VERSION of each other."""
    for version in versions:
        key = plural if version == versions[0] else f"{plural}.{version}"
        kube.RESOURCES[key] = Resource(f"apis/{group}/{version}", kind, namespaced)


def crd(group, plural, kind, versions, namespaced=True):
    """The first version is the stored one."""
    rows = [{"name": name, "served": True, "storage": name == versions[0], "subresources": {"status": {}},
             "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _ANY, "status": _ANY}}}}
            for name in versions]
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced" if namespaced else "Cluster", "versions": rows,
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind,
                               "listKind": kind + "List"}}}
