#!/usr/bin/env python3
"""deploy/image/assemble.py BUILD ROOT [--oci FILE] - the smallest root in which musterd runs, and its image.

BUILD   a build without test actors: build/release, or any folder of cmake
ROOT    a folder that is not there yet, or was made by this script. It gets the programs (stripped), the
        shared libraries that they load, the CA certificates of this machine, the user muster and nothing
        else: no shell, no package manager
--oci   an archive in the layout of OCI, with one layer. No daemon is needed. Load it with `skopeo copy
        oci-archive:FILE docker://...`, `podman load -i FILE` or `ctr images import FILE`

The last line is the size of the archive. What is in it depends only on BUILD and on the libraries of this
machine: the same ones give the same bytes (times are $SOURCE_DATE_EPOCH, else that of the commit).
"""
import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
USER = 65532                            # nonroot, as images without a distribution have it
MARK = "usr/share/muster/image.json"    # a folder with it was made by this script
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
LIMIT = 15 * 1000 * 1000                # bytes of the archive
LEFT_OUT = ("muster-sim",)
RUN_DIR = "/run/muster"
CONFIG = "/etc/muster/muster.yaml"
PORTS = ("8080", "9440", "9443")        # metrics, health checks, hooks of Cluster API
FILES = {
    "etc/passwd": f"root:x:0:0:root:/:/nologin\nmuster:x:{USER}:{USER}:muster:/:/nologin\n",
    "etc/group": f"root:x:0:\nmuster:x:{USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
FOLDERS = ("dev", "etc/muster", "proc", "run", "sys", "tmp", "var/run/secrets")


class Wrong(Exception):
    """What keeps the image from being made, and what to do."""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--oci", type=pathlib.Path, metavar="FILE")
    asked = parser.parse_args()
    try:
        root = assemble(asked.build, asked.root)
        print(f"{root}: {human(size_of(root))} in {sum(1 for _ in files_of(root))} files")
        if asked.oci:
            layer = write_oci(root, asked.oci)
            size = asked.oci.stat().st_size
            print(f"{asked.oci}: {human(size)} compressed, layer sha256:{layer}")
            if size > LIMIT:
                raise Wrong(f"{asked.oci} has {human(size)}; at most {human(LIMIT)} are allowed")
    except Wrong as why:
        sys.exit(f"assemble.py: {why}")


# -- the root

def assemble(build, root):
    if root.exists() and any(root.iterdir()) and not (root / MARK).is_file():
        raise Wrong(f"{root} has files that this script did not make; name a folder that is not there yet")
    fresh = pathlib.Path(tempfile.mkdtemp(prefix=f".{root.name}-", dir=make_parent(root)))
    try:
        for folder in FOLDERS:
            (fresh / folder).mkdir(parents=True)
        install(build, fresh)
        for library in closure(programs(fresh)):
            copy(library, fresh)
        link_folders(fresh)
        write(fresh, CERTIFICATES, certificates())
        for name, text in FILES.items():
            write(fresh, name, text.encode())
        about = {"version": version(fresh), "commit": commit(), "architecture": architecture()}
        write(fresh, MARK, (json.dumps(about) + "\n").encode())
        fresh.chmod(0o755)
        shutil.rmtree(root, ignore_errors=True)
        fresh.rename(root)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return root


def make_parent(root):
    root.parent.mkdir(parents=True, exist_ok=True)
    return root.parent


def install(build, root):
    """Programs alone: pages, completion, units and CRDs are for machines with people."""
    with tempfile.TemporaryDirectory(prefix="muster-image-") as place:
        done = subprocess.run(["cmake", "--install", str(build), "--strip"], text=True, capture_output=True,
                              env=dict(os.environ, DESTDIR=place))
        if done.returncode != 0:
            raise Wrong(f"{build} cannot be installed; build it first (./dev build release):\n{done.stderr}")
        for path in sorted(pathlib.Path(place).rglob("*")):
            name = path.relative_to(place)
            if path.name in LEFT_OUT or not ({"bin", "sbin", "libexec"} & set(name.parts)) or path.is_dir():
                continue
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, root / name, follow_symlinks=False)
    if not programs(root):
        raise Wrong(f"{build} installs no program")


def programs(root):
    return [path for path in files_of(root) if not path.is_symlink() and os.access(path, os.X_OK)]


def closure(paths):
    """The shared libraries that these programs load, as absolute paths, and the loader itself."""
    found = set()
    for path in paths:
        done = subprocess.run(["ldd", str(path)], text=True, capture_output=True)
        lost = re.findall(r"(\S+) => not found", done.stdout)
        if done.returncode != 0 or lost:
            raise Wrong(f"{path.name} needs what is not on this machine: "
                        f"{', '.join(lost) or done.stderr.strip()}")
        found.update(re.findall(r"(?:=> |^\s*)(/\S+) \(0x", done.stdout, re.M))
    return sorted(found)


def copy(library, root):
    """Under the name by which it is loaded. Folders are those of a Debian with one /usr."""
    source = pathlib.Path(library)
    name = re.sub(r"^/(usr/)?", "usr/", library)
    target = root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source.resolve(), target)
    target.chmod(0o755)
    subprocess.run(["strip", "--strip-unneeded", str(target)], check=True, capture_output=True)


def link_folders(root):
    for path in (root / "usr").iterdir():
        if re.fullmatch(r"lib\w*", path.name) and path.name != "libexec":
            (root / path.name).symlink_to(f"usr/{path.name}")


def certificates():
    try:
        return pathlib.Path("/", CERTIFICATES).read_bytes()
    except OSError as error:
        raise Wrong(f"{error}; install the package ca-certificates") from None


def write(root, name, content):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o644)


def files_of(root):
    return sorted(path for path in root.rglob("*") if path.is_symlink() or path.is_file())


def size_of(root):
    return sum(path.lstat().st_size for path in files_of(root))


# -- the archive

def write_oci(root, archive):
    """Returns the digest of the layer."""
    when = time_of_build()
    plain = layer(root, when)
    packed = gzip.compress(plain, 9, mtime=0)
    blobs = {}

    def blob(content, kind):
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}",
                "size": len(content)}

    config = {"architecture": architecture(), "os": "linux", "config": image_config(root),
              "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(pack(config), "config.v1+json"),
                "layers": [blob(packed, "layer.v1.tar+gzip")]}
    row = {**blob(pack(manifest), "manifest.v1+json"),
           "annotations": {"org.opencontainers.image.ref.name": about(root)["version"]}}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [row]}
    files = {"oci-layout": pack({"imageLayoutVersion": "1.0.0"}), "index.json": pack(index),
             **{f"blobs/sha256/{digest}": content for digest, content in sorted(blobs.items())}}
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as out:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), when
            out.addfile(entry, io.BytesIO(content))
    return hashlib.sha256(packed).hexdigest()


def image_config(root):
    """deploy/image/Dockerfile has the same; a test compares them."""
    musterd, = [path for path in programs(root) if path.name == "musterd"]
    return {
        "User": f"{USER}:{USER}",
        "Entrypoint": [f"/{musterd.relative_to(root)}"],
        "Cmd": ["--config", CONFIG],
        "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", f"MUSTER_RUN_DIR={RUN_DIR}"],
        "ExposedPorts": {f"{port}/tcp": {} for port in PORTS},
        "StopSignal": "SIGTERM", "WorkingDir": "/",
        "Labels": {"org.opencontainers.image.title": "muster",
                   "org.opencontainers.image.version": about(root)["version"],
                   "org.opencontainers.image.revision": about(root)["commit"],
                   "org.opencontainers.image.licenses": "Apache-2.0"}}


def layer(root, when):
    """Everything is root's, except what is written at run time: volumes are mounted there."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            entry = tar.gettarinfo(path, str(path.relative_to(root)))
            entry.uid = entry.gid = USER if entry.name == "run" else 0
            entry.uname = entry.gname = ""
            entry.mtime = when
            if entry.isfile():
                entry.type = tarfile.REGTYPE        # no hard links: each file is whole
                entry.size = path.stat().st_size
                entry.mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
                with open(path, "rb") as content:
                    tar.addfile(entry, content)
            else:
                entry.mode = 0o1777 if entry.name == "tmp" else 0o755
                tar.addfile(entry)
    return out.getvalue()


def pack(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


# -- what it is

def about(root):
    return json.loads((root / MARK).read_text())


def version(root):
    muster, = [path for path in programs(root) if path.name == "muster"]
    printed = subprocess.run([str(muster), "--version"], check=True, text=True, capture_output=True).stdout
    return re.search(r"\d+\.\d+\.\d+\S*", printed)[0].rstrip(",")


def git(*words):
    done = subprocess.run(["git", "-C", str(SOURCE), *words], text=True, capture_output=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit():
    return git("rev-parse", "HEAD") or "unknown"


def time_of_build():
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)


def architecture():
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def human(size):
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
