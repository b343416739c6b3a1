"""tests/sim/test_annotator.py - capa-annotator on muster-sim: F1 to F9, FR1 to FR7, TR3 to TR5.

Versions and references of both API versions, what comes late, what is wrong, and what nobody may touch. The
faults of AWS are in test_annotator_faults.py.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import capacrds
import kubesuite
import tap
from capacrds import AWS_CLUSTERS, CLUSTERS, CONTROL_PLANES, DEPLOYMENTS, INFRA, TEMPLATES
from capatree import (ACTOR, CAPACITY, G5_12XLARGE, M5_LARGE, M6G_XLARGE, NAMES, OPENSHIFT, REGION, Aws,
                      CapaTree, World, annotator, figures, metrics, ours, writes)
from muster import BIN, ROOT, wait_for


@tap.case
def F1_F9_FR6_FR5_2_FR5_3_AC8_the_annotations_of_every_kind_of_type():
    with annotator() as (aws, tree):
        world = World(aws.server)
        world.cluster("prod", "us-east-1")
        labels = "team=a,kubernetes.io/arch=arm64,zone=b,broken"
        foreign = {"example.com/keep": "me", CAPACITY + "maxPods": "58",
                   CAPACITY + "taints": "a=b:NoSchedule"}
        world.deployment("web", "m5.large", annotations={
            **foreign, CAPACITY + "labels": labels, CAPACITY + "gpu-count": "2",
            CAPACITY + "gpu-type": "nvidia.com/gpu", OPENSHIFT + "vCPU": "96"})
        wanted = {
            "arm": ("m6g.xlarge", M6G_XLARGE), "mac": ("mac2.metal", figures(8, 16384, "arm64")),
            "gpu": ("g5.12xlarge", G5_12XLARGE), "amd": ("g4ad.8xlarge", figures(
                32, 131072, gpus=2, gpu_type="amd.com/gpu")),
            "part": ("g6f.large", figures(2, 8192, gpus=1, gpu_type="nvidia.com/gpu")),
            "other": ("dl1.24xlarge", figures(96, 786432, gpus=8)),
            "neuron": ("inf2.48xlarge", figures(192, 786432))}
        for name, (kind, _) in wanted.items():
            world.deployment(name, kind)
        for name, (_, want) in wanted.items():
            world.wait_annotated(name, want)
        world.wait_annotated("web", figures(2, 8192, labels="team=a,kubernetes.io/arch=amd64,zone=b,broken"))
        assert foreign.items() <= world.annotations("web").items(), world.annotations("web")
        # The pair goes when the template has no GPU any more, and its change is noticed by its watch.
        world.set_type("gpu", "m5.large")
        world.wait_annotated("gpu", M5_LARGE)
        assert {row["code"] for row in writes(aws.server)} == {200}, writes(aws.server)
        assert len(writes(aws.server)) == len(wanted) + 2, writes(aws.server)
        # FR5.4, F4: one reading, whose pages are read once each, and one set of credentials, serve all.
        assert len(aws.calls()) == 9 and len(aws.calls("assume-role")) == 1, aws.audit()
        before = len(writes(aws.server))
        kubesuite.pause(1)
        assert len(writes(aws.server)) == before, "A1 it writes without a cause"


@tap.case
def F2_FR1_1_FR2_1_FR2_2_FR2_4_TR3_TR4_AC2_AC3_references_of_v1beta1_alone():
    with annotator(core=("v1beta1",)) as (aws, tree):
        world = World(aws.server, version="v1beta1")
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large")
        world.wait_annotated("web", M5_LARGE)
        # TR3: a namespace of the reference's own counts; without one it is that of the MachineDeployment.
        aws.server.kube.create("namespaces", {"metadata": {"name": "shared"}})
        World(aws.server, "shared", "v1beta1").template("golden", "m6g.xlarge")
        world.deployment("arm", reference=world.reference(INFRA, "AWSMachineTemplate", "golden",
                                                          namespace="shared"))
        world.wait_annotated("arm", M6G_XLARGE)
        # FR2.3: the version in apiVersion does not count.
        old = {"apiVersion": f"{INFRA}/v1beta1", "kind": "AWSMachineTemplate", "name": "web"}
        world.deployment("old", reference=old)
        world.wait_annotated("old", M5_LARGE)


@tap.case
def F2_FR2_5_FR3_1_FR7_2_AC4_AC9_what_comes_late_is_noticed_by_its_watch():
    with annotator() as (aws, tree):
        world = World(aws.server)
        world.deployment("web")
        world.wait_event("web", "ReconcileError", "the AWSMachineTemplate does not exist: default/web")
        world.template("web", "m5.large")
        world.wait_event("web", "ReconcileError", "neither Cluster nor annotation leads to a region")
        world.cluster("prod", None)
        kubesuite.pause(0.3)
        assert ours(world.annotations("web")) == {} and not aws.audit(), aws.audit()
        world.make(AWS_CLUSTERS, "prod", {})
        world.kube.merge(AWS_CLUSTERS, "prod", {"spec": {"region": "eu-west-1"}}, "default")
        world.wait_annotated("web", M5_LARGE)
        # Without polling: but for one list of each kind at most, all is read by watches.
        asked = [row for row in aws.server.audit() if row["verb"] in ("get", "list") and row["resource"] in
                 capacrds.KINDS and "muster" in row["user-agent"]]
        assert len(asked) <= len(capacrds.KINDS), asked


@tap.case
def F2_F9_EKS_takes_the_region_of_its_control_plane():
    with annotator() as (aws, tree):
        world = World(aws.server)
        world.managed_cluster("eks", "eu-central-1")
        world.deployment("web", "m5.large", "eks")
        world.wait_annotated("web", M5_LARGE)
        # Old clusters refer to the control plane twice.
        both = world.reference("controlplane.cluster.x-k8s.io", "AWSManagedControlPlane", "twice")
        world.make(CONTROL_PLANES, "twice", {"region": "us-west-2"})
        world.make(CLUSTERS, "twice", {"infrastructureRef": both, "controlPlaneRef": both})
        world.deployment("arm", "m6g.xlarge", "twice")
        world.wait_annotated("arm", M6G_XLARGE)
        for region in ("eu-central-1", "us-west-2"):
            assert len(aws.calls(region=region)) > 5, aws.audit()


@tap.case
def FR2_3_FR2_6_FR3_2_FR3_3_F9_AC5_where_the_region_is_and_where_none_is():
    with annotator() as (aws, tree):
        world = World(aws.server)
        world.deployment("web", "m5.large", "gone", annotations={REGION: "eu-west-1"})
        world.wait_annotated("web", M5_LARGE)       # FR3.2 no Cluster: the annotation
        world.deployment("none", "m5.large", "gone")
        world.wait_event("none", "ReconcileError", "neither Cluster nor annotation leads to a region")
        azure = world.reference(INFRA, "AzureCluster", "azure")
        world.make(CLUSTERS, "azure", {"infrastructureRef": azure})
        world.deployment("cloud", "m5.large", "azure")
        world.wait_event("cloud", "ReconcileError", "leads to a region: default/azure")
        # FR2.6, TR3: not a reference to a template of AWS.
        world.deployment("other", reference=world.reference(INFRA, "AzureMachineTemplate", "other"))
        world.wait_event("other", "ReconcileError",
                         "does not name an AWSMachineTemplate: AzureMachineTemplate/other")
        world.deployment("empty", reference={"apiGroup": INFRA, "kind": "AWSMachineTemplate", "name": ""})
        world.wait_event("empty", "ReconcileError", "infrastructureRef is missing or has no name")
        world.make(TEMPLATES, "typeless", {"template": {"spec": {}}})
        world.deployment("typeless")
        world.wait_event("typeless", "ReconcileError", "has no instanceType: default/typeless")
        # F9: a region of another partition, and one that would lead to another host.
        world.cluster("china", "cn-north-1")
        world.deployment("china", "m5.large", "china")
        world.wait_event("china", "ReconcileError", "in another partition than the role: cn-north-1")
        world.cluster("evil", "eu-west-1.evil.example/")
        world.deployment("evil", "m5.large", "evil")
        world.wait_event("evil", "ReconcileError", "not the name of an AWS region: eu-west-1.evil.example/")
        for name in ("none", "cloud", "other", "empty", "typeless", "china", "evil"):
            assert ours(world.annotations(name)) == {}, name
        assert len(aws.calls()) == len(aws.calls(region="eu-west-1")) == 8, aws.audit()
        # FR7.4, FR7.5: one Event and one log line for each, and a log line has namespace and name.
        lines = tree.facts(object="machinedeployments/default/china", reason="ReconcileError")
        assert len(lines) == 1 and "cn-north-1" in lines[0]["why"], lines


@tap.case
def F9_what_goes_leaves_the_annotations_as_they_are():
    with annotator() as (aws, tree):
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large")
        world.wait_annotated("web", M5_LARGE)
        world.set_type("web", "m5.nope")
        world.wait_event("web", "FailedUpdate", "unknown instance type: m5.nope in eu-west-1")
        world.kube.delete(TEMPLATES, "web", "default")
        world.wait_event("web", "ReconcileError", "the AWSMachineTemplate does not exist")
        world.template("web", "m6g.xlarge")
        world.wait_annotated("web", M6G_XLARGE)
        world.kube.delete(AWS_CLUSTERS, "prod", "default")
        world.wait_event("web", "ReconcileError", "neither Cluster nor annotation leads to a region")
        kubesuite.pause(0.3)
        assert ours(world.annotations("web")) == M6G_XLARGE, world.annotations("web")
        assert len(writes(aws.server)) == 2, writes(aws.server)


@tap.case
def F8_FR7_1_AC10_an_unknown_type_is_annotated_once_a_later_catalogue_has_it():
    with annotator(settings={"unknown-type-interval": "2s"}) as (aws, tree):
        aws.set("hidden", ["m5.large"])
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("arm", "m6g.xlarge")
        world.wait_annotated("arm", M6G_XLARGE)
        world.deployment("web", "m5.large")
        world.wait_event("web", "FailedUpdate", "unknown instance type: m5.large in eu-west-1")
        assert ours(world.annotations("web")) == {}
        # F9: one early walk for it, which does not have it either, and no more.
        wait_for(lambda: len(aws.calls()) == 16, "one early walk")
        kubesuite.pause(3)
        assert len(aws.calls()) == 16, aws.audit()
        aws.set("hidden", [])
        world.deployment("later", "c5.nope")        # another one that is not there: one more early walk
        world.wait_annotated("web", M5_LARGE)
        world.wait_event("later", "FailedUpdate", "unknown instance type: c5.nope in eu-west-1")
        assert len([row for row in writes(aws.server) if row["name"] == "web"]) == 1, writes(aws.server)


@tap.case
def FR1_2_FR1_3_FR1_4_AC1_namespaces_and_deletions():
    with Aws() as aws:
        aws.server.install(*capacrds.crds())
        for name in ("team-a", "team-b"):
            aws.server.kube.create("namespaces", {"metadata": {"name": name}})
        a, b = World(aws.server, "team-a"), World(aws.server, "team-b")
        for world in (a, b):
            world.cluster("prod", "eu-west-1")
            world.deployment("web", "m5.large")
            world.deployment("going", finalizers=["example.com/hold"])
            world.kube.delete(DEPLOYMENTS, "going", world.namespace)
            world.template("going", "m5.large")
        with CapaTree(aws.server, aws.identity(), watcher={"namespace": "team-b"}) as tree:
            tree.wait_running()
            b.wait_annotated("web", M5_LARGE)
            assert ours(a.annotations("web")) == {}, "FR1.3 another namespace"
        with CapaTree(aws.server, aws.identity()) as tree:
            tree.wait_running()
            a.wait_annotated("web", M5_LARGE)       # FR1.2 all of them
            a.set_type("going", "m6g.xlarge")
            kubesuite.pause(0.3)
            for world in (a, b):
                assert ours(world.annotations("going")) == {} and not world.events("going"), "FR1.4"


@tap.case
def F2_FR1_5_FR3_4_FR5_5_a_change_wakes_exactly_those_that_name_it():
    with annotator(metrics=True) as (aws, tree):
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.cluster("test", "eu-west-1")
        for i in range(40):
            world.deployment(f"web-{i}", "m5.large", "test" if i == 39 else "prod")
        for i in range(40):
            world.wait_annotated(f"web-{i}", M5_LARGE)

        def planned():
            """How many keys were planned, once that stands still."""
            def still():
                now = sum(metrics(tree, "workqueue_adds_total").values())
                same = now if now == last[-1] else None
                last.append(now)
                return same
            last = [None]
            return wait_for(still, "the queue is idle", every=1.2)
        before = planned()
        world.set_type("web-7", "m6g.xlarge")
        world.wait_annotated("web-7", M6G_XLARGE)
        world.kube.merge(CLUSTERS, "test", {"spec": {"infrastructureRef": world.reference(
            INFRA, "AWSCluster", "prod")}}, "default")
        after = planned()
        # web-7 for its template and its own write, web-39 for its Cluster.
        assert 3 <= after - before <= 6, (before, after)
        # FR3.4: where the region is comes from what is watched; nothing is requested for a MachineDeployment.
        requested = [row for row in aws.server.audit() if row["verb"] == "get"
                     and "muster" in row["user-agent"] and row["resource"] in capacrds.KINDS]
        assert requested == [], requested
        wait_for(lambda: sorted(metrics(tree, "muster_capa_machinedeployments").values()) == [0, 0, 40],
                 "all are counted as annotated")
        types = metrics(tree, "muster_capa_instance_types")
        assert len(types) == 1 and min(types.values()) > 700, types
        reads = metrics(tree, "muster_capa_catalogue_reads_total")
        assert list(reads.values()) == [1] and 'result="done"' in next(iter(reads)), reads
        # FR5.5: all of them were planned at once, and one reading with one set of credentials served them.
        calls = metrics(tree, "muster_provider_requests_total")
        assert sum(calls.values()) == 9, calls


@tap.case
def F4_FR5_1_FR5_4_AC7_the_region_that_nobody_is_in_is_dropped_and_a_catalogue_ages():
    with annotator(settings={"catalogue-ttl": "2s"}) as (aws, tree):
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large")
        world.wait_annotated("web", M5_LARGE)
        wait_for(lambda: len(aws.calls()) >= 24, "FR5.4 it is read again when it is old enough")
        world.kube.delete(DEPLOYMENTS, "web", "default")
        wait_for(lambda: tree.facts(actor=ACTOR, value="eu-west-1",
                                    msg="no MachineDeployment is in a region any more: "
                                        "its instance types are dropped"), "it is dropped")
        done = len(aws.calls())
        kubesuite.pause(3)
        assert len(aws.calls()) - done <= 8, "A12 nothing is read for nobody"
        assert len(writes(aws.server)) == 1, "A1 the same figures again are no write"


@tap.case
def F3_F9_FR4_2_FR4_3_a_missing_variable_is_named_and_the_others_go_on():
    with Aws() as aws:
        aws.server.install(*capacrds.crds())
        World(aws.server).deployment("web", "m5.large", "gone", annotations={REGION: "eu-west-1"})
        for name in ("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
            with CapaTree(aws.server, aws.identity(**{name: ""})) as tree:
                wait_for(lambda: tree.actors().get(ACTOR, {}).get("state") == "failed", "it does not start")
                tree.wait_running("kube-watcher")
                line, = tree.facts(actor=ACTOR, level="error", why=f"{name} is not set")
                assert line["hint"], line
        assert not aws.audit() and not writes(aws.server), "no call, no write"


@tap.case
def F7_FR4_1_FR4_4_AC6_the_web_identity_reaches_this_actor_alone():
    with Aws() as aws:
        aws.server.install(*capacrds.crds())
        secrets = aws.identity(AWS_ROLE_SESSION_NAME="pod-1")
        other = {"mode": "open-files", "path": secrets["AWS_WEB_IDENTITY_TOKEN_FILE"]}
        with CapaTree(aws.server, secrets, actors={"test-faulty": other}) as tree:
            tree.wait_running()
            World(aws.server).deployment("web", "m5.large", "gone", annotations={REGION: "eu-west-1"})
            World(aws.server).wait_annotated("web", M5_LARGE)       # it can read the token
            wait_for(lambda: "open foreign: " in tree.log(), "the other one tried")
            status = tree.status()
            if status["supervisor"]["confined"]:
                assert "open foreign: EACCES" in tree.log(), "another actor can open the token"
            for row in status["actors"]:
                if row["state"] != "running":
                    continue
                environment = pathlib.Path(f"/proc/{row['pid']}/environ").read_text().split("\0")
                names = {line.split("=")[0] for line in environment} & set(NAMES)
                wanted = {name for name in NAMES if name in tree.env}
                assert names == (wanted if row["name"] == ACTOR else set()), (row["name"], names)
            assert "token-of-the-test-provider" not in tree.log()


@tap.case
def TR5_AC11_AC12_the_rights_of_this_actor_alone():
    """What TR5 lists is the most: ConfigMaps and update of MachineDeployments are not used."""
    allowed = {("cluster.x-k8s.io", "machinedeployments"): {"get", "list", "watch", "update", "patch"},
               ("cluster.x-k8s.io", "clusters"): {"get", "list", "watch"},
               ("infrastructure.cluster.x-k8s.io", "awsmachinetemplates"): {"get", "list", "watch"},
               ("infrastructure.cluster.x-k8s.io", "awsclusters"): {"get", "list", "watch"},
               ("controlplane.cluster.x-k8s.io", "awsmanagedcontrolplanes"): {"get", "list", "watch"},
               ("events.k8s.io", "events"): {"create", "patch"},
               ("coordination.k8s.io", "leases"): {"get", "list", "watch", "create", "update", "patch"}}
    with Aws() as aws:
        file = aws.server.folder / "muster.yaml"
        file.write_text("actors:\n  capa-annotator: {}\n")
        done = subprocess.run([BIN / "muster", "check", "--print-rbac", file], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    rules = rules_of(done.stdout)
    assert rules, done.stdout
    for key, verbs in rules.items():
        assert verbs <= allowed.get(key, set()), (key, verbs)
    assert rules["cluster.x-k8s.io", "machinedeployments"] == {"get", "list", "watch", "patch"}, rules
    read = {(group, plural) for (group, plural), verbs in rules.items() if "watch" in verbs}
    assert not any("openshift" in group for group, _ in rules), f"AC11 {rules}"
    fixtures = {(group, plural) for plural, (group, _) in capacrds.KINDS.items()}
    assert read - {("coordination.k8s.io", "leases")} == fixtures, "AC12 the tests have what it reads"


@tap.case
def AC13_the_docs_name_every_annotation_and_every_flag():
    text = (ROOT / "docs/capa-annotator.md").read_text()
    keys = re.findall(r'^\tK\(\w+, +(?:CAPA_CAPACITY )?"([^"]+)"',
                      (ROOT / "actors/capa-annotator/capa.h").read_text(), re.M)
    done = subprocess.run([BIN / "capa-annotator", "--help"], text=True, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    flags = re.findall(r"^  -([a-z-]+)", done.stdout + done.stderr, re.M)
    assert len(keys) == 8 and len(flags) > 10, (keys, flags)
    missing = [key for key in keys if f"/{key.rpartition('/')[2]}`" not in text]
    missing += [flag for flag in flags if f"`-{flag}" not in text and f"`--{flag}" not in text]
    assert not missing, missing


def rules_of(text):
    """(group, resource) -> verbs of a printed role."""
    rules, group, names = {}, None, []
    for line in text.splitlines():
        key, _, value = line.strip().removeprefix("- ").partition(": ")
        words = [word.strip(' "') for word in value.strip("[]").split(",")] if value.startswith("[") else []
        if key == "apiGroups":
            group, = words
        elif key == "resources":
            names = words
        elif key == "verbs":
            for name in names:
                rules.setdefault((group, name), set()).update(words)
    return rules


@tap.case
def A8_only_the_leader_calls_and_writes_and_the_next_one_takes_over():
    elect = {"leader-elect": True, "leader-elect-lease-duration": "3s", "lease-namespace": "default"}
    with Aws() as aws:
        aws.server.install(*capacrds.crds())
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large")
        with CapaTree(aws.server, aws.identity(), watcher=elect) as first:
            first.wait_running()
            world.wait_annotated("web", M5_LARGE)
            assert len(aws.calls()) == 8, aws.audit()
            with CapaTree(aws.server, aws.identity(), watcher=elect) as second:
                second.wait_running()
                world.deployment("arm", "m6g.xlarge")
                world.wait_annotated("arm", M6G_XLARGE)
                kubesuite.pause(0.3)
                assert len(aws.calls()) == 8, "an instance that does not lead makes no call"
                first.kill("kube-watcher", signal.SIGSTOP)
                world.deployment("gpu", "g5.12xlarge")
                world.wait_annotated("gpu", G5_12XLARGE)
                wait_for(lambda: len(aws.calls()) == 16, "the second one reads for itself")
                assert len(writes(aws.server)) == 3, writes(aws.server)
                first.kill("kube-watcher", signal.SIGCONT)


@tap.case
def A2_killed_in_the_middle_of_paging():
    with annotator() as (aws, tree):
        slow = aws.fault("latency", "describe-types", ms=200, count=100)
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("web", "m5.large")
        wait_for(lambda: aws.hits(slow) >= 3, "three pages are requested")
        incarnation = tree.kill(ACTOR)
        aws.clear_faults()
        tree.wait_back(ACTOR, incarnation)
        world.wait_annotated("web", M5_LARGE)
        assert len(writes(aws.server)) == 1, writes(aws.server)


@tap.case
def FR7_explain_shows_inputs_rule_and_write():
    with annotator() as (aws, tree):
        world = World(aws.server)
        world.cluster("prod", "eu-west-1")
        world.deployment("gpu", "g5.12xlarge")
        world.deployment("bad", "m5.nope")
        world.wait_annotated("gpu", G5_12XLARGE)
        world.wait_event("bad", "FailedUpdate", "m5.nope")
        text = tree.explain("gpu")
        for part in ("default/gpu", "g5.12xlarge", "default/prod", "eu-west-1", "48", "196608",
                     "the annotations are right", "merge"):
            assert part in text, (part, text)
        assert "unknown instance type: m5.nope in eu-west-1" in tree.explain("bad"), tree.explain("bad")


tap.main()
