"""tests/lib/imageroot.py - musterd as PID 1 of an assembled root, as a container runtime starts it.

    command = imageroot.wrapper(root, [folder]) + ["/usr/local/sbin/musterd", ...]

A PID and a mount namespace of its own; the root is read-only, /dev, /proc, /run and /tmp are the runtime's;
no supplementary group, no new privileges, and the user of the image. The given folders are volumes, at the
same paths. It needs root.
"""
import os
import pathlib
import re
import shutil

import tap

USER = 65532            # as deploy/image/assemble.py has it
SCRIPT = """
set -e
root=$1
shift
mount --bind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
for folder in dev run tmp; do mount -t tmpfs -o mode=0755 "$folder" "$root/$folder"; done
for device in null random urandom; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$1" != -- ]; do
	mkdir -p "$root$1"
	mount --bind "$1" "$root$1"
	shift
done
shift
mount -o remount,ro,bind "$root"
exec setpriv --no-new-privs unshare --root="$root" --setuid %d --setgid %d --wd=/ "$@"
""" % (USER, USER)


def wrapper(root, volumes):
    if os.geteuid() != 0:
        raise tap.Skip("a root of its own, with its own mounts, needs root")
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
            "sh", "-c", SCRIPT, "sh", str(pathlib.Path(root).resolve()), *map(str, volumes), "--"]


def program(root, name):
    """The path of that program inside of the root."""
    found, = [path for path in pathlib.Path(root).rglob(name) if not path.is_symlink() and path.is_file()]
    return f"/{found.relative_to(root)}"


def give(folder):
    """To the user of the image, as fsGroup does with volumes."""
    for path in (folder, *pathlib.Path(folder).rglob("*")):
        shutil.chown(path, USER, USER)


def named(processes, name):
    """Of these processes, the one of that program of muster."""
    one, = [p for p in processes if re.match(rf"(\S*/)?{re.escape(name)}\b(?!-)", p.command)]
    return one.pid
