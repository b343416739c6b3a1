"""tests/lib/capareal.py - the CRDs of Cluster API and of its AWS provider, as they are released, on a real
API server, in one version of Cluster API at a time.
"""
import kubecrds
from capacrds import AWS_CLUSTERS, CAPI, CONTROL_PLANES, TEMPLATES
from muster import wait_for

CAPA = ("sigs.k8s.io/cluster-api-provider-aws/v2", "v2.13.0", "config/crd/bases")
VERSIONS = ("v1beta1", "v1beta2")


def install(server, plurals):
    """plurals: the kinds of Cluster API's own group."""
    server.install(*kubecrds.from_module(kubecrds.CAPI, *plurals),
                   *kubecrds.from_module(CAPA, TEMPLATES, AWS_CLUSTERS, CONTROL_PLANES))


def serve(server, version, plurals):
    """Nothing converts here, so one version is served, the one that is stored."""
    for plural in plurals:
        name = f"{plural}.{CAPI}"
        crd = server.kube.get("customresourcedefinitions", name)
        for row in crd["spec"]["versions"]:
            row["served"] = row["storage"] = row["name"] == version
        server.kube.replace("customresourcedefinitions", crd)
    for row in VERSIONS:
        for plural in plurals:
            path = f"apis/{CAPI}/{row}/{plural}"
            wait_for(lambda: (server.kube.raw("GET", path).code == 200) == (row == version),
                     f"{path} is served, or is not")
