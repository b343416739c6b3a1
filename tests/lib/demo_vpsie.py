"""tests/lib/demo_vpsie.py - ./dev demo vpsie: a NodeGroup goes 0 -> 5 -> 2.

Of five workers one is slow and one never appears. Each VPSieNode is drawn with its phase and its machine, as
the API server has them; requests are counted in the provider's audit log.
"""
import muster
from muster import wait_for
from vpsietree import check_owners, claimer, condition, make_group, nodes, scale

ABOUT = "A NodeGroup goes 0 -> 5 -> 2; one VM is slow, one never appears and ends Failed."
SPEED = 10                      # a worker is a Ready Node after about four seconds
SLOW_MS = 60000                 # of simulated time: six seconds more
SETTINGS = {"provisioning-timeout": "20s", "discovery-interval": "1s"}
TIMEOUT_S = 240
RUNNING = ("running", "joined", "ready")


class Scene:
    def __init__(self, demo, vpsie):
        self.demo, self.vpsie = demo, vpsie
        self.items, self.failed, self.all, self.posts = {}, set(), set(), 0

    def refresh(self, last=False):
        self.observe()
        self.demo.figures.update(vpsienodes=len(self.all), ready=len(self.of_phase("Ready")),
                                 failed=len(self.failed), posts=self.posts)
        self.demo.draw(self.rows(), self.line(), last)

    def observe(self):
        """Reads what there is, and checks it."""
        self.posts = len(self.vpsie.posts())
        self.items = nodes(self.vpsie)
        try:
            check_owners(self.vpsie)
        except AssertionError as wrong:
            self.demo.violation(str(wrong))
        self.all |= set(self.items)
        self.failed |= set(self.of_phase("Failed"))
        self.demo.check(self.posts <= len(self.all), f"{self.posts} requests for {len(self.all)} VPSieNodes")

    def of_phase(self, *wanted):
        return [name for name, item in self.items.items() if item.get("status", {}).get("phase") in wanted]

    def line(self):
        figures = self.demo.figures
        return (f"{self.demo.seconds():5.1f} s  {len(self.items)} VPSieNodes, {figures['ready']} Ready, "
                f"{figures['failed']} Failed; {figures['posts']} workers requested")

    def rows(self):
        yield self.line()
        yield ""
        for name, item in sorted(self.items.items()):
            spec, status = item["spec"], item.get("status", {})
            machine = spec.get("vpsieInstanceID") or "-"
            yield (f"  {name:<16}{status.get('phase', ''):<14}{machine!s:<8}{spec.get('ipAddress', ''):<16}"
                   f"{status.get('nodeName') or condition(item, 'Error').get('reason', '')}")

    def wait(self, fact, what):
        """wait_for, drawn."""
        wait_for(lambda: self.refresh() or fact(), what, TIMEOUT_S, every=0.2)

    def grown(self):
        return len(self.of_phase("Ready")) == 4 and len(self.of_phase("Failed")) == 1

    def shrunk(self):
        """The Failed one takes longer: its request may have been sent, lists must prove the opposite."""
        left = set(self.items) - self.failed
        return (len(left) == len(self.of_phase("Ready")) == 2 and not self.of_phase("Failed")
                and len(self.vpsie.workers(*RUNNING)) == 2)


def play(demo):
    demo.figures.update(vpsienodes=0, ready=0, failed=0, posts=0)
    demo.headline("musterd starts, with vpsie-claimer on a simulated VPSie")
    with claimer(sim={"speed": SPEED}, claimer=SETTINGS) as (vpsie, tree):
        scene = Scene(demo, vpsie)
        vpsie.next({}, {"never": True}, {"delay_ms": SLOW_MS})
        make_group(vpsie, "web", 5)
        demo.report("NodeGroup web: 0 -> 5. The provider answers `data: true` to each request, and no id")
        scene.wait(scene.grown, "four are Ready, one is Failed")
        failed, = scene.of_phase("Failed")
        reason = condition(scene.items[failed], "Error").get("reason")
        demo.check(reason == "DiscoveryTimeout", f"{failed} is Failed with {reason}")
        demo.show(tree, "explain", f"vpsienode/default/{failed}", most=14)
        scale(vpsie, "web", 2)
        demo.report("NodeGroup web: 5 -> 2. The Failed one goes first, then the youngest")
        scene.wait(scene.shrunk, "two are left")
        scene.refresh(last=True)
        demo.stay(f"KUBECONFIG={tree.settings['kube-watcher']['kubeconfig']} kubectl get vn,ng",
                  f"MUSTER_RUN_DIR={tree.run_dir} {muster.BIN}/muster explain nodegroup/default/web")
    demo.summary("- five requests, none of them answered with an id, and no VPSieNode has two machines",
                 "- the slow machine was waited for; the one that never came is Failed, DiscoveryTimeout",
                 "- Nodes were drained before their machines were deleted")
