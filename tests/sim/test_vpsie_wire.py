"""tests/sim/test_vpsie_wire.py - vpsie-claimer's requests and answers with muster-sim --vpsie: D10, D11, D16,
D17, D18, D19, D21, D23, and the defect 7 of the original.

muster-test: parallel
"""
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from muster import wait_for
from vpsie import CLIENT, CLUSTER, DATACENTER, MEDIUM, OTHER_CLUSTER, VPSie

PROGRAM = pathlib.Path(os.environ["MUSTER_BIN"]) / "muster-test-vpsie"
# What a client is configured with: (path of the URL, header, what stands before the token)
AUTOSCALER, SDK = ("/v2", "Authorization", "Bearer "), ("", "Vpsie-Auth", "")
READERS = {"LIST_VMS": "vms", "READ_VM": "vm", "READ_CLUSTER": "cluster", "LIST_GROUPS": "groups",
           "ADD_WORKER": "added", "TOKEN": "token"}


class Wire:
    """The API, asked with the bytes that request.c makes; answers go to answer.c and wire.c as they came."""

    def __init__(self, vpsie, client=AUTOSCALER):
        self.vpsie, self.client, self.token = vpsie, client, vpsie.token
        self.folder = tempfile.TemporaryDirectory()
        self.group = 0
        self.files = 0

    def run(self, *words):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def send(self, call, cluster=CLUSTER, identifier="x", vm=1, offset=0):
        """(kind, status, file) of the answer, as the program takes them."""
        path, header, before = self.client
        rows = self.run("requests", self.vpsie.url + path, cluster, identifier, vm, self.group or 1, offset)
        [row] = [row for row in rows if row["call"] == call]
        connection = self.vpsie.api.connect()
        headers = {"Accept": "application/json"}
        if call != "TOKEN":
            headers[header] = before + self.token
        if row["type"]:
            headers["Content-Type"] = row["type"]
        connection.request(row["method"], row["path"], row["body"] or None, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        self.files += 1
        file = pathlib.Path(self.folder.name) / f"{self.files}-{call}"
        file.write_bytes(text)
        return READERS.get(call, "answer"), response.status, file

    def read(self, *answers, cluster=CLUSTER):
        """What the readers make of these answers together."""
        [got] = self.run("read", cluster, *(word for answer in answers for word in answer))
        return got

    def ask(self, call, **target):
        return self.read(self.send(call, **target))["answers"][0]

    def good(self, call, **target):
        answer = self.ask(call, **target)
        assert answer["verdict"] == "good", (call, answer)
        return answer

    def add_group(self):
        self.good("MAKE_GROUP")
        [group] = [g for g in self.read(self.send("LIST_GROUPS"))["groups"] if g["name"] == "web"]
        self.group = group["id"]
        return group

    def add_workers(self, count):
        """Until all of them run."""
        for _ in range(count):
            self.good("ADD_WORKER")
        wait_for(lambda: len(self.vpsie.workers("running", "joined", "ready")) == count, f"{count} workers")
        return self.vpsie.workers()

    def machines(self, pages=1):
        """Both lists, merged, without the control plane: {hostname: machine}."""
        vms = [self.send("LIST_VMS", offset=at) for at in range(pages)]
        got = self.read(*vms, self.send("READ_CLUSTER"))
        assert all(answer["verdict"] == "good" for answer in got["answers"]), got["answers"]
        return [machine for machine in got["machines"] if not machine["master"]]


@contextlib.contextmanager
def wire_of(client=AUTOSCALER, **more):
    with VPSie(**{"speed": 50, **more}) as vpsie:
        yield Wire(vpsie, client)


def seconds(text):
    """Of both forms of time."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", ""))
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()


@tap.case
def D11_D17_D19_everything_is_read_as_it_is_by_both_prefixes_and_headers():
    for client, strict in ((AUTOSCALER, 0), (SDK, 0), (AUTOSCALER, 1), (SDK, 2)):
        with wire_of(client) as wire:
            wire.vpsie.set("strict", strict)
            group = wire.add_group()
            assert (group["name"], group["boxsize_id"], group["cpu"], group["ram"], group["nodes"],
                    group["datacenter"]) == ("web", MEDIUM, 2, 4096, 0, DATACENTER), group
            workers = wire.add_workers(2)
            for worker, machine in zip(workers, wire.machines(), strict=True):
                vm = worker["vm"]
                assert machine == {
                    "id": worker["id"], "identifier": worker["identifier"], "hostname": worker["hostname"],
                    "status": "running", "cluster": CLUSTER, "datacenter": DATACENTER,
                    "addresses": [vm["default_ip"], vm["private_ip"], vm["default_ipv6"]],
                    "datacenter_id": 1, "boxsize_id": MEDIUM, "cpu": 2, "ram": 4096, "ssd": 80,
                    "traffic": 3000, "created_s": int(seconds(vm["created_on"])), "master": False,
                    "deleted": False}, machine
                assert machine["addresses"][:2] == [worker["public_ip"], worker["private_ip"]], worker
            # D18: a VM by its number, by its identifier (wrapped once more), and bare.
            for target in ({"vm": workers[0]["id"]}, {"vm": 0, "identifier": workers[0]["identifier"]}):
                got = wire.read(wire.send("READ_VM", **target))
                assert got["machines"][0]["id"] == workers[0]["id"], got
            wire.vpsie.set("bare_vm", 1)
            got = wire.read(wire.send("READ_VM", vm=workers[1]["id"]))
            assert got["machines"][0]["identifier"] == workers[1]["identifier"], got
            assert {row["code"] for row in wire.vpsie.audit()} == {200}


@tap.case
def D17_a_strict_server_refuses_the_other_prefix_and_the_other_header():
    with wire_of(AUTOSCALER) as wire:
        wire.vpsie.set("strict", 2)
        assert wire.ask("LIST_VMS")["verdict"] == "not-found"
        wire.client = ("", "Authorization", "Bearer ")
        assert wire.ask("LIST_VMS")["verdict"] == "denied"
        wire.vpsie.set("strict", 1)
        wire.client = SDK
        assert wire.ask("LIST_VMS")["verdict"] == "not-found"
        wire.client = ("/v2", "Vpsie-Auth", "")
        assert wire.ask("READ_CLUSTER")["verdict"] == "denied"


@tap.case
def D17_a_token_is_exchanged_refreshed_and_expires():
    with wire_of() as wire:
        assert wire.ask("TOKEN")["verdict"] == "denied", "the client is not known yet"
        wire.vpsie.set("client", CLIENT)
        first = wire.good("TOKEN")
        # 3600 s, refreshed 5 minutes early; the answer's time is a real one.
        now = datetime.datetime.now(datetime.timezone.utc).timestamp()
        assert abs(first["refresh_us"] / 1e6 - now - 3300) < 60, first
        wire.token = first["token"]
        wire.good("LIST_VMS")
        assert wire.vpsie.audit()[-1]["token"] == CLIENT["id"]
        wire.vpsie.set("expire_tokens", True)
        assert wire.ask("LIST_VMS")["verdict"] == "denied"
        wire.token = wire.good("TOKEN")["token"]
        assert wire.token != first["token"]
        wire.good("LIST_VMS")
        wire.vpsie.set("token_life_s", 1)
        wire.token = wire.good("TOKEN")["token"]
        wait_for(lambda: wire.ask("LIST_VMS")["verdict"] == "denied", "the token expires by itself")


@tap.case
def D16_D23_a_worker_is_deleted_by_UUID_and_by_number():
    with wire_of(join=True) as wire:
        wire.add_group()
        first, second = wire.add_workers(2)
        wire.good("DELETE_WORKER", identifier=first["identifier"])
        wire.good("DELETE_VM", vm=second["id"])
        # Not in the cluster any more; the VM list has it as deleted, or no more.
        got = wire.read(wire.send("LIST_VMS"), wire.send("READ_CLUSTER"))
        assert all(m["deleted"] or m["master"] for m in got["machines"]), got
        wait_for(lambda: wire.vpsie.workers() == [], "both are gone")
        assert wire.ask("DELETE_WORKER", identifier=first["identifier"])["verdict"] == "not-found"
        assert wire.ask("DELETE_VM", vm=second["id"])["verdict"] == "not-found"
        assert wire.ask("READ_VM", vm=second["id"])["verdict"] == "not-found"
        wire.vpsie.set("errors_with_200", 1)
        answer = wire.send("DELETE_VM", vm=second["id"])
        assert answer[1] == 200 and wire.read(answer)["answers"][0]["verdict"] == "not-found"


@tap.case
def D17_what_is_refused_is_recognised_whatever_its_status():
    for with_200 in (0, 1):
        with wire_of() as wire:
            wire.vpsie.set("errors_with_200", with_200)
            assert wire.ask("READ_CLUSTER", cluster="c2")["verdict"] == "not-found"
            assert wire.ask("LIST_GROUPS", cluster="c2")["verdict"] == "not-found"
            assert wire.ask("ADD_WORKER")["verdict"] == "not-found", "no such group"
            wire.add_group()
            wire.vpsie.set("quota", 0)
            answer = wire.ask("ADD_WORKER")
            assert answer["verdict"] == "capacity" and "allowed limit" in answer["message"], answer
            assert wire.vpsie.workers() == []


@tap.case
def D17_A4_faults_of_the_server_and_of_what_is_before_it():
    with wire_of() as wire:
        wire.add_group()
        for keys, verdict in (({"code": 200, "message": "no"}, "refused"),
                              ({"code": 200, "message": "Plan does not allow it"}, "capacity"),
                              ({"code": 429}, "throttled"), ({"code": 429, "retry_after": "7"}, "throttled"),
                              ({"code": 401}, "denied"), ({"code": 500}, "unusable"),
                              ({"code": 502, "body": "html"}, "unusable"),
                              ({"code": 200, "body": "html"}, "unusable")):
            wire.vpsie.fault("status", "add-worker", **keys)
            answer = wire.ask("ADD_WORKER")
            assert answer["verdict"] == verdict, (keys, answer)
        assert wire.vpsie.workers() == [] and len(wire.vpsie.posts()) == 8
        for call, kind in (("LIST_VMS", "vms"), ("READ_CLUSTER", "cluster"), ("LIST_GROUPS", "groups")):
            wire.vpsie.fault("cut", kind, how="clean", bytes=20)
            assert wire.ask(call)["verdict"] == "unusable", call
        wire.vpsie.fault("lost", "add-worker")
        with contextlib.suppress(OSError, http.client.HTTPException):
            raise AssertionError(wire.ask("ADD_WORKER"))
        assert len(wire.vpsie.workers()) == 1, "it had its effect"


@tap.case
def D10_a_late_effect_and_an_old_list():
    with wire_of() as wire:
        wire.add_group()
        wire.add_workers(1)
        wire.vpsie.fault("late_effect", "add-worker", ms=300)
        wire.good("ADD_WORKER")
        assert len(wire.vpsie.workers()) == 2
        for call, kind in (("LIST_VMS", "vms"), ("READ_CLUSTER", "cluster")):
            wire.vpsie.fault("stale", kind, behind=2)
            got = wire.read(wire.send(call))
            assert [m for m in got["machines"] if not m["master"]] == [], "before the first request"


@tap.case
def D23_pages_and_lists_that_are_truncated():
    with wire_of(join=True) as wire:
        wire.add_group()
        wire.add_workers(3)
        wire.vpsie.set("page_max", 1)
        pages = [wire.send("LIST_VMS", offset=at) for at in range(3)]
        got = wire.read(*pages)
        assert [a["page"] for a in got["answers"]] == ["more", "more", "last"], got["answers"]
        wire.vpsie.set("ignore_offset", 1)
        again = wire.send("LIST_VMS", offset=1)
        got = wire.read(pages[0], again)
        assert got["answers"][1]["page"] == "failed" and "truncated" in got["answers"][1]["message"], got
        wire.vpsie.set("page_max", 500)
        wire.vpsie.set("hide_total", 1)
        assert wire.read(wire.send("LIST_VMS"))["answers"][0]["page"] == "last"
        wire.vpsie.set("nodes_max", 2)
        got = wire.read(wire.send("READ_CLUSTER"))
        assert got["answers"][0]["short"], "fewer nodes than slaveCount"


@tap.case
def D11_workers_that_no_VM_list_has_and_nodes_without_an_identifier():
    with wire_of() as wire:
        wire.vpsie.next({"hide_vm": True}, {"hide_identifier": True}, {})
        wire.add_group()
        hidden, nameless, usual = wire.add_workers(3)
        by_hostname = {m["hostname"]: m for m in wire.machines()}
        assert len(by_hostname) == 3, by_hostname
        assert by_hostname[hidden["hostname"]]["id"] == 0
        assert by_hostname[hidden["hostname"]]["identifier"] == hidden["identifier"]
        assert by_hostname[nameless["hostname"]]["id"] == nameless["id"], "merged by its address"
        assert by_hostname[nameless["hostname"]]["identifier"] == nameless["identifier"]
        assert by_hostname[usual["hostname"]]["id"] == usual["id"]
        for form, identified in ((1, False), (2, True)):     # of the SDK; of the autoscaler
            wire.vpsie.set("nodes_form", form)
            got = wire.read(wire.send("READ_CLUSTER"))
            assert got["answers"][0]["verdict"] == "good" and len(got["machines"]) == 4, got
            assert any(m["identifier"] == usual["identifier"] for m in got["machines"]) == identified


@tap.case
def D11_addresses_come_late_and_change_and_hostnames_are_what_a_test_orders():
    with wire_of() as wire:
        wire.vpsie.next({"hostname": "Web-1-ABC"}, {"hostname": "web-1-abc", "ip_lag_ms": 10 ** 12},
                        {"group": "db", "hostname": "not-for-web"}, {"ip_settle_ms": 10 ** 12})
        wire.add_group()
        first, late, changing = wire.add_workers(3)
        assert [w["hostname"] for w in (first, late)] == ["Web-1-ABC", "web-1-abc"]
        assert [w["node"] for w in (first, late)] == ["web-1-abc", f"web-1-abc-{late['id'] - 41000}"]
        shown = {m["identifier"]: m["addresses"] for m in wire.machines()}
        assert shown[first["identifier"]][:2] == [first["public_ip"], first["private_ip"]], shown
        assert shown[late["identifier"]] == [], shown
        assert shown[changing["identifier"]] not in ([], [changing["public_ip"]]), shown


@tap.case
def D10_slow_workers_those_that_never_come_and_counts_that_lag():
    with wire_of() as wire:
        wire.vpsie.set("nodes_count_lag_ms", 10 ** 12)
        wire.vpsie.next({"delay_ms": 10 ** 12}, {"never": True})
        wire.add_group()
        wire.good("ADD_WORKER")
        wire.good("ADD_WORKER")
        wire.good("ADD_WORKER")
        wait_for(lambda: wire.vpsie.workers("running"), "the third one")
        assert len(wire.machines()) == 1 and len(wire.vpsie.workers("ordered")) == 2
        [group] = wire.read(wire.send("LIST_GROUPS"))["groups"]
        assert group["nodes"] == 0 and wire.vpsie.group("web")[0]["nodes"] == 1


@tap.case
def D10_an_answer_with_an_object():
    with wire_of() as wire:
        wire.vpsie.set("answer_object", 1)
        wire.add_group()
        answer = wire.good("ADD_WORKER")
        [worker] = wire.vpsie.workers()
        assert (answer["id"], answer["identifier"], answer["hostname"]) == (
            0, worker["identifier"], worker["hostname"]), answer


@tap.case
def D21_a_VM_deleted_from_outside_and_one_that_dies():
    with wire_of(join=True) as wire:
        wire.add_group()
        wire.add_workers(2)
        wait_for(lambda: len(wire.vpsie.workers("ready")) == 2, "both are Nodes")
        first, second = wire.vpsie.workers()
        wire.vpsie.delete_outside(first)
        wire.vpsie.kill(second["node"])
        [left] = [m for m in wire.machines() if not m["deleted"]]
        assert left["id"] == second["id"] and left["status"] == "stopped", left
        wait_for(lambda: [n["metadata"]["name"] for n in wire.vpsie.server.kube.list("nodes")["items"]]
                 == [second["node"]], "its Node is gone")


@tap.case
def D11_nobody_asked_for_these():
    with wire_of() as wire:
        wire.vpsie.call("POST", "vm", {"hostname": "a-plain-vm"})
        wire.vpsie.add_outside()
        wire.vpsie.add_outside(OTHER_CLUSTER)
        wait_for(lambda: len(wire.read(wire.send("LIST_VMS"))["machines"]) == 3, "all are made")
        by_cluster = {m["hostname"]: m["cluster"] for m in wire.machines()}
        assert by_cluster.pop("a-plain-vm") == "" and sorted(by_cluster.values()) == ["", CLUSTER], by_cluster


tap.main()
