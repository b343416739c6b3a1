"""tests/sim/test_vip_hooks.py - the hooks' listener: certificates, hostile clients, many calls (V1, V9, V13).

muster-test: parallel
muster-test: timeout=400
"""
import concurrent.futures
import json
import os
import pathlib
import socket
import ssl
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecerts
import kubesuite
import tap
from kubeservers import SimServer
from muster import wait_for
from viptree import ACTOR, HOOKS, VipTree, World, claimer, crds

CALLS, IDLERS = 200, 500
MEMORY_KIB = 64 * 1024


def rss_kib(tree):
    text = pathlib.Path(f"/proc/{tree.actor(ACTOR)['pid']}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS"))


def health(tree):
    address = (tree.run_dir / "metrics" / "health.addr").read_text().strip()
    with urllib.request.urlopen(f"http://{address}/healthz", timeout=60) as answer:
        return answer.status


@tap.case
def V13_discovery_before_and_without_an_API_server():
    with SimServer() as server:
        server.install(*crds())
        with server.unreachable(), VipTree(server) as tree:
            wait_for(lambda: (tree.run_dir / ACTOR / "hook.addr").exists(), "the hooks are served")
            tree.wait_hooks()
            hooks = tree.hooks()
            cluster = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
                       "metadata": {"name": "c1", "namespace": "default", "uid": "1"},
                       "spec": {"topology": {"classRef": {"name": "rke2"}, "version": "v1.33.0"}}}
            answer = hooks.before_create(cluster)
            assert answer["status"] == "Success" and answer["retryAfterSeconds"] > 0, answer
            assert answer["message"] == "vip-claimer has not read the objects of the cluster yet", answer
            assert hooks.generate_patches("c1")["status"] == "Failure"
            assert tree.facts(actor=ACTOR, msg="serving the hooks of Cluster API")


@tap.case
def V13_without_pools_and_with_a_kind_that_is_missing():
    with claimer(leave_out=("globalinclusterippools", "inclusterippools")) as (server, tree):
        world, hooks = World(server), tree.hooks()
        assert hooks.discovery()["status"] == "Success"
        world.cluster_class()
        world.cluster("c1")
        answer = wait_for(lambda: (lambda a: a if a["retryAfterSeconds"] == 0 else None)(
            hooks.before_create(world.request("c1"))), "no pool: it passes")
        assert answer["status"] == "Success", answer
        world.wait_event("c1", "NoPool")


@tap.case
def V9_a_missing_certificate_is_named_and_addresses_are_given_meanwhile():
    with SimServer() as server:
        server.install(*crds())
        world = World(server)
        tree = VipTree(server)
        saved = (tree.tls_dir / "tls.crt").read_bytes()
        (tree.tls_dir / "tls.crt").unlink()
        with tree:
            tree.wait_running()
            line = wait_for(lambda: tree.facts(actor=ACTOR, level="error"), "the error is logged")[0]
            assert str(tree.tls_dir / "tls.crt") in line["cause"] and "tls.key" in line["hint"], line
            world.cluster_class()
            world.pool("cp")
            world.ipam()
            world.cluster("c1")
            world.wait_endpoint("c1", "10.2.0.20")
            shown = wait_for(lambda: (lambda text: text if "hooks are not served" in text else None)(
                tree.cli("status").stdout), "the status shows it")
            assert "tls.crt" in shown, shown
            (tree.tls_dir / ".new").write_bytes(saved)
            (tree.tls_dir / ".new").replace(tree.tls_dir / "tls.crt")
            tree.wait_hooks()
            assert len(tree.facts(actor=ACTOR, level="error")) == 1, tree.facts(actor=ACTOR, level="error")


@tap.case
def V9_without_tls_dir_the_actor_ends_and_names_the_setting():
    with SimServer() as server:
        server.install(*crds())
        tree = VipTree(server)
        tree.settings[ACTOR]["tls-dir"] = ""
        tree.configure({"actors": {"metrics": {"enabled": False}, **tree.settings},
                        "supervisor": {"log-format": "json"}})
        with tree:
            line = wait_for(lambda: tree.facts(actor=ACTOR, level="error"), "the error is logged")[0]
            assert line["key"] == "tls-dir" and "enable-runtime-extension" in line["hint"], line
            tree.wait_running("kube-watcher")


@tap.case
def V9_certificates_are_read_again_TLS_1_2_and_client_certificates():
    with SimServer() as server:
        server.install(*crds())
        tree = VipTree(server)
        clients = kubecerts.Authority(tree.folder / "clients")
        tree.settings[ACTOR]["client-ca-file"] = str(clients.certificate)
        tree.configure({"actors": {"metrics": {"enabled": False}, **tree.settings},
                        "supervisor": {"log-format": "json"}})
        with tree:
            tree.wait_running()
            pair = clients.sign("manager")
            wait_for(lambda: (tree.run_dir / ACTOR / "hook.addr").exists(), "the hooks are served")
            hooks = tree.hooks(pair=pair)
            assert hooks.discovery()["status"] == "Success"
            for other in (None, tree.authority.sign("foreign")):
                try:
                    tree.hooks(pair=other).discovery()
                    raise AssertionError(f"a client with {other} got in")
                except OSError:
                    pass
            serial = serial_of(hooks)
            tree.write_certificate("fresh")
            wait_for(lambda: serial_of(hooks) != serial, "the new certificate is served")
            # A certificate that does not fit its key leaves the one in force.
            serial = serial_of(hooks)
            other = tree.authority.sign("else", names="IP:127.0.0.1")
            (tree.tls_dir / "tls.key").write_bytes(other.key.read_bytes())
            wait_for(lambda: serial_of(hooks) == serial and any(
                "refused" in row["msg"] for row in tree.facts(actor=ACTOR)), "it is refused")
            old = ssl.create_default_context(cafile=str(tree.authority.certificate))
            old.load_cert_chain(pair.certificate, pair.key)
            old.set_ciphers("ALL:@SECLEVEL=0")
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
            with socket.create_connection(tree.hook_address(), timeout=60) as plain:
                try:
                    old.wrap_socket(plain, server_hostname="127.0.0.1")
                    raise AssertionError("TLS 1.1 was accepted")
                except OSError:
                    pass
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2
            with socket.create_connection(tree.hook_address(), timeout=60) as plain:
                assert old.wrap_socket(plain, server_hostname="127.0.0.1").version() == "TLSv1.2"


def serial_of(hooks):
    connection = hooks.connect()
    connection.connect()
    serial = connection.sock.getpeercert()["serialNumber"]
    connection.close()
    return serial


@tap.case
def V9_what_is_refused_and_the_server_goes_on():
    with claimer(metrics=True) as (server, tree):
        hooks = tree.hooks()
        create = hooks.path("BeforeClusterCreate", "-before-create")
        cluster = {"metadata": {"name": "c1", "namespace": "default"}, "spec": {}}

        def request(**cluster_keys):
            return json.dumps({"cluster": {**cluster, **cluster_keys}}).encode()
        rows = [
            ("GET", create, b"", 405), ("PUT", create, b"{}", 405), ("HEAD", create, b"", 405),
            ("POST", "/", b"{}", 404), ("POST", f"/{HOOKS}/afterclusterupgrade/x", b"{}", 404),
            ("POST", create.replace("vip-allocator", "other"), b"{}", 404),
            ("POST", f"/{HOOKS}/Discovery", b"{}", 404), ("GET", "/metrics", b"", 404),
            ("POST", create, b"", 400), ("POST", create, b"{", 400), ("POST", create, b"[]", 400),
            ("POST", create, b"garbage", 400), ("POST", create, b"\x00\xff\xfe", 400),
            ("POST", create, b'{"cluster": 1}', 400), ("POST", create, b"{}{}", 400),
            ("POST", create, b"[" * 100000, 400), ("POST", create, os.urandom(65536), 400),
            ("POST", create, request(apiVersion="cluster.x-k8s.io/v9", kind="Cluster"), 400),
            ("POST", create, request(kind="Node"), 400),
        ]
        for method, path, body, code in rows:
            found, headers, text = hooks.send(method, path, body)
            assert found == code, (method, path, body[:40], found, text)
            assert len(text) < 400 and (code != 405 or headers["Allow"] == "POST"), (text, headers)
        text = hooks.send("POST", create, request(apiVersion="cluster.x-k8s.io/v9", kind="Cluster"))[2]
        assert text == ("cluster.apiVersion: neither cluster.x-k8s.io/v1beta1 nor v1beta2\n"), text
        # Text behind a header that is too long, a body that is too large, and one that is cut off.
        for head in (f"POST {create} HTTP/1.1\r\nHost: x\r\nX: {'a' * 100000}\r\n\r\n",
                     f"POST {create} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"):
            assert raw(hooks, head.encode()) in (b"", b"HTTP/1.1 400", b"HTTP/1.1 413")
        head = f"POST {create} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{"
        raw(hooks, head.encode(), answer=False)
        # A body of nearly 20 MiB is read, and its memory is free again.
        large = json.dumps({"pad": "a" * (20 * 1024 * 1024 - 2000), "cluster": cluster}).encode()
        before = rss_kib(tree)
        for _ in range(3):
            code, _, text = hooks.send("POST", create, large)
            assert code == 200, (code, text)
        assert oversized(hooks, create), "a body of more than 20 MiB was accepted"
        assert rss_kib(tree) < before + MEMORY_KIB, (before, rss_kib(tree))
        # Idlers take what room there is, and then give way; meanwhile others, and the probes, are answered.
        idlers = [socket.create_connection(tree.hook_address(), timeout=60) for _ in range(IDLERS)]
        slow = socket.create_connection(tree.hook_address(), timeout=60)
        slow.sendall(b"\x16\x03\x01")
        for _ in range(5):
            assert health(tree) == 200
            assert hooks.discovery()["status"] == "Success"
        for one in (*idlers, slow):
            one.close()
        assert rss_kib(tree) < before + MEMORY_KIB, (before, rss_kib(tree))
        assert tree.actor(ACTOR)["restarts"] == 0


def raw(hooks, data, answer=True):
    """The first bytes of the answer: "HTTP/1.1 400", or nothing."""
    with socket.create_connection(hooks.address, timeout=60) as plain:
        with hooks.context.wrap_socket(plain, server_hostname="127.0.0.1") as line:
            try:
                line.sendall(data)
                return line.recv(12) if answer else b""
            except OSError:
                return b""


def oversized(hooks, path):
    try:
        return hooks.send("POST", path, b" " * (20 * 1024 * 1024 + 100000))[0] in (400, 413)
    except OSError:
        return True         # the server closed the connection in the middle of it


@tap.case
def V2_V9_200_calls_at_once_with_a_slow_IPAM():
    with claimer(metrics=True) as (server, tree):
        world, hooks = World(server), tree.hooks()
        world.cluster_class()
        world.pool("cp", addresses=["10.2.0.20-10.2.1.250"])
        world.ipam(delay_ms=3000)
        names = [f"c{number}" for number in range(CALLS)]
        before = rss_kib(tree)
        requests = {name: world.cluster(name) for name in names}
        requests = {name: {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", **found}
                    for name, found in requests.items()}
        with concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
            answers = list(pool.map(lambda name: hooks.before_create(requests[name]), names))
            assert health(tree) == 200
        assert all(row["status"] == "Success" and 0 <= row["retryAfterSeconds"] <= 5
                   for row in answers), answers
        assert rss_kib(tree) < before + MEMORY_KIB, (before, rss_kib(tree))
        for name in names:
            world.wait_any_endpoint(name)
        found = {world.endpoint(name)["host"] for name in names}
        assert len(found) == CALLS, "an address was given twice"
        kubesuite.pause(0.2)
        with concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
            answers = list(pool.map(lambda name: hooks.before_create(world.request(name)), names))
        assert all(row["retryAfterSeconds"] == 0 for row in answers), answers
        tap.note(f"rss {before} KiB before, {rss_kib(tree)} KiB after {CALLS} calls at once")


tap.main()
