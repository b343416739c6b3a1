"""tests/lib/fleettree.py - every actor of muster under one musterd, on one muster-sim with all it simulates.

    with World(speed=14) as world, FleetTree(world) as tree:
        tree.wait_running()
        world.linode, world.vpsie, world.aws        # its provider APIs; world.server.kube has the objects

Definitions are those of deploy/crds, and of other people's kinds only names and versions: no Go is needed.
"""
import contextlib
import os

import capacrds
import imageroot
import muster
import procs
import viptree
from capatree import ACTOR as ANNOTATOR
from capatree import NAMES, Aws
from kubeservers import SimServer
from lketree import ATTACHMENTS, CLASSES, CLUSTERS, LKE, nodepool, stand_ins
from providers import Provider
from viptree import VipTree
from vpsie import VPSie
from vpsietree import CLAIMER as VPSIE
from vpsietree import FAST

CRDS = muster.ROOT / "deploy/crds"


class World:
    """options: more of muster-sim, as --openshift. Machines of both providers become Nodes of the cluster."""

    def __init__(self, speed=14, options=()):
        self.server = SimServer(options=["--crds", CRDS, "--speed", speed, *options])
        self.linode = Provider("linode", join=True, server=self.server)
        self.vpsie = VPSie(join=True, server=self.server)
        self.aws = Aws(server=self.server)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for each in (self.server, self.linode, self.vpsie, self.aws):
                stack.enter_context(each)
            self.prepare()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *wrong):
        self.stack.__exit__(*wrong)

    def prepare(self):
        kinds = {crd["metadata"]["name"]: crd for crd in (*capacrds.crds(), *viptree.crds(), *stand_ins())}
        self.server.install(ATTACHMENTS, *kinds.values())
        self.server.kube.create(CLASSES, {"metadata": {"name": "default"}, "spec": {"tags": ["team-a"]}})
        nodepool(self.server, "general")
        self.server.order("POST", "capi", {"op": "ipam"})


class FleetTree(VipTree):
    """settings: {actor: {setting: value}} beyond. server: of the objects, if not the muster-sim of the APIs.
    root: of an image, in which musterd is PID 1 (imageroot)."""

    def __init__(self, world, settings=None, supervisor=None, server=None, root=None, **more):
        self.root = root
        identity = {**dict.fromkeys(NAMES, ""), **world.aws.identity()}
        super().__init__(server or world.server, env=identity, **more)
        for name, values in sections(world, self.folder).items():
            self.settings[name] = {**self.settings.get(name, {}), **values}
        for name, values in (settings or {}).items():
            self.settings[name] = {**self.settings.get(name, {}), **values}
        # Without root's rights the actors have no other user than musterd.
        user = {} if root is None else {"user": ""}
        self.configure({"supervisor": {"log-format": "json", **user, **(supervisor or {})},
                        "actors": self.settings})
        if root is not None:
            web_identity = world.aws.web_token_file().parent
            for folder in (self.folder, web_identity):
                imageroot.give(folder)
            self.command = [*imageroot.wrapper(root, [self.folder, web_identity]),
                            imageroot.program(root, "musterd"), *self.command[1:]]

    def pid(self, name):
        """On this machine: inside the root they count from 1."""
        return super().pid(name) if self.root is None else self.find(f"muster-{name}")

    def find(self, program):
        return imageroot.named(procs.family(self.process.pid), program)

    def signal(self, number):
        if self.root is None:
            super().signal(number)
        else:
            os.kill(self.find("musterd"), number)       # unshare does not pass it on


def sections(world, folder):
    """Of all actors but kube-watcher and vip-claimer. Each credential is in a folder of its own."""
    tokens = {}
    for name, token in (("linode", world.linode.token), ("vpsie", world.vpsie.token)):
        tokens[name] = folder / name / "token"
        tokens[name].parent.mkdir(mode=0o700)
        tokens[name].write_text(token + "\n")
        tokens[name].chmod(0o600)
    return {
        "node-state": {}, "insight": {}, "metrics": muster.METRICS, ANNOTATOR: {"retry-interval": "50ms"},
        LKE: {"api-url": world.linode.url, "token-file": str(tokens["linode"]),
              "cluster-id": CLUSTERS["standard"]},
        VPSIE: {"api-url": f"{world.vpsie.url}/v2", "credential-dir": str(tokens["vpsie"].parent), **FAST}}
