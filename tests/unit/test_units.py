"""tests/unit/test_units.py - the systemd units: what a service may do, and that both are confined alike.

muster-test: needs=systemd-analyze
"""
import os
import pathlib
import re
import subprocess
import tempfile

import tap

UNITS = pathlib.Path(__file__).resolve().parents[2] / "deploy/systemd"
NAMES = ("musterd.service", "musterd@.service")
EXPOSURE_MAX = 15       # tenths: 0 is safe, 100 is exposed


def unit(name, sbin="/usr/sbin"):
    """The unit as cmake writes it (deploy/CMakeLists.txt)."""
    text = (UNITS / f"{name}.in").read_text()
    text = text.replace("@CONFINEMENT@", (UNITS / "confinement.inc").read_text())
    return text.replace("@CMAKE_INSTALL_FULL_SBINDIR@", sbin)


def analyze(name, text, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text(text)
        return subprocess.run(["systemd-analyze", *arguments, str(path)], text=True, capture_output=True,
                              env=dict(os.environ, SYSTEMD_COLORS="0"))


@tap.case
def a_service_is_exposed_to_1_5_at_most():
    for name in NAMES:
        text = unit(name)
        assert "@" not in text.replace("musterd@", "").replace("@system-service", "").replace(
            "@privileged", ""), text
        done = analyze(name, text, "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", "--no-pager")
        assert done.returncode == 0, done.stdout[-300:] + done.stderr


@tap.case
def the_threshold_can_fail():
    text = unit("musterd.service").replace("NoNewPrivileges=yes", "").replace("ProtectSystem=strict", "") \
        .replace("CapabilityBoundingSet=", "#")
    assert analyze("musterd.service", text, "security", "--offline=true",
                   f"--threshold={EXPOSURE_MAX}", "--no-pager").returncode != 0


@tap.case
def every_line_of_a_unit_is_understood():
    for name in NAMES:
        text = unit(name, sbin="/bin").replace("/bin/musterd ", "/bin/true ")
        done = analyze(name, text, "verify", "--man=no")
        ours = [line for line in done.stderr.splitlines() if "musterd" in line]
        assert not ours, ours


@tap.case
def instances_share_no_path():
    text = unit("musterd@.service")
    for setting in ("ExecStart", "RuntimeDirectory", "Description"):
        assert re.search(rf"^{setting}=.*%i", text, re.M), setting
    assert "/run/muster " not in text and "/etc/muster/muster.yaml" not in text


tap.main()
