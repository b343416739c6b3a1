"""tests/lib/demo_annotator.py - ./dev demo annotator: scale from zero on AWS.

Ten MachineDeployments in two regions, on muster-sim with its STS and EC2. One has GPUs, one is arm64, one is
of a type that does not exist, one has its template later. What is drawn is read from the API server; calls
are counted in the provider's audit log.
"""
import muster
from capacrds import DEPLOYMENTS
from capatree import CAPACITY, G5_12XLARGE, M6G_XLARGE, World, annotator, figures, ours, writes
from muster import wait_for

ABOUT = "Ten MachineDeployments in two regions get what the cluster-autoscaler needs to scale them from zero."
REGIONS = {"prod": "eu-west-1", "test": "us-east-1"}
UNKNOWN, LATE = "typo", "later"
# name -> (Cluster, instance type, the annotations that it must get)
FLEET = {
    "web": ("prod", "m5.large", figures(2, 8192)),
    "api": ("prod", "c5.xlarge", figures(4, 8192)),
    "arm": ("prod", "m6g.xlarge", M6G_XLARGE),
    "gpu": ("prod", "g5.12xlarge", G5_12XLARGE),
    UNKNOWN: ("prod", "m5.larg", {}),
    LATE: ("prod", "r5.large", figures(2, 16384)),
    "batch": ("test", "c5.2xlarge", figures(8, 16384)),
    "cache": ("test", "r5.xlarge", figures(4, 32768)),
    "jobs": ("test", "m5.2xlarge", figures(8, 32768)),
    "amd": ("test", "g4ad.8xlarge", figures(32, 131072, gpus=2, gpu_type="amd.com/gpu")),
}
TIMEOUT_S = 120


class Scene:
    def __init__(self, demo, aws):
        self.demo, self.aws, self.world = demo, aws, World(aws.server)
        self.found, self.why, self.written = {}, {}, 0

    def refresh(self, last=False):
        self.observe()
        self.count()
        self.demo.figures.update(machinedeployments=len(self.found), annotated=self.annotated(),
                                 unknown=int(UNKNOWN in self.failed()), writes=self.written,
                                 calls=len(self.aws.audit()))
        self.demo.draw(self.rows(), self.line(), last)

    def observe(self):
        """Reads what there is, and checks it."""
        self.found = {item["metadata"]["name"]: ours(item["metadata"].get("annotations") or {})
                      for item in self.aws.server.kube.list(DEPLOYMENTS, "default")["items"]}
        for name, annotations in self.found.items():
            self.demo.check(annotations in ({}, FLEET[name][2]), f"{name} has {annotations}")
            if not annotations:
                self.why[name] = next((note for _, note in self.world.events(name)), "")

    def count(self):
        """The writes: each MachineDeployment that is annotated had one."""
        self.written = len([row for row in writes(self.aws.server) if row["resource"] == DEPLOYMENTS])
        self.demo.check(self.written <= self.annotated(), f"{self.written} writes for {self.annotated()}")

    def deploy(self):
        for cluster, region in REGIONS.items():
            self.world.cluster(cluster, region)
        for name, (cluster, kind, _) in FLEET.items():
            self.world.deployment(name, None if name == LATE else kind, cluster)

    def waits_for_late(self):
        """All that can be annotated are; for the others the Event names the cause."""
        return self.is_right(*(FLEET.keys() - {LATE})) and {UNKNOWN, LATE} <= set(self.failed())

    def annotated(self):
        return sum(bool(annotations) for annotations in self.found.values())

    def failed(self):
        """Those with a Warning and without annotations."""
        return [name for name, note in self.why.items() if note and not self.found.get(name)]

    def line(self):
        numbers = self.demo.figures
        return (f"{self.demo.seconds():5.1f} s  {numbers['machinedeployments']} MachineDeployments, "
                f"{numbers['annotated']} annotated; {numbers['writes']} writes, "
                f"{numbers['calls']} calls of AWS")

    def rows(self):
        yield self.line()
        yield ""
        for name, annotations in self.found.items():
            cluster, kind, _ = FLEET[name]
            shown = "  ".join(f"{key.removeprefix(CAPACITY)}={annotations[key]}" for key in annotations
                              if key.startswith(CAPACITY)) or self.why.get(name, "")
            yield f"  {name:<8}{REGIONS[cluster]:<12}{kind:<14}{shown}"

    def wait(self, fact, what):
        """wait_for, drawn."""
        wait_for(lambda: self.refresh() or fact(), what, TIMEOUT_S, every=0.1)

    def is_right(self, *names):
        return all(self.found.get(name) == FLEET[name][2] for name in names)


def play(demo):
    demo.figures.update(machinedeployments=0, annotated=0, unknown=0, writes=0, calls=0)
    demo.headline("musterd starts, with capa-annotator on a simulated STS and EC2")
    with annotator(settings={"unknown-type-interval": "1h"}) as (aws, tree):
        scene = Scene(demo, aws)
        scene.deploy()
        demo.report(f"{len(FLEET)} MachineDeployments; the template of `{LATE}` does not exist yet")
        scene.wait(scene.waits_for_late, "all that can be annotated are")
        demo.report(f"`{UNKNOWN}` names a type that EC2 does not have: an Event, and nothing is written")
        scene.world.template(LATE, FLEET[LATE][1])
        demo.report(f"the template of `{LATE}` comes: its watch reports it, nothing is polled")
        scene.wait(lambda: scene.is_right(*FLEET), "the late one is annotated")
        scene.refresh(last=True)
        pages = len(aws.calls())
        demo.check(len(aws.calls("assume-role")) == 1, "credentials were requested more than once")
        demo.headline("and why the one with GPUs is right")
        demo.show(tree, "explain", "machinedeployment/default/gpu", most=30)
        explain = f"MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster explain machinedeployment/default"
        demo.stay(f"KUBECONFIG={aws.server.kubeconfig} kubectl get machinedeployments -o yaml",
                  f"{explain}/{UNKNOWN}")
    demo.summary(f"- {demo.figures['annotated']} of {len(FLEET)} MachineDeployments are annotated, with one "
                 f"write each; `{UNKNOWN}` has an Event",
                 f"- {pages} pages of instance types of {len(REGIONS)} regions were read with one set of "
                 "credentials",
                 f"- {len(demo.violations)} violations")
