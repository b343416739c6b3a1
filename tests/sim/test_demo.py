"""tests/sim/test_demo.py - ./dev demo: each scene to its end, its object of --json, Ctrl-C, an unknown scene.

muster-test: parallel
muster-test: timeout=600
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

LIB = pathlib.Path(__file__).resolve().parents[1] / "lib"
sys.path.insert(0, str(LIB))
import demo
import procs
import tap
from muster import wait_for
from tree import alive

# scene -> (its options, what the object has beside ok, scene, violations and seconds; None: any count)
SCENES = {
    "fleet": ([], {"nodes": 43, "claims": 10, "vpsienodes": 3, "vips": 4, "annotated": 9, "insights": 33}),
    "annotator": ([], {"machinedeployments": 10, "annotated": 9, "unknown": 1, "writes": 9, "calls": None}),
    "lke": ([], {"claims": 30, "ready": 30, "writes": None, "calls": None}),
    "openshift": (["--seconds", "8"], {"nodes": 30}),
    "vip": ([], {"clusters": 4, "vips": 4, "waited": 1}),
    "vpsie": ([], {"vpsienodes": 5, "ready": 2, "failed": 1, "posts": 5}),
}
ENDS_S = 300


def begin(*arguments):
    """In a session of its own: Ctrl-C of a terminal hits all of its processes."""
    return subprocess.Popen([sys.executable, str(LIB / "demo.py"), *arguments], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True, preexec_fn=procs.die_with_parent)


def scene_ends_with_its_object(name):
    options, wanted = SCENES[name]
    named = [] if name == demo.DEFAULT else [name]
    process = begin(*named, "--json", *options)
    out, err = process.communicate(timeout=ENDS_S)
    assert process.returncode == 0, f"exit code {process.returncode}\n{out[-4000:]}\n{err[-4000:]}"
    found = json.loads(out.splitlines()[-1])
    keys = ["ok", *(["scene"] if named else []), *wanted, "violations", "seconds"]
    assert list(found) == keys, f"keys {list(found)}, not {keys}"
    assert (found["ok"], found.get("scene", demo.DEFAULT), found["violations"]) == (True, name, 0), found
    assert found["seconds"] > 0, found
    for key, value in wanted.items():
        assert found[key] == value or (value is None and found[key] > 0), (key, found)
    assert len([line for line in out.splitlines() if line.startswith("{")]) == 1, out


def every_scene_is_tested_and_described():
    assert set(SCENES) == set(demo.scenes()), f"{sorted(demo.scenes())} are there"
    process = begin("--help")
    out, _ = process.communicate(timeout=ENDS_S)
    assert process.returncode == 0 and all(f"\n  {name} " in out for name in SCENES), out


def an_unknown_scene_is_an_error_that_names_those_that_exist():
    process = begin("nothing", "--json")
    out, err = process.communicate(timeout=ENDS_S)
    assert process.returncode == 1 and out == "", (process.returncode, out)
    assert "no scene nothing" in err and all(name in err for name in SCENES), err


def ctrl_c_leaves_nothing_behind():
    process = begin("--stay", "--json")
    lines = []

    def drawn():
        lines.append(process.stdout.readline())
        return "node-state is back" in lines[-1] or not lines[-1]
    wait_for(drawn, "it is in the middle of all scenes", ENDS_S, every=0)
    family = [p for p in procs.family(process.pid) if p.pid != process.pid]
    folders = {pathlib.Path("/tmp", name) for p in family
               for name in re.findall(r"/tmp/((?:muster|kube)-[^/ ]+)", p.command)}
    assert len(family) > 3 and len(folders) == 2 and all(map(pathlib.Path.exists, folders)), (family, folders)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=ENDS_S)
    assert process.returncode == demo.INTERRUPTED, (process.returncode, out[-2000:], err[-2000:])
    assert "interrupted" in err and "Traceback" not in err, err
    wait_for(lambda: not any(alive(p.pid) for p in family), "its processes have ended")
    assert not any(map(pathlib.Path.exists, folders)), folders


def scene_case(name):
    def run():
        scene_ends_with_its_object(name)
    run.__name__ = f"scene_{name}_ends_with_its_object"
    return run


tap.side_by_side(*map(scene_case, SCENES), every_scene_is_tested_and_described,
                 an_unknown_scene_is_an_error_that_names_those_that_exist, ctrl_c_leaves_nothing_behind)
tap.main()
