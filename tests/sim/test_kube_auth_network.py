"""tests/sim/test_kube_auth_network.py - connections to the server: host names, IPv6, proxies. Fault 21.

muster-test: parallel
muster-test: timeout=600
"""
import contextlib
import json
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubecrds
import kubesuite
from kubefaults import case, complaints, nodes, see, steady, wait_complaints
from kubefaults_proxy import Proxy
from kubeservers import ADMIN, SimServer
from kubetree import WATCHER, KubeTree
from muster import wait_for

ELSEWHERE = "no-such-host.invalid"
WITHOUT = {name: "" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy",
                                 "NO_PROXY")}


def proxied(**variables):
    """An environment with these of the variables, and none of the others that may be set here."""
    return {**WITHOUT, **variables}


def kubeconfig(server, name, url, **cluster):
    path = server.folder / f"{name}.kubeconfig"
    ca = {"certificate-authority": server.ca()} if server.ca() else {}
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": url, **ca, **cluster}}],
        "users": [{"name": "c", "user": {"token": ADMIN}}]}))
    return {"kubeconfig": str(path), "credential-dir": str(server.folder)}


def assert_backs_off(tree, *words):
    """It logs what is wrong, in these words and less and less often, and no actor is restarted."""
    wait_complaints(tree, *words)
    row = tree.actor(WATCHER)
    assert (row["state"], row["restarts"], row["synced"]) == ("running", 0, False), row


def port_of(server):
    return server.url.rpartition(":")[2]


@case
def fault_21_an_unknown_host_name_is_logged_and_backed_off(server):
    with KubeTree(server, watcher=kubeconfig(server, "unknown", f"https://{ELSEWHERE}:6443"),
                  env=proxied()) as tree:
        assert_backs_off(tree, ELSEWHERE, "resolve")
        status = tree.actor(WATCHER)["status"]
        assert ELSEWHERE in status, f"muster status prints {status!r}"


@case
def fault_21_the_status_has_the_last_error_while_the_next_attempt_lasts(server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with KubeTree(server, watcher=kubeconfig(server, "silent", url), env=proxied()) as tree:
            silent.settimeout(60)
            silent.accept()[0].close()
            wait_for(lambda: url in tree.actor(WATCHER)["status"], "the error is in the status")
            with silent.accept()[0]:
                for _ in range(5):      # longer than a status lasts
                    kubesuite.pause(0.5)
                    assert url in tree.actor(WATCHER)["status"], tree.actor(WATCHER)["status"]


@case
def fault_21_a_closed_port_is_logged_and_backed_off(server):
    server.kube.create_many("nodes", nodes(3))
    with contextlib.ExitStack() as away:
        away.enter_context(server.unreachable())
        with KubeTree(server, env=proxied()) as tree:
            assert_backs_off(tree, "127.0.0.1", "connect")
            away.close()
            tree.wait_synced()
            tree.wait_equal("nodes")


@case
def fault_21_a_proxy_of_the_environment_is_used(server):
    server.kube.create_many("nodes", nodes(3))
    for variable in ("https_proxy", "HTTPS_PROXY"):
        with Proxy() as proxy:
            with steady(server, env=proxied(**{variable: proxy.url})) as tree:
                see(server, tree, "n1")
                tree.write("merge", "nodes", "n1", body={"metadata": {"labels": {"value": "through"}}})
                assert set(proxy.lines()) == {f"CONNECT 127.0.0.1:{port_of(server)} HTTP/1.1"}, proxy.lines()
                assert not any("authorization" in head.lower() for head in proxy.heads), "a secret"
                # It breaks, and comes back.
                proxy.refusal = 502
                proxy.disconnect()
                wait_for(lambda: complaints(tree, "502"), "it logs the status of the proxy")
                assert len(tree.objects("nodes")) == 3
                proxy.refusal = None
                see(server, tree, "n1")
                assert tree.counts()["gone"] == 0


@case
def fault_21_a_server_in_no_proxy_is_connected_directly(server):
    server.kube.create_many("nodes", nodes(3))
    with Proxy() as proxy:
        for exceptions in ("127.0.0.1", "*", "10.0.0.0/8,127.0.0.0/8"):
            with steady(server, env=proxied(HTTPS_PROXY=proxy.url, NO_PROXY=exceptions)) as tree:
                see(server, tree, "n1")
        assert proxy.heads == []


@case
def fault_21_the_kubeconfig_outranks_the_environment(server):
    server.kube.create_many("nodes", nodes(3))
    with Proxy(to=server.url) as proxy, Proxy() as other:
        # Only the proxy resolves the name.
        chosen = kubeconfig(server, "chosen", f"https://{ELSEWHERE}:{port_of(server)}",
                            **{"proxy-url": proxy.url, "tls-server-name": "127.0.0.1"})
        with steady(server, watcher=chosen, env=proxied(HTTPS_PROXY=other.url)) as tree:
            see(server, tree, "n1")
        assert proxy.heads and other.heads == []


@case
def fault_21_a_refusal_of_the_proxy_is_logged_and_backed_off(server):
    with Proxy() as proxy:
        proxy.refusal = 403
        with KubeTree(server, env=proxied(HTTPS_PROXY=proxy.url)) as tree:
            assert_backs_off(tree, "403")
            proxy.refusal = None
            tree.wait_synced()
    with KubeTree(server, env=proxied(HTTPS_PROXY="http://127.0.0.1:1")) as tree:
        assert_backs_off(tree, "127.0.0.1", "port 1")


@case
def fault_21_the_server_is_reached_by_ipv6(server):
    with SimServer() as other:
        other.stop()
        other.addresses[0] = "[::1]:0"
        other.start()
        other.install(kubecrds.widgets())
        other.kube.create_many("nodes", nodes(3))
        assert other.url.startswith("http://[::1]:"), other.url
        with steady(other, env=proxied()) as tree:
            see(other, tree, "n1")
            tree.write("merge", "nodes", "n1", body={"metadata": {"labels": {"value": "six"}}})
            other.interrupt()
            see(other, tree, "n1")
            assert tree.counts()["gone"] == 0


kubesuite.run(lambda: SimServer(tls=True), prepare=lambda server: server.install(kubecrds.widgets()))
