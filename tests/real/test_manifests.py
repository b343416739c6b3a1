"""tests/real/test_manifests.py - the manifests and the chart are accepted by the API server, and agree.

The kinds of the Prometheus operator are those of its Go module. No Pod is started: there is no kubelet; a Pod
is made of each template, in a namespace that enforces the Pod Security Standard `restricted`.

muster-test: parallel
muster-test: timeout=600
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from helmchart import ACTORS, CHART, template
from kubeservers import RealServer
from muster import BIN, ROOT

DEPLOY, NAMESPACE = ROOT / "deploy", "muster-system"
OPERATOR = ("github.com/prometheus-operator/prometheus-operator", "v0.85.0",
            "example/prometheus-operator-crd")
KUSTOMIZE = DEPLOY / "kustomize"
PLACES = [KUSTOMIZE / "base", *sorted((KUSTOMIZE / "overlays").iterdir())]
EVERYTHING = {"serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True},
              "dashboard": {"enabled": True}, "aws": {"roleArn": "arn:aws:iam::111122223333:role/muster",
                                                      "region": "eu-west-1"}}
CLAIMERS = ("lke-claimer", "vpsie-claimer", "capa-annotator", "vip-claimer")
# What the overlays have in their muster.yaml.
IN_ALL = {name: {"enabled": True, **({"cluster-name": "my-cluster"} if name == "lke-claimer" else {})}
          for name in CLAIMERS}
# What differs between a chart and an overlay by the nature of both.
OF_HELM = {"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by",
           "helm.sh/chart", "checksum/config", "muster/container"}


def prepare(server):
    server.install(*kubecrds.from_module(OPERATOR, "servicemonitors", "prometheusrules"))
    server.kube.create("namespaces", {"metadata": {"name": NAMESPACE, "labels": {
        "pod-security.kubernetes.io/enforce": "restricted"}}})
    apply(server, (DEPLOY / "crds").glob("*.yaml"))


def kubectl(server, *words, stdin=None):
    done = server.kubectl(*words, stdin=stdin)
    assert done.returncode == 0, f"kubectl {' '.join(map(str, words))}: {done.stderr}"
    return done.stdout


def apply(server, files):
    for file in files:
        kubectl(server, "apply", "-f", file)


def built(server, place):
    return kubectl(server, "kustomize", place)


def with_monitoring(server):
    """The base with the component deploy/monitoring, as an overlay of somebody else has it."""
    with tempfile.TemporaryDirectory(prefix="overlay-") as folder:
        base, monitoring = (os.path.relpath(DEPLOY / name, os.path.realpath(folder))
                            for name in ("kustomize/base", "monitoring"))
        pathlib.Path(folder, "kustomization.yaml").write_text(
            "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n"
            f"resources: [{base}]\ncomponents: [{monitoring}]\n")
        return built(server, folder)


def objects(server, text):
    """(kind, name) -> object, of a text of YAML."""
    printed = kubectl(server, "create", "--dry-run=client", "-o", "json", "-f", "-", stdin=text)
    found, decoder = {}, json.JSONDecoder()
    while printed.strip():
        read, end = decoder.raw_decode(printed.lstrip())
        printed = printed.lstrip()[end:]
        found.update({(item["kind"], item["metadata"]["name"]): item for item in read.get("items", [read])})
    return found


# -- cases

def every_manifest_is_accepted(server):
    texts = {place.name: built(server, place) for place in PLACES}
    texts["monitoring"] = with_monitoring(server)
    texts["chart"] = template(release="chart")
    texts["chart, all"] = template({**EVERYTHING, "actors": IN_ALL}, release="all")
    for name, text in texts.items():
        kubectl(server, "apply", "-f", "-", stdin=text)
        for (kind, _), item in objects(server, text).items():
            if kind == "Deployment":
                check_pod(server, name, item)


def check_pod(server, name, deployment):
    """The admission of Pods takes it: `restricted` judges Pods, not Deployments."""
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": deployment["spec"]["template"]["spec"],
           "metadata": {"name": "a-pod", "namespace": NAMESPACE}}
    kubectl(server, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))
    ours, = [row for row in pod["spec"]["containers"] if row["name"] == "muster"]
    secure = ours["securityContext"]
    assert secure["readOnlyRootFilesystem"] and secure["runAsNonRoot"], (name, secure)
    assert secure["capabilities"] == {"drop": ["ALL"]}, (name, secure)
    assert secure["seccompProfile"] == {"type": "RuntimeDefault"}, (name, secure)
    run, = [row for row in pod["spec"]["volumes"] if row["name"] == "muster-run"]
    assert run["emptyDir"]["medium"] == "Memory", (name, run)
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= ours.keys(), (name, ours)


def a_pod_that_is_not_confined_is_refused(server):
    """Else every_manifest_is_accepted would show nothing about Pods."""
    item = objects(server, built(server, KUSTOMIZE / "base"))[("Deployment", "muster")]
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": item["spec"]["template"]["spec"],
           "metadata": {"name": "a-pod", "namespace": NAMESPACE}}
    pod["spec"]["containers"][0]["securityContext"].pop("capabilities")
    refused = server.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))
    assert refused.returncode != 0 and "unrestricted capabilities" in refused.stderr, refused.stderr


def the_chart_and_the_overlays_agree(server):
    pairs = {"base": {}, "overlays/all": {"actors": IN_ALL, "aws": EVERYTHING["aws"]},
             "overlays/lke-claimer": {"actors": {"lke-claimer": IN_ALL["lke-claimer"],
                                                 "insight": {"enabled": False}}}}
    for place, values in pairs.items():
        wanted = comparable(server, built(server, KUSTOMIZE / place))
        found = comparable(server, template(values, release="muster"))
        assert wanted.keys() == found.keys(), (place, wanted.keys() ^ found.keys())
        for key, item in wanted.items():
            assert found[key] == item, f"{place}: {key}\nkustomize {json.dumps(item, sort_keys=True)}\n" \
                                       f"helm      {json.dumps(found[key], sort_keys=True)}"


def comparable(server, text):
    """Without labels of Helm, names with hashes, and defaults; rules and configuration by their meaning."""
    found = {}
    for (kind, name), item in objects(server, text).items():
        if kind == "Namespace":
            continue            # Helm makes it with --create-namespace
        item = plain(item)
        item["metadata"].pop("labels", None)
        if kind == "ConfigMap":
            name, item = "muster-config", meaning(item["data"]["muster.yaml"])
        if kind in ("ClusterRole", "Role"):
            item = {(rule["apiGroups"][0], rule["resources"][0], verb) for rule in item["rules"]
                    for verb in rule["verbs"]}
            item = sorted(item)
        found[kind, name] = item
    return found


def plain(value):
    if isinstance(value, dict):
        rows = {key: plain(below) for key, below in value.items() if key not in OF_HELM}
        if rows.get("name", "") and str(rows["name"]).startswith("muster-config"):
            rows["name"] = "muster-config"
        if "image" in rows:
            rows.pop("imagePullPolicy", None)
            rows["image"] = str(rows["image"]).split(":")[0]
        return {key: below for key, below in rows.items() if below not in ({}, None)}
    if isinstance(value, list):
        rows = [plain(row) for row in value]
        return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)) if rows else rows
    return value


def meaning(config):
    """What musterd makes of it: the actors that it starts, and the rights that they need."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(config)
        file.flush()
        printed = [subprocess.run([str(BIN / "muster"), "check", *words, file.name], text=True, check=True,
                                  capture_output=True).stdout for words in ([], ["--print-rbac"])]
    actors = sorted(line.split()[0] for line in printed[0].splitlines()[1:] if " off" not in line)
    return actors, printed[1]


def the_sidecar_is_the_container_of_the_base(server):
    def container(place, name):
        spec = objects(server, built(server, place))["Deployment", name]["spec"]["template"]["spec"]
        row, = [row for row in spec["containers"] if row["name"] == "muster"]
        return plain({**row, "volumeMounts": [mount for mount in row["volumeMounts"]
                                              if mount["name"] != "muster-token"]})
    assert container(KUSTOMIZE / "overlays/sidecar", "app") == container(KUSTOMIZE / "base", "muster")


def the_schema_refuses_a_wrong_value(_server):
    wrong = {
        "replicas": {"replicas": 0},
        "leader-elect: true": {"actors": {"kube-watcher": {"leader-elect": False}}},
        "log-level": {"supervisor": {"log-level": "loud"}},
        "writes-per-second": {"actors": {"kube-watcher": {"writes-per-second": 10001}}},
        "drain-timeout": {"actors": {"lke-claimer": {"drain-timeout": "soon"}}},
        "tokenfile": {"actors": {"lke-claimer": {"tokenfile": "/x"}}},
        "no-actor": {"actors": {"no-actor": {"enabled": True}}},
        "metrics": {"actors": {"metrics": {"enabled": False}}},
        "roleArn": {"aws": {"roleArn": "role"}}, "image": {"image": {"pullPolicy": "Sometimes"}},
        "colour": {"colour": "red"},
    }
    for text, values in wrong.items():
        refused = template(values, fails=True)
        assert text in refused, f"{values}: {refused}"


def every_setting_has_its_place_in_the_schema(_server):
    """And the default of each is allowed: the chart renders with all of them."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(schema["properties"]["actors"]["properties"]) == set(ACTORS)
    template({"supervisor": {"log-level": "debug", "stop-timeout": "20s"}, "actors": {
        "lke-claimer": {"enabled": True, "cluster-id": 70001, "registration-timeout": "1h30m"},
        "kube-watcher": {"writes-per-second": 10, "insight-group": "update.example.com"}}})


kubesuite.run(RealServer, every_manifest_is_accepted, a_pod_that_is_not_confined_is_refused,
              the_chart_and_the_overlays_agree, the_sidecar_is_the_container_of_the_base,
              the_schema_refuses_a_wrong_value, every_setting_has_its_place_in_the_schema, prepare=prepare)
