"""tests/lib/capatree.py - a musterd with capa-annotator, on the muster-sim that has the API of AWS.

    with annotator() as (aws, tree):
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large", "prod")         # with a template of the same name
        world.wait_annotated("web", vCPU="2", memoryMb="8192")

World makes objects in the form of v1beta2, or in that of v1beta1, on any server.
"""
import contextlib
import re
import urllib.request

import capacrds
from capacrds import AWS_CLUSTERS, CLUSTERS, CONTROL, CONTROL_PLANES, DEPLOYMENTS, INFRA, TEMPLATES
from kubetree import KubeTree
from muster import wait_for
from providers import Provider

ACTOR = "capa-annotator"
ROLE = "arn:aws:iam::111122223333:role/annotator"
OPENSHIFT, CAPACITY = "machine.openshift.io/", "capacity.cluster-autoscaler.kubernetes.io/"
REGION = "capa.infrastructure.cluster.x-k8s.io/region"
# Of the real defaults, all waits after a failure shorter.
FAST = {"retry-interval": "50ms", "retry-interval-max": "1s", "requests-per-second": 1000,
        "unknown-type-interval": "1s"}


class Aws(Provider):
    """STS and EC2 of muster-sim."""

    def __init__(self, **more):
        super().__init__("aws", **more)

    def calls(self, call_class="describe-types", region=None):
        """The calls that have ended; region: of that one, and answered."""
        return [row for row in self.audit() if row["class"] == call_class
                and (region is None or (row.get("detail") or "").startswith(region))]

    def identity(self, **more):
        """The environment of a Pod with a web identity."""
        return {"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": str(self.web_token_file()),
                "AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": self.url, **more}

    def web_token_file(self):
        """In a folder of its own, as a projected volume has it."""
        folder = self.server.folder / "web-identity"
        folder.mkdir(exist_ok=True)
        file = folder / "token"
        if not file.exists():
            self.rotate(self.token)
        return file

    def rotate(self, token):
        fresh = self.server.folder / "web-identity" / ".new"
        fresh.write_text(token + "\n")
        fresh.replace(fresh.with_name("token"))


class CapaTree(KubeTree):
    """settings: of capa-annotator; identity: its environment; actors: sections of others."""

    def __init__(self, server, identity, settings=None, metrics=False, actors=None, **more):
        super().__init__(server, readers=0, env={**dict.fromkeys(NAMES, ""), **identity}, **more)
        self.settings.update({ACTOR: {**FAST, **(settings or {})}, **(actors or {})})
        shown = {"metrics-bind-address": "127.0.0.1:0", "health-probe-bind-address": "127.0.0.1:0"}
        self.configure({"supervisor": {"log-format": "json"},
                        "actors": {"metrics": shown if metrics else {"enabled": False}, **self.settings}})

    def explain(self, name, namespace="default"):
        return self.cli("explain", f"machinedeployment/{namespace}/{name}").stdout


NAMES = ("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_SESSION_NAME", "AWS_REGION",
         "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_EC2", "AWS_CA_BUNDLE")


@contextlib.contextmanager
def annotator(core=("v1beta2", "v1beta1"), identity=None, leave_out=(), **more):
    """core: the versions of Cluster API that the cluster serves."""
    with Aws() as aws:
        aws.server.install(*capacrds.crds(core, leave_out))
        with CapaTree(aws.server, aws.identity(**(identity or {})), **more) as tree:
            tree.wait_running()
            yield aws, tree


class World:
    """The objects of one namespace. version: of Cluster API, in whose form they are made."""

    def __init__(self, server, namespace="default", version="v1beta2"):
        self.kube, self.namespace, self.version = server.kube, namespace, version

    def core(self, plural):
        return plural if self.version == "v1beta2" else f"{plural}.{self.version}"

    def reference(self, group, kind, name, **more):
        if self.version == "v1beta2":
            return {"apiGroup": group, "kind": kind, "name": name}
        return {"apiVersion": f"{group}/v1beta2", "kind": kind, "name": name, **more}

    def make(self, plural, name, spec, **meta):
        return self.kube.create(plural, {"metadata": {"name": name, **meta}, "spec": spec}, self.namespace)

    def template(self, name, instance_type):
        return self.make(TEMPLATES, name, {"template": {"spec": {"instanceType": instance_type}}})

    def cluster(self, name, region):
        """A Cluster and its AWSCluster. region None: it has none yet."""
        if region is not None:
            self.make(AWS_CLUSTERS, name, {"region": region})
        return self.make(self.core(CLUSTERS), name, {
            "infrastructureRef": self.reference(INFRA, "AWSCluster", name)})

    def managed_cluster(self, name, region):
        """EKS: the region is that of the control plane."""
        self.make(CONTROL_PLANES, f"{name}-control-plane", {"region": region})
        return self.make(self.core(CLUSTERS), name, {
            "infrastructureRef": self.reference(INFRA, "AWSManagedCluster", name),
            "controlPlaneRef": self.reference(CONTROL, "AWSManagedControlPlane", f"{name}-control-plane")})

    def deployment(self, name, instance_type=None, cluster="prod", reference=None, **meta):
        """With a template of the same name; instance_type None: without one."""
        if instance_type is not None:
            self.template(name, instance_type)
        return self.make(self.core(DEPLOYMENTS), name, self.spec(name, cluster, reference), **meta)

    def spec(self, name, cluster, reference=None):
        labels = {"cluster.x-k8s.io/deployment-name": name}
        return {"clusterName": cluster, "replicas": 0, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {
                    "clusterName": cluster, "bootstrap": {"dataSecretName": "none"},
                    "infrastructureRef": self.reference(INFRA, "AWSMachineTemplate", name)
                    if reference is None else reference}}}

    def get(self, name):
        return self.kube.get(self.core(DEPLOYMENTS), name, self.namespace)

    def annotations(self, name):
        return self.get(name)["metadata"].get("annotations") or {}

    def annotate(self, name, values):
        self.kube.merge(self.core(DEPLOYMENTS), name, {"metadata": {"annotations": values}}, self.namespace)

    def set_type(self, name, instance_type):
        self.kube.merge(TEMPLATES, name, {"spec": {"template": {"spec": {"instanceType": instance_type}}}},
                        self.namespace)

    def events(self, name):
        """[(reason, note)] of the Events about that MachineDeployment."""
        return [(event["reason"], event.get("note", ""))
                for event in self.kube.list("events", self.namespace)["items"]
                if event["regarding"]["name"] == name and event["regarding"]["kind"] == "MachineDeployment"]

    def wait_event(self, name, reason, text):
        wait_for(lambda: any(row == reason and text in note for row, note in self.events(name)),
                 f"{name}: Event {reason} with {text!r}")

    def wait_annotated(self, name, want, timeout=60):
        """Until it has exactly these of our annotations."""
        def same():
            found.update(ours=ours(self.annotations(name)))
            return found["ours"] == want
        found = {}
        try:
            wait_for(same, f"{name} is annotated", timeout)
        except AssertionError as late:
            raise AssertionError(f"{late}: {found['ours']}, not {want}, {self.events(name)}") from None


def ours(annotations):
    keys = [OPENSHIFT + key for key in ("vCPU", "memoryMb", "GPU")]
    keys += [CAPACITY + key for key in ("cpu", "memory", "gpu-count", "gpu-type", "labels")]
    return {key: annotations[key] for key in keys if key in annotations}


def figures(vcpus, memory_mib, arch="amd64", gpus=0, gpu_type=None, labels=None):
    """The annotations of a type."""
    rows = {OPENSHIFT + "vCPU": str(vcpus), OPENSHIFT + "memoryMb": str(memory_mib),
            OPENSHIFT + "GPU": str(gpus), CAPACITY + "cpu": str(vcpus),
            CAPACITY + "memory": f"{memory_mib}Mi",
            CAPACITY + "labels": labels or f"kubernetes.io/arch={arch}"}
    if gpu_type:
        rows.update({CAPACITY + "gpu-count": str(gpus), CAPACITY + "gpu-type": gpu_type})
    return rows


M5_LARGE, M6G_XLARGE = figures(2, 8192), figures(4, 16384, "arm64")
G5_12XLARGE = figures(48, 196608, gpus=4, gpu_type="nvidia.com/gpu")


def writes(server):
    """Everything that muster wrote, without its Lease and its Events."""
    return [row for row in server.audit() if row["verb"] not in ("get", "list", "watch")
            and row["resource"] not in ("leases", "events") and "muster" in row["user-agent"]]


def metrics(tree, name):
    """The series of that name of capa-annotator: labels -> value."""
    address = (tree.run_dir / "metrics" / "metrics.addr").read_text().strip()
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
        rows = re.findall(rf"^{name}{{([^}}]*)}} (\S+)$", answer.read().decode(), re.M)
    return {labels: float(value) for labels, value in rows if f'actor="{ACTOR}"' in labels}
