"""tests/lib/kubetools.py - the real peers: Kubernetes, programs on public Go modules, Python packages; built
once, kept outside the tree.

    python3 tests/lib/kubetools.py [TOOL...]     builds what is missing, prints where each tool is; without
                                                 names all that tests need, not the peers of benchmarks
    kubetools.path("kubectl")                    the same from a test, which is skipped when it cannot be had
    kubetools.module("sigs.k8s.io/karpenter", "v1.15.0")   the files of a Go module

A tool is TOOL-VERSION-RECIPE in $MUSTER_CACHE (else ~/.cache/muster); another recipe is another folder. It is
built beside that folder and moved there when it is complete, so half a build is never found. A process that
needs a tool waits while another builds it. All comes from the registries of Go, Debian and Python, with
checked sums.
"""
import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import procs
import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("MUSTER_CACHE")
                     or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "muster")
GO_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin", "/usr/lib/go-1.25/bin", "/usr/lib/go-1.26/bin")
GO_OLDEST = (1, 25)
GO_MISSING = ("Go 1.25 or newer is missing (Debian 12's own is too old): unpack one of https://go.dev/dl/ to "
              "/usr/local/go, or have `go` in the PATH")
PYTHON_MISSING = "Python 3.11 or newer with the module venv is missing: Debian 12 has it in python3-venv"
PROGRESS_S = 15
KUBERNETES = "1.35.4"


class Missing(Exception):
    """A tool that is not available here; its text is the reason and what to do."""


@dataclasses.dataclass(frozen=True)
class GoTool:
    """A main package of a public module, or the one in `folder` of our tree, with its modules' versions.
    toolchain: the Go that its modules need when GO_OLDEST is too old; Go fetches it like a module.
    sums: lines of go.sum, of modules that the registry's own database of sums does not have."""
    version: str
    modules: dict
    package: str = "."
    folder: str = ""
    ldflags: str = "-s -w"
    toolchain: str = ""
    sums: tuple = ()

    def recipe(self):
        sources = sorted((ROOT / self.folder).glob("*.go")) if self.folder else []
        return repr([self.version, sorted(self.modules.items()), self.package, self.ldflags,
                     *filter(None, [self.toolchain]), *self.sums,
                     *(source.read_text() for source in sources)])

    def program(self, name):
        return name

    def make(self, name, work):
        go = find_go()
        for source in (ROOT / self.folder).glob("*.go") if self.folder else ():
            shutil.copy(source, work)
        (work / "go.mod").write_text(self.go_mod(name))
        (work / "go.sum").write_text("".join(f"{line}\n" for line in self.sums))
        environment = _environment() | ({"GOTOOLCHAIN": f"go{self.toolchain}"} if self.toolchain else {})
        every = _run(name, [go, "list", "-deps", self.package], work, environment).split()
        _run(name, [go, "build", "-v", "-trimpath", "-buildvcs=false", f"-ldflags={self.ldflags}",
                    "-o", name, self.package], work, environment, len(every))
        for left in ("go.mod", "go.sum", *(path.name for path in work.glob("*.go"))):
            (work / left).unlink(missing_ok=True)

    def go_mod(self, name):
        """Kubernetes asks for its own libraries as v0.0.0: each is replaced by its published version."""
        lines = [f"module muster.test/{name}", f"go {self.toolchain or '%d.%d.0' % GO_OLDEST}",
                 *(f"require {path} {version}" for path, version in self.modules.items())]
        if "k8s.io/kubernetes" in self.modules:
            version = self.modules["k8s.io/kubernetes"]
            text = pathlib.Path(_download("k8s.io/kubernetes", version)["GoMod"]).read_text()
            published = version.replace("v1.", "v0.", 1)
            lines += [f"replace {path} => {path} {published}" for path in
                      re.findall(r"^\s*(k8s\.io/[\w-]+) => \./staging/", text, re.M)]
        return "\n".join(lines) + "\n"


@dataclasses.dataclass(frozen=True)
class DebianTool:
    """One file out of a Debian package: installing the package would start a service."""
    version: str
    package: str
    file: str

    def recipe(self):
        return repr([self.version, self.package, self.file])

    def program(self, name):
        return name

    def make(self, name, work):
        if shutil.which("apt-get") is None:
            raise Missing(f"{name} comes out of the Debian package {self.package}, and this is not Debian")
        try:
            _run(name, ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", self.package], work,
                 _environment())
        except Missing:
            hint = f"try `apt-get update`; the package is {self.package}"
            raise Missing(f"{name} could not be fetched: {hint}") from None
        archive, = work.glob("*.deb")
        with open(work / name, "wb") as out:
            tarball = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE)
            subprocess.run(["tar", "-xO", self.file], stdin=tarball.stdout, stdout=out, check=True)
            tarball.communicate()
        archive.unlink()
        (work / name).chmod(0o755)


@dataclasses.dataclass(frozen=True)
class PythonTool:
    """A virtual environment with the packages that a file of our tree lists, each with its version and its
    hashes; the program is its Python. It works after the folder is moved, the scripts in its bin do not."""
    version: str
    packages: str

    def recipe(self):
        return repr([self.version, (ROOT / self.packages).read_text()])

    def program(self, name):
        return "bin/python"

    def make(self, name, work):
        _run(name, [find_python(), "-m", "venv", "."], work, _environment())
        # Wheels alone: nothing of theirs is compiled or run to install them.
        _run(name, ["bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:",
                    "--require-hashes", "--disable-pip-version-check", "-r", str(ROOT / self.packages)], work,
             _environment())


_STAMP = " ".join(f"-X k8s.io/{library}/version.{key}={value}"
                  for library in ("component-base", "client-go/pkg")
                  for key, value in (("gitVersion", f"v{KUBERNETES}"), ("gitMajor", "1"), ("gitMinor", "35")))


def _kubernetes(command):
    return GoTool(KUBERNETES, {"k8s.io/kubernetes": f"v{KUBERNETES}"}, f"k8s.io/kubernetes/cmd/{command}",
                  ldflags=f"-s -w {_STAMP}")


_AUTOSCALER = "v0.0.0-20250613073258-1959f5f61f6c"
TOOLS = {
    "etcd": GoTool("3.6.5", {"go.etcd.io/etcd/server/v3": "v3.6.5"}, "go.etcd.io/etcd/server/v3"),
    "etcd-debian": DebianTool("3.4", "etcd-server", "./usr/bin/etcd"),
    "kubectl": _kubernetes("kubectl"),
    "kube-apiserver": _kubernetes("kube-apiserver"),
    "kube-scheduler": _kubernetes("kube-scheduler"),
    "clientgo": GoTool("0.35.4", {f"k8s.io/{library}": "v0.35.4" for library in
                                  ("api", "apimachinery", "client-go")}, folder="tests/real/go/clientgo"),
    "oracle": GoTool("0.35.4", {"k8s.io/apimachinery": "v0.35.4", "gopkg.in/inf.v0": "v0.9.1",
                                "gopkg.in/evanphx/json-patch.v4": "v4.13.0"}, folder="tests/real/oracle"),
    "linodego": GoTool("1.69.1", {"github.com/linode/linodego": "v1.69.1"}, folder="tests/real/go/linodego"),
    "karpenter": GoTool("1.15.0", {"sigs.k8s.io/karpenter": "v1.15.0"}, folder="tests/real/go/karpenter",
                        toolchain="1.26.9"),
    # Its module has no tags. Kubernetes is of the version that its go.mod names for the libraries.
    "autoscaler": GoTool("20250613", {
        "k8s.io/autoscaler/cluster-autoscaler": _AUTOSCALER,
        "k8s.io/autoscaler/cluster-autoscaler/apis": "v0.0.0-20240627115740-d52e4b9665d7",
        "k8s.io/kubernetes": "v1.33.1"}, folder="tests/real/go/autoscaler", sums=tuple(
            f"k8s.io/autoscaler/cluster-autoscaler {version} h1:{sum_}=" for version, sum_ in (
                (_AUTOSCALER, "gGUthCoel/TlD1fh33foTFCs1n75w8sqmpD3qf2zqk4"),
                (f"{_AUTOSCALER}/go.mod", "/1vry++ARaSAifwfBxWxGejNkgroz+/N8HyI0Xo7F8U")))),
    "moto": PythonTool("5.2.5", "tests/real/python/moto.txt"),
    # Cluster API's own controllers and webhooks.
    "capi-manager": GoTool("1.13.6", {"sigs.k8s.io/cluster-api": "v1.13.6"}, "sigs.k8s.io/cluster-api"),
    # The libraries of Kubernetes are those of kubectl, so that both are compiled once.
    "helm": GoTool("3.20.2", {"helm.sh/helm/v3": "v3.20.2", **{f"k8s.io/{library}": "v0.35.4" for library in (
        "api", "apiextensions-apiserver", "apimachinery", "apiserver", "cli-runtime", "client-go",
        "component-base", "kubectl")}}, "helm.sh/helm/v3/cmd/helm"),
    # The server that reads the shipped rules and asks the queries of the dashboard.
    "prometheus": DebianTool("2.42", "prometheus", "./usr/bin/prometheus"),
    # bench/kube.py measures us beside it
    "node-cache": GoTool("0.23.3", {"sigs.k8s.io/controller-runtime": "v0.23.3", "k8s.io/api": "v0.35.4",
                                    "k8s.io/apimachinery": "v0.35.4"}, folder="bench/peers/node-cache"),
    # bench/annotator.py measures us beside it
    "peer-annotator": GoTool("2.13.0", {
        "sigs.k8s.io/cluster-api-provider-aws/v2": "v2.13.0", "sigs.k8s.io/cluster-api": "v1.13.6",
        "sigs.k8s.io/controller-runtime": "v0.23.3", "github.com/aws/aws-sdk-go": "v1.55.8",
        "k8s.io/apimachinery": "v0.35.4"}, folder="bench/peers/capa-annotator"),
}

OF_BENCHMARKS = {"node-cache", "peer-annotator"}


def place(name):
    tool = TOOLS[name]
    mark = hashlib.sha256(tool.recipe().encode()).hexdigest()[:12]
    return CACHE / f"{name}-{tool.version}-{mark}" / tool.program(name)


def path(name):
    """The program, built now if need be. A test that cannot have it is skipped (a failure when CI=true)."""
    try:
        return str(have(name))
    except Missing as why:
        raise tap.Skip(str(why)) from None


def have(name):
    program = place(name)
    if program.exists():
        return program
    folder = CACHE / program.relative_to(CACHE).parts[0]
    CACHE.mkdir(parents=True, exist_ok=True)
    with _lock(name):
        if program.exists():
            return program
        for killed in CACHE.glob(f".{name}@*"):
            shutil.rmtree(killed, ignore_errors=True)
        work = pathlib.Path(tempfile.mkdtemp(prefix=f".{name}@", dir=CACHE))
        try:
            _log(f"{name} {TOOLS[name].version}: to be kept in {folder}")
            began = time.monotonic()
            TOOLS[name].make(name, work)
            work.chmod(0o755)
            # A virtual environment whose Python was removed from this machine.
            shutil.rmtree(folder, ignore_errors=True)
            work.rename(folder)
            _log(f"{name}: built in {time.monotonic() - began:.0f} s")
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return program


def module(name, version):
    """The files of a Go module, fetched now if need be. A test that cannot have it is skipped."""
    folder = CACHE / "modules" / f"{name}@{version}"
    try:
        if not folder.exists():
            _unpack(_download(name, version)["Zip"], f"{name}@{version}/", folder)
    except Missing as why:
        raise tap.Skip(str(why)) from None
    return folder


def _unpack(archive, prefix, folder):
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=CACHE) as work, zipfile.ZipFile(archive) as files:
        files.extractall(work)
        with contextlib.suppress(OSError):      # another process was faster
            (pathlib.Path(work) / prefix).rename(folder)


def find_go():
    """The newest Go is not searched for: the first that is new enough will do."""
    for folder in [*os.environ.get("PATH", "").split(":"), *GO_PLACES]:
        go = pathlib.Path(folder or ".") / "go"
        if os.access(go, os.X_OK) and go.is_file():
            output = subprocess.run([str(go), "version"], capture_output=True, text=True).stdout
            number = re.search(r"go(\d+)\.(\d+)", output)
            if number and tuple(map(int, number.groups())) >= GO_OLDEST:
                return str(go)
    raise Missing(GO_MISSING)


def find_python():
    """One that can make a virtual environment, and is new enough for the packages."""
    asked = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    for python in (sys.executable, "/usr/bin/python3"):
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", asked], capture_output=True,
                                                         stdin=subprocess.DEVNULL).returncode == 0:
            return python
    raise Missing(PYTHON_MISSING)


def _download(name, version):
    """What `go mod download` prints about a module. Only its files are used, so it may need a newer Go."""
    with tempfile.TemporaryDirectory(prefix="muster-go-") as nowhere:
        command = [find_go(), "mod", "download", "-json", f"{name}@{version}"]
        done = subprocess.run(command, cwd=nowhere, env=_environment(), stdin=subprocess.DEVNULL,
                              text=True, capture_output=True)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise Missing(f"{name} {version} could not be fetched: {done.stderr}") from None
    if "Zip" not in found:
        raise Missing(f"{name} {version} could not be fetched: {found.get('Error')}")
    return found


def _environment():
    return dict(os.environ, GOFLAGS="-mod=mod", GOWORK="off", CGO_ENABLED="0", LC_ALL="C")


class _lock:
    """One builder per tool on this machine; the lock ends with its holder."""

    def __init__(self, name):
        self.name, self.file = name, open(CACHE / f".{name}.lock", "w")

    def __enter__(self):
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log(f"{self.name}: another process builds it, waiting")
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def _run(name, command, folder, environment, packages=0):
    """stdout of a command that must succeed. Its stderr is counted for the progress, and shown on failure."""
    child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_lowly)
    lines, began = [], time.monotonic()

    def listen():
        shown = began
        for line in child.stderr:
            lines.append(line)
            if time.monotonic() - shown > PROGRESS_S:
                shown = time.monotonic()
                fetched = sum(text.startswith("go: downloading") for text in lines)
                done = (f"{len(lines) - fetched} of {packages} packages" if packages
                        else f"{fetched} downloads")
                _log(f"{name}: {done} after {shown - began:.0f} s")

    listener = threading.Thread(target=listen)
    listener.start()
    output = child.stdout.read()
    listener.join()
    if child.wait() != 0:
        raise Missing(f"{name} cannot be built: `{' '.join(command)}` printed\n{''.join(lines[-20:])}")
    return output


def _lowly():
    os.nice(10)
    procs.die_with_parent()


def _log(text):
    """stderr: stdout belongs to TAP, or to the answer."""
    print(f"# {text}", file=sys.stderr, flush=True)


def main():
    wrong = [name for name in sys.argv[1:] if name not in TOOLS]
    if wrong:
        sys.exit(f"no tool {wrong[0]}; there are: {' '.join(TOOLS)}")
    try:
        for name in sys.argv[1:] or [tool for tool in TOOLS if tool not in OF_BENCHMARKS]:
            print(f"{name} {have(name)}", flush=True)
    except Missing as why:
        sys.exit(f"{why}")


if __name__ == "__main__":
    main()
