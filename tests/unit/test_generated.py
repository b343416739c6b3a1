"""tests/unit/test_generated.py - deploy/generate.py: rights, chart and schema follow from the tables.

muster-test: parallel
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from muster import BIN, ROOT


def generate(deploy, *words):
    return subprocess.run([sys.executable, str(deploy / "generate.py"), *words], text=True,
                          capture_output=True, env=dict(os.environ, MUSTER_BIN=str(BIN)))


@tap.case
def the_files_are_as_the_program_has_them():
    done = generate(ROOT / "deploy", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@tap.case
def a_right_that_somebody_adds_by_hand_is_named():
    with tempfile.TemporaryDirectory() as folder:
        deploy = pathlib.Path(folder, "deploy")
        shutil.copytree(ROOT / "deploy", deploy, symlinks=True)
        changed = deploy / "kustomize/base/rbac.yaml"
        changed.write_text(changed.read_text().replace("[list, watch]", "[list, watch, delete]", 1))
        (deploy / "helm/muster/rights/lke-claimer.yaml").unlink()
        done = generate(deploy, "--check")
        named = {line.split(" differs")[0] for line in done.stdout.splitlines()}
        assert done.returncode == 1, done
        wanted = {"deploy/kustomize/base/rbac.yaml", "deploy/helm/muster/rights/lke-claimer.yaml"}
        assert named == wanted, done
        assert generate(deploy).returncode == 0 and generate(deploy, "--check").returncode == 0


tap.main()
