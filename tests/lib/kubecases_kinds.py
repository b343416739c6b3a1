"""tests/lib/kubecases_kinds.py - kinds that come, go and change their version meanwhile: fault 30.

Each case starts without the Widget.
"""
import kubecrds
import kubesuite
from kubesuite import case
from kubetree import WATCHER, KubeTree
from muster import wait_for

WIDGETS = "widgets.test.muster.dev"


def widget(name, **spec):
    return {"metadata": {"name": name}, "spec": spec}


def take_away(server):
    if server.kube.find("customresourcedefinitions", WIDGETS):
        server.kube.delete("customresourcedefinitions", WIDGETS)
    wait_for(lambda: server.kube.find("customresourcedefinitions", WIDGETS) is None, "the kind is gone")
    wait_for(lambda: server.kube.raw("GET", "apis/test.muster.dev/v1/widgets").code == 404, "and not served")


def serve(server, *versions):
    """Changes which versions of the installed kind are served."""
    crd = server.kube.get("customresourcedefinitions", WIDGETS)
    crd["spec"]["versions"] = kubecrds.widgets(*versions)["spec"]["versions"]
    server.kube.replace("customresourcedefinitions", crd)
    path = "apis/test.muster.dev/{}/widgets"
    for version in ("v1", "v1beta1"):
        wanted = 200 if version in versions else 404
        wait_for(lambda: server.kube.raw("GET", path.format(version)).code == wanted, f"{version}: {wanted}")


@case
def fault_30_a_kind_that_is_missing_is_waited_for(server):
    take_away(server)
    server.kube.create("nodes", {"metadata": {"name": "n1"}})
    with KubeTree(server) as tree:
        tree.wait_kind("nodes", "synced")
        tree.wait_equal("nodes")
        tree.wait_kind("widgets", "absent")
        server.install(kubecrds.widgets())
        server.kube.create("widgets", widget("w1", size=1, color="red"))
        tree.wait_kind("widgets", "synced", "v1", timeout=120)
        tree.wait_equal("widgets")
        server.kube.merge("widgets", "w1", {"spec": {"size": 2}})
        tree.wait_equal("widgets")
        assert tree.actor(WATCHER)["restarts"] == 0


@case
def fault_30_a_kind_that_is_taken_away_takes_its_objects_with_it(server):
    take_away(server)
    server.install(kubecrds.widgets())
    server.kube.create("widgets", widget("w1", size=1))
    server.kube.create("nodes", {"metadata": {"name": "n1"}})
    with KubeTree(server) as tree:
        tree.wait_synced()
        tree.wait_equal("widgets")
        take_away(server)
        tree.wait_kind("widgets", "absent", timeout=120)
        wait_for(lambda: tree.objects("widgets") == {}, "its objects are gone")
        assert set(tree.counts()["gone_keys"]) == {"widgets/default/w1"}
        server.install(kubecrds.widgets())
        server.kube.create("widgets", widget("w2", size=2))
        tree.wait_kind("widgets", "synced", timeout=120)
        tree.wait_equal("widgets")
        assert tree.actor(WATCHER)["restarts"] == 0


@case
def the_version_that_the_server_has_is_read(server):
    take_away(server)
    server.install(kubecrds.widgets("v1beta1"))
    server.kube.create("widgets.v1beta1", widget("w1", size=1, colour="green"))
    with KubeTree(server) as tree:
        tree.wait_kind("widgets", "synced", "v1beta1")
        tree.wait_equal("widgets.v1beta1")
        assert tree.fields("widgets/default/w1")["color"] == "green", "the old name of the field"


@case
def the_better_of_two_versions_is_read(server):
    take_away(server)
    server.install(kubecrds.widgets())
    server.kube.create("widgets", widget("w1", size=1, color="green"))
    with KubeTree(server) as tree:
        tree.wait_kind("widgets", "synced", "v1")
        tree.wait_equal("widgets")


@case
def fault_30_a_version_that_is_removed_is_replaced_by_the_other(server):
    take_away(server)
    server.install(kubecrds.widgets("v1beta1"))
    server.kube.create("widgets.v1beta1", widget("w1", size=1))
    with KubeTree(server) as tree:
        tree.wait_kind("widgets", "synced", "v1beta1")
        serve(server, "v1")
        server.interrupt()
        tree.wait_kind("widgets", "synced", "v1", timeout=120)
        tree.wait_equal("widgets")
        server.kube.merge("widgets", "w1", {"spec": {"color": "blue"}})
        tree.wait_equal("widgets")
        assert tree.fields("widgets/default/w1")["color"] == "blue"
        assert tree.counts()["gone_keys"] == [], "the object was there all the time"
        assert tree.actor(WATCHER)["restarts"] == 0


@case
def fault_30_a_field_that_the_server_prunes_is_held_by_nobody(server):
    take_away(server)
    server.install(kubecrds.widgets("v1"))
    for name in ("w1", "probe"):
        server.kube.create("widgets", widget(name, size=1, color="red"))
    with KubeTree(server) as tree:
        tree.wait_kind("widgets", "synced", "v1")
        tree.wait_equal("widgets")
        crd = server.kube.get("customresourcedefinitions", WIDGETS)
        for version in crd["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].pop("color", None)
        server.kube.replace("customresourcedefinitions", crd)
        red = {"spec": {"color": "red"}}
        wait_for(lambda: "color" not in server.kube.merge("widgets", "probe", red)["spec"], "it is pruned")
        tree.write("merge", "widgets", "w1", body={"spec": {"size": 2, "color": "blue"}})
        fields = tree.fields("widgets/default/w1")
        assert (fields["size"], fields["color"]) == (2, ""), f"not what the server has: {fields}"
        tree.wait_equal("widgets")
        assert tree.actor(WATCHER)["restarts"] == 0


def run(make):
    kubesuite.run(make)
