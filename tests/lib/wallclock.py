"""tests/lib/wallclock.py - a wall clock that a test moves, for processes of its own while they run.

    clock = WallClock(folder)
    server.program = clock.script(server.program)   # before it starts: that program has this clock
    clock.give(tree, "kube-watcher", "node-state")  # a musterd, and these of its actors
    clock.move(3600)                                # an hour ahead, for all of them at once

The clock of the machine itself stays: tests/actors/wall_clock.c is preloaded. musterd gives its actors no
such variable, so a script in their place sets it; Landlock would not let them read the library, so `confine`
must be off.
"""
import mmap
import struct

from muster import BIN

LIBRARY = BIN / "libmuster-test-wall-clock.so"


class WallClock:
    def __init__(self, folder):
        assert LIBRARY.exists(), f"{LIBRARY} was not built"
        self.programs = folder / "with-wall-clock"
        self.programs.mkdir()
        self.file = folder / "wall-clock"
        self.file.write_bytes(struct.pack("=q", 0))
        with open(self.file, "r+b") as opened:
            self.ahead = mmap.mmap(opened.fileno(), 8)
        self.environment = {"LD_PRELOAD": str(LIBRARY), "MUSTER_TEST_WALL_CLOCK": str(self.file)}

    def script(self, program):
        """A program that becomes this one, with the clock."""
        variables = " ".join(f"{name}={value}" for name, value in self.environment.items())
        script = self.programs / program.name
        script.write_text(f'#!/bin/sh\n{variables} exec {program} "$@"\n')
        script.chmod(0o755)
        return script

    def give(self, tree, *actors):
        """Before it starts, with `confine: none`: that musterd and these actors get this clock."""
        for actor in actors:
            self.script(BIN / f"muster-{actor}")
        tree.command += ["--libexec-dir", str(self.programs)]
        tree.env.update(self.environment)

    def move(self, seconds):
        """How far it is ahead of the machine's, from now on."""
        self.ahead[:] = struct.pack("=q", seconds)

    def is_in(self, pid):
        """That process has it."""
        with open(f"/proc/{pid}/maps") as maps:
            return any(LIBRARY.name in line for line in maps)
