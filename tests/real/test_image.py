"""tests/real/test_image.py - the assembled root, its archive, and the demo in it.

musterd is PID 1 there, not as root, and cannot write into the root. The demo is the one of ./dev demo.

muster-test: parallel
muster-test: timeout=900
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

LIB = pathlib.Path(__file__).resolve().parents[1] / "lib"
sys.path.insert(0, str(LIB))
import imageroot
import procs
import tap
from muster import ROOT, wait_for

RELEASE = ROOT / "build/release"
ASSEMBLE = ROOT / "deploy/image/assemble.py"
LIMIT = 15 * 1000 * 1000
SHELLS = ("sh", "bash", "dash", "busybox", "apt", "dpkg", "perl", "python3")
place = tempfile.TemporaryDirectory(prefix="image-", dir="/tmp")
root, archive = pathlib.Path(place.name, "root"), pathlib.Path(place.name, "muster.oci.tar")


def assemble(*words):
    return subprocess.run([sys.executable, str(ASSEMBLE), *map(str, words)], text=True, capture_output=True,
                          env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000", PYTHONDONTWRITEBYTECODE="1"))


def read_archive():
    with tarfile.open(archive) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}


@tap.case
def the_root_has_what_musterd_needs_and_nothing_else():
    built = subprocess.run([str(ROOT / "dev"), "build", "release"], text=True, capture_output=True)
    assert built.returncode == 0, built.stdout + built.stderr
    done = assemble(RELEASE, root, "--oci", archive)
    assert done.returncode == 0, done.stderr
    tap.note(done.stdout)
    names = {path.name for path in root.rglob("*")}
    assert {"musterd", "muster", "muster-kube-watcher", "ca-certificates.crt"} <= names, names
    assert not names & {*SHELLS, "muster-sim"}, names & {*SHELLS, "muster-sim"}
    assert not [path for path in root.rglob("*") if path.lstat().st_mode & 0o6000], "a file with setuid"
    assert "muster:x:65532:" in (root / "etc/passwd").read_text()


@tap.case
def the_archive_is_small_and_its_sums_are_right():
    size = archive.stat().st_size
    tap.note(f"{size / 1e6:.1f} MB compressed")
    assert size <= LIMIT, size
    files = read_archive()
    blobs = {name.split("/")[-1]: content for name, content in files.items() if name.startswith("blobs/")}
    for digest, content in blobs.items():
        assert hashlib.sha256(content).hexdigest() == digest

    def blob(row):
        content = blobs[row["digest"].removeprefix("sha256:")]
        assert len(content) == row["size"], row
        return content
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
    config = json.loads(blob(manifest["config"]))
    layer = subprocess.run(["gzip", "-dc"], input=blob(manifest["layers"][0]), check=True,
                           capture_output=True).stdout
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    with tempfile.NamedTemporaryFile() as file:
        file.write(layer)
        file.flush()
        with tarfile.open(file.name) as tar:
            entries = {entry.name: entry for entry in tar}
    assert set(entries) == {str(path.relative_to(root)) for path in root.rglob("*")}
    assert {entry.uid for name, entry in entries.items() if name != "run"} == {0}
    assert config["config"]["Entrypoint"][0].lstrip("/") in entries


@tap.case
def the_same_build_gives_the_same_bytes():
    first = archive.read_bytes()
    done = assemble(RELEASE, root, "--oci", archive)
    assert done.returncode == 0 and archive.read_bytes() == first, done.stderr


@tap.case
def a_wrong_call_is_named_and_changes_nothing():
    with tempfile.TemporaryDirectory() as folder:
        mine = pathlib.Path(folder, "mine")
        mine.mkdir()
        (mine / "file").write_text("of somebody")
        for words, text in (((RELEASE, mine), "did not make"),
                            ((pathlib.Path(folder, "none"), pathlib.Path(folder, "r")), "build it first")):
            done = assemble(*words)
            assert done.returncode != 0 and text in done.stderr, done.stderr
            assert "Traceback" not in done.stderr, done.stderr
        assert [path.name for path in mine.iterdir()] == ["file"]
        assert [path.name for path in pathlib.Path(folder).iterdir()] == ["mine"]


@tap.case
def the_dockerfile_has_the_same_configuration():
    files = read_archive()
    config = next(json.loads(content)["config"] for name, content in files.items()
                  if name.startswith("blobs/") and b'"rootfs"' in content[:5000] and content[:1] == b"{")
    stage = (ROOT / "deploy/image/Dockerfile").read_text().split("FROM scratch")[1]
    rows = re.findall(r"^([A-Z]+) (.*)$", stage, re.M)
    given = {name: value for name, value in rows if name != "ENV"}
    assert given["USER"] == config["User"]
    assert json.loads(given["ENTRYPOINT"]) == config["Entrypoint"]
    assert json.loads(given["CMD"]) == config["Cmd"]
    assert given["STOPSIGNAL"] == config["StopSignal"] and given["WORKDIR"] == config["WorkingDir"]
    assert set(given["EXPOSE"].split()) == set(config["ExposedPorts"])
    assert [value for name, value in rows if name == "ENV"] == config["Env"]


@tap.case
def the_root_cannot_be_written_and_musterd_is_not_root():
    """Of a musterd that ends by itself: its user, and what an unknown setting makes of it there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        config = pathlib.Path(folder, "muster.yaml")
        config.write_text("supervisor:\n  run-dir: /run-of-nobody\nactors: {}\n")
        imageroot.give(folder)
        command = [*imageroot.wrapper(root, [folder]), imageroot.program(root, "musterd"),
                   "--config", str(config)]
        done = subprocess.run(command, text=True, capture_output=True, timeout=60)
        assert done.returncode == 100 and "Read-only file system" in done.stderr, done


@tap.case
def the_demo_runs_in_it():
    environment = dict(os.environ, MUSTER_BIN=str(RELEASE / "bin"), MUSTER_PRESET="release")
    process = subprocess.Popen([sys.executable, str(LIB / "demo.py"), "--json", "--root", str(root)],
                               text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment, start_new_session=True,
                               preexec_fn=procs.die_with_parent)
    lines = []

    def seen():
        lines.append(process.stdout.readline())
        return "everything at once" in lines[-1] or not lines[-1]
    wait_for(seen, "musterd runs in the root", 300, every=0)
    check_confined([p for p in procs.family(process.pid) if "muster" in p.command])
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, f"exit code {process.returncode}\n{out[-3000:]}\n{err[-3000:]}"
    found = json.loads(out.splitlines()[-1])
    assert (found["ok"], found["violations"], found["nodes"]) == (True, 0, 43), found
    tap.note(json.dumps(found))


def check_confined(family):
    """PID 1 of its namespace, the user of the image, no capability, and the root of the image."""
    status = {}
    for process in family:
        text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        rows = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        if rows["Name"].startswith("muster") and rows["Name"] != "muster-sim":
            status[rows["Name"]] = rows
    assert len(status) == 9, status.keys()
    assert status["musterd"]["NSpid"].split()[-1] == "1", status["musterd"]["NSpid"]
    for name, rows in status.items():
        ids = {*rows["Uid"].split(), *rows["Gid"].split()}
        assert ids == {str(imageroot.USER)}, (name, ids)
        assert int(rows["CapEff"], 16) == int(rows["CapPrm"], 16) == 0 and rows["NoNewPrivs"] == "1", name


tap.main()
