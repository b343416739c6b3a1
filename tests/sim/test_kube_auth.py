"""tests/sim/test_kube_auth.py - credentials that change, are wrong or go missing: faults 19 and 20.

Files are changed as kubelet does it: a folder with the new ones is made, and a symbolic link turned to it.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import os
import pathlib
import ssl
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
import tap
from kubecerts import Authority, Pair
from kubefaults import (arm, asked, case, complaints, disarm, lists, nodes, see, steady, wait_complaints,
                        wait_patient)
from kubeservers import ADMIN, SimServer
from kubetree import WATCHER, KubeTree
from muster import wait_for

PLUGIN_REST_S = 10      # CREDENTIAL_PLUGIN_MIN_MS of kube/credential_plan.h
KINDS = ("nodes", "pods", "namespaces", "widgets")


class Mount:
    """A folder of credentials whose contents change all at once."""

    def __init__(self, folder, **files):
        self.folder, self.turn = folder, 0
        folder.mkdir()
        (folder / "..data").symlink_to("nothing")
        self.put(**files)

    def put(self, **files):
        """name=text; None: a link that leads nowhere."""
        self.turn += 1
        place = self.folder / f"..{self.turn}"
        place.mkdir()
        for name, text in files.items():
            if text is not None:
                (place / name).write_text(text)
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(pathlib.Path("..data") / name)
        other = self.folder / "..new"
        other.symlink_to(place.name)
        os.replace(other, self.folder / "..data")


def settings(server, mount, cluster=None, user=None):
    """Settings of kube-watcher with a kubeconfig that names files of the mount."""
    path = server.folder / f"{mount.folder.name}.kubeconfig"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url, "certificate-authority": server.ca(),
                                               **(cluster or {})}}],
        "users": [{"name": "c", "user": user or {}}]}))
    return {"kubeconfig": str(path), "credential-dir": str(server.folder)}


def token_file(mount):
    return {"tokenFile": str(mount.folder / "token")}


def accept(server, *tokens):
    """From now on the server accepts these tokens and the administrator's."""
    rows = [f"{token},{token}-user,{token}-user\n" for token in tokens]
    other = server.folder / "tokens.new"
    other.write_text(f"{ADMIN},admin,admin\n" + "".join(rows))
    os.replace(other, server.token_file)


def refused(server):
    return [row for row in asked(server) if row["code"] == 401]


def write(tree, value, expect="ok", **more):
    body = {"metadata": {"labels": {"value": value}}}
    return tree.write("merge", "nodes", "n1", body=body, expect=expect, **more)


def fresh_mount(server, name, **files):
    return Mount(server.folder / name, **files)


def wait_a_second_since_the_last_reading():
    """Files are not read twice within a second, whoever asks."""
    kubesuite.pause(1.1)


def refuse_one(server, tree):
    """A write that is refused, and once more if it is tried again: a credential that has just changed is."""
    fault = arm(server, "unauthorized", verb="patch", count=2)
    answer = write(tree, "refused", expect="failed")
    disarm(server, fault)
    return answer


# -- fault 19: tokens

@case
def fault_19_a_rotated_token_costs_one_refused_request(server):
    accept(server, "first")
    server.kube.create_many("nodes", nodes(3))
    mount = fresh_mount(server, "rotated", token="first\n")
    with steady(server, KINDS, watcher=settings(server, mount, user=token_file(mount))) as tree:
        wait_a_second_since_the_last_reading()
        mount.put(token="second\n")
        accept(server, "second")
        assert refused(server) == [], "what is open stays open"
        write(tree, "by-the-second")
        first, *rest = asked(server, verb="patch")
        assert first["code"] == 401 and [row["user"] for row in rest] == ["second-user"], (first, rest)
        server.interrupt()
        for kind, name in (("nodes", "n1"), ("namespaces", "default")):
            see(server, tree, name, kind)
        assert len(refused(server)) == 1, "every later request has the new token"
        # Every kind reconnects with an old token: each is refused at most once, and none backs off.
        mount.put(token="third\n")
        accept(server, "third")
        wait_a_second_since_the_last_reading()
        server.forget_audit()
        server.interrupt()
        see(server, tree, "n1")
        wait_for(lambda: [row["code"] for row in asked(server, verb="watch")].count(200) == len(KINDS),
                 "every kind is watched again")
        assert len(refused(server)) <= len(KINDS) and lists(server) == []
        assert complaints(tree, "Unauthorized") == [], "a refused request is sent again with the new token"
        for secret in ("first", "second", "third"):
            assert f"{secret}\n" not in tree.log() and f'"{secret}"' not in tree.log()
        assert tree.counts()["gone"] == 0


@case
def fault_19_a_token_file_that_makes_no_sense_leaves_the_last_good_one(server):
    accept(server, "good", "better")
    server.kube.create_many("nodes", nodes(3))
    mount = fresh_mount(server, "nonsense", token="good")
    with steady(server, watcher=settings(server, mount, user=token_file(mount))) as tree:
        for text, words in (("", "is empty"), (" \n\n", "is empty"), ("two tokens", "more than one token"),
                            (None, "cannot read")):
            mount.put(token=text)
            wait_a_second_since_the_last_reading()
            # A refusal makes it read the file again; the file has no token, and the old one still works.
            answer = refuse_one(server, tree)
            assert answer["status"] == 401 and answer["message"], answer
            write(tree, "done")
            wait_for(lambda: complaints(tree, words), f"it logs that the file {words}")
        assert {row["user"] for row in asked(server) if row["code"] == 200} == {"good-user"}
        mount.put(token="better")
        wait_a_second_since_the_last_reading()
        arm(server, "unauthorized", verb="patch")
        write(tree, "better")
        assert asked(server)[-1]["user"] == "better-user"
        assert [fact for fact in tree.facts(actor=WATCHER) if fact["msg"].endswith("is renewed again")]


@case
def fault_19_requests_with_an_expired_token_back_off(server):
    accept(server, "old")
    server.kube.create_many("nodes", nodes(3))
    mount = fresh_mount(server, "expired", token="old")
    with steady(server, KINDS, watcher=settings(server, mount, user=token_file(mount))) as tree:
        accept(server, "other")
        server.interrupt()
        wait_for(lambda: len(refused(server)) >= len(KINDS), "every kind is refused")
        # A refusal within 10 s after the last change may be about what was there before: once more, at once.
        wait_patient(server, KINDS, count=5, at_once=1)
        assert len(tree.objects("nodes")) == 3 and tree.counts()["gone"] == 0
        assert write(tree, "refused", expect="failed")["status"] == 401
        mount.put(token="other")
        see(server, tree, "n1")
        write(tree, "done")


# -- fault 20: certificates

@contextlib.contextmanager
def showing(server, pair):
    """Another certificate of the server, from its next connection on."""
    before = Pair(server.folder / "before.crt", server.folder / "before.key")
    copy(server.pair, before)
    show(server, pair)
    try:
        yield
    finally:
        show(server, before)


def show(server, pair):
    copy(pair, server.pair)
    host, _, port = server.url.removeprefix("https://").rpartition(":")
    wanted = pair.certificate.read_text().strip()
    wait_for(lambda: ssl.get_server_certificate((host, int(port))).strip() == wanted, "the server shows it")


def copy(pair, to):
    """The key first: the server goes by the certificate's file."""
    to.key.write_bytes(pair.key.read_bytes())
    to.certificate.write_bytes(pair.certificate.read_bytes())


def assert_cannot_connect(server, tree, words):
    """Connections break, none can be made: the log names the reason, tries are few, nothing is gone."""
    server.interrupt()
    wait_complaints(tree, words)
    assert len(tree.objects("nodes")) == 3 and tree.counts()["gone"] == 0
    assert tree.actor(WATCHER)["restarts"] == 0


@case
def fault_20_an_authority_is_replaced_while_it_runs(server):
    server.kube.create_many("nodes", nodes(3))
    first, second = server.authority, Authority(server.folder / "second-certs")
    mount = fresh_mount(server, "authority", ca=first.certificate.read_text())
    new = second.sign("server", names="IP:127.0.0.1")
    chosen = settings(server, mount, {"certificate-authority": str(mount.folder / "ca")}, {"token": ADMIN})
    with steady(server, KINDS, watcher=chosen) as tree:
        with showing(server, new):
            assert_cannot_connect(server, tree, "certificate")
            mount.put(ca=second.certificate.read_text())
            wait_for(lambda: tree.write("get", "nodes", "n1", expect=("ok", "failed"))["outcome"] == "ok",
                     "the new one is trusted")
            wait_for(lambda: {row["resource"] for row in asked(server, verb="watch")} == set(KINDS),
                     "every kind is watched again")
            # A rotation without a gap: for a while both authorities are trusted.
            mount.put(ca=first.certificate.read_text() + second.certificate.read_text())
            wait_a_second_since_the_last_reading()
        before = len(complaints(tree, "certificate"))
        server.interrupt()
        see(server, tree, "n1")
        assert len(complaints(tree, "certificate")) == before, "one of the two was not trusted"


@case
def fault_20_a_client_certificate_is_replaced_while_it_runs(server):
    server.kube.create_many("nodes", nodes(3))
    jane, june = (server.authority.sign(name, f"/CN={name}") for name in ("jane", "june"))
    mount = fresh_mount(server, "client", crt=jane.certificate.read_text(), key=jane.key.read_text())
    user = {"client-certificate": str(mount.folder / "crt"), "client-key": str(mount.folder / "key")}
    with steady(server, KINDS, watcher=settings(server, mount, user=user)) as tree:
        write(tree, "by-jane")
        assert asked(server)[-1]["user"] == "jane"
        # Half of a new pair cannot be used, and the old pair still works.
        mount.put(crt=june.certificate.read_text(), key=jane.key.read_text())
        wait_a_second_since_the_last_reading()
        refuse_one(server, tree)
        write(tree, "by-jane-again")
        assert asked(server)[-1]["user"] == "jane"
        wait_for(lambda: complaints(tree, "key"), "it logs that the key does not match")
        mount.put(crt=june.certificate.read_text(), key=june.key.read_text())
        wait_a_second_since_the_last_reading()
        arm(server, "unauthorized", verb="patch")
        write(tree, "by-june")
        assert asked(server)[-1]["user"] == "june"
        server.interrupt()
        see(server, tree, "n1")
        assert {row["user"] for row in asked(server, verb="watch")} == {"june"}


@case
def fault_20_an_expired_client_certificate_is_refused_and_replaced(server):
    server.kube.create_many("nodes", nodes(3))
    late, fresh = (server.authority.sign(name, days=days) for name, days in (("late", -1), ("fresh", 30)))
    mount = fresh_mount(server, "late", crt=fresh.certificate.read_text(), key=fresh.key.read_text())
    user = {"client-certificate": str(mount.folder / "crt"), "client-key": str(mount.folder / "key")}
    with steady(server, KINDS, watcher=settings(server, mount, user=user)) as tree:
        mount.put(crt=late.certificate.read_text(), key=late.key.read_text())
        wait_a_second_since_the_last_reading()
        arm(server, "unauthorized", verb="patch")
        assert write(tree, "refused", expect="failed")["status"] == 401
        server.interrupt()
        wait_for(lambda: len(refused(server)) > len(KINDS), "every kind is refused")
        mount.put(crt=fresh.certificate.read_text(), key=fresh.key.read_text())
        see(server, tree, "n1")
        assert tree.counts()["gone"] == 0


@case
def fault_20_a_certificate_for_another_name_is_not_accepted(server):
    server.kube.create_many("nodes", nodes(3))
    mount = fresh_mount(server, "elsewhere", token=ADMIN)
    elsewhere = server.authority.sign("elsewhere", names="DNS:elsewhere.example")
    with steady(server, KINDS, watcher=settings(server, mount, user=token_file(mount))) as tree:
        with showing(server, elsewhere):
            assert_cannot_connect(server, tree, "127.0.0.1")
            # A client that is configured with that name accepts it.
            named = settings(server, mount, {"tls-server-name": "elsewhere.example"}, token_file(mount))
            with KubeTree(server, watcher=named) as other:
                other.wait_synced()
                assert len(other.objects("nodes")) == 3
        see(server, tree, "n1")


@case
def fault_20_an_expired_certificate_is_not_accepted(server):
    server.kube.create_many("nodes", nodes(3))
    mount = fresh_mount(server, "old", token=ADMIN)
    old = server.authority.sign("old", names="IP:127.0.0.1", days=-1)
    with steady(server, KINDS, watcher=settings(server, mount, user=token_file(mount))) as tree:
        with showing(server, old):
            assert_cannot_connect(server, tree, "expired")
        see(server, tree, "n1")


# -- the log names the setting that permits what Landlock has denied

def hinted(tree, setting):
    """The complaints of kube-watcher that name this setting."""
    if "this kernel has no Landlock" in tree.log():
        raise tap.Skip("this kernel has no Landlock")
    return [fact for fact in tree.facts(actor=WATCHER) if setting in fact.get("hint", "")]


@case
def a_certificate_in_another_folder_needs_the_credential_dir(server):
    alone = fresh_mount(server, "alone").folder
    watcher = settings(server, fresh_mount(server, "named"))
    kubeconfig = alone / "kubeconfig"
    kubeconfig.write_bytes(pathlib.Path(watcher["kubeconfig"]).read_bytes())
    with KubeTree(server, watcher={"kubeconfig": str(kubeconfig)}) as tree:
        logged = wait_for(lambda: hinted(tree, "actors.kube-watcher.credential-dir"), "the setting is named")
        assert f"certificate-authority {server.ca()}: Permission denied" in logged[0]["why"], logged
        assert tree.wait_exit() != 0, "it cannot run so"


@case
def a_plugin_needs_its_folder(server):
    server.kube.create_many("nodes", nodes(1))
    mount = fresh_mount(server, "plugged", **{"plugin": "#!/bin/sh\nsleep 1\n" + answer_of(ADMIN)})
    plugin = mount.folder / "..data" / "plugin"
    plugin.chmod(0o755)
    watcher = settings(server, mount, user={"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": str(plugin.resolve())}})
    with KubeTree(server, watcher=watcher) as tree:
        logged = wait_for(lambda: hinted(tree, "actors.kube-watcher.exec-plugin-dir"), "the setting is named")
        assert "Permission denied" in logged[0]["why"], logged
    with KubeTree(server, watcher={**watcher, "exec-plugin-dir": str(server.folder)}) as tree:
        tree.wait_equal("nodes")
        assert complaints(tree, "plugin") == [], "waiting for its first answer is not an error"


@case
def an_event_that_waits_for_its_credential_is_not_sent_without_the_lease(server):
    """Issue 10.10: refused with 401 or kept waiting by the plugin; meanwhile another instance leads."""
    accept(server, "first")
    server.kube.create_many("nodes", nodes(1))
    folder = fresh_mount(server, "gated").folder
    gate, plugin = folder / "gate", folder / "plugin"
    gate.write_text("first")
    plugin.write_text(f"#!/bin/sh\nwhile [ ! -e {gate} ]; do sleep 0.1; done\n"
                      + answer_of("TOKEN").replace("TOKEN", f"'\"$(cat {gate})\"'"))
    plugin.chmod(0o755)
    watcher = {**settings(server, Mount(server.folder / "none"), user={"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": str(plugin)}}), "exec-plugin-dir": str(server.folder), "leader-elect": True,
        "leader-elect-lease-duration": "4s", "lease-name": "muster", "lease-namespace": "default"}
    with KubeTree(server, watcher=watcher) as tree:
        tree.wait_synced()
        wait_for(tree.leads, "it leads")
        kubesuite.pause(PLUGIN_REST_S)
        gate.unlink()
        accept(server, "second")
        answer = tree.ask("event", group="", version="v1", resource="nodes", namespace="", name="n0",
                          type="Normal", reason="Late", action="Testing")
        assert answer["outcome"] == "ok", answer
        wait_for(lambda: not tree.leads(), "it does not lead")
        other = {"spec": {"holderIdentity": "other", "leaseDurationSeconds": 3600}}
        server.kube.merge("leases", "muster", other, "default")
        (folder / "gate.new").write_text("second")
        os.replace(folder / "gate.new", gate)
        wait_for(lambda: [row for row in asked(server, "leases", "get") if row["user"] == "second-user"],
                 "the Lease is read with the new token")
        see(server, tree, "n0")
        late = [row for row in asked(server, "events", "create") if row["code"] != 401]
        assert late == [], late


def answer_of(token):
    """Lines of shell that print an ExecCredential."""
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
              "status": {"token": token}}
    return f"echo '{json.dumps(answer)}'\n"


class AuthServer(SimServer):
    """With TLS, and an authority for clients: the same one."""

    def __init__(self):
        super().__init__(tls=True)
        self.options += ["--client-ca", self.authority.certificate]


kubesuite.run(AuthServer, prepare=lambda server: server.install(kubecrds.widgets()))
