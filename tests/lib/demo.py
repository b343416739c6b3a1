"""tests/lib/demo.py - ./dev demo [SCENE]: what the scenes have in common.

How to add a scene: the file demo_NAME.py beside this one is `./dev demo NAME`. It has

    ABOUT = "A NodeGroup goes 0 -> 5 -> 2."         # one sentence for --help

    def play(demo):
        demo.figures.update(nodes=0, failed=0)      # keys of the object of --json, in this order
        demo.headline("musterd starts ...")
        with SimServer(...) as server, Tree(server) as tree:    # contexts: nothing is left however it ends
            while not done:
                demo.figures["nodes"] = ...
                for text in violated_rules(): demo.violation(text)      # each text counts once
                demo.draw(rows, line)               # rows in place on a terminal, else a line every 2 s
            demo.stay("KUBECONFIG=... kubectl get nodes")       # only with --stay; until Ctrl-C
        demo.summary("- what was shown")

and, if it has options of its own, add_options(parser). A scene waits for progress with a generous deadline,
never for the clock, and raises (wait_for does) when it does not come. Then, and after a violation, `ok` is
false and the exit code 1. tests/sim/test_demo.py has a row for each scene.

The object of --json is the last line: ok, scene (not in the default scene, whose object has its own form),
the figures, violations, seconds (those of --stay left out), and error if it failed. Ctrl-C and SIGTERM end
the scene, its contexts end the processes, the exit code is 130.
"""
import argparse
import importlib
import json
import pathlib
import signal
import sys
import time

from demoview import View

DEFAULT = "fleet"
INTERRUPTED = 130


class Demo:
    """What a scene has in its hands."""

    def __init__(self, name, asked):
        self.name, self.asked = name, asked
        self.view = View()
        self.figures, self.violations = {}, {}
        self.began, self.ended = time.monotonic(), None

    def seconds(self):
        return (self.ended or time.monotonic()) - self.began

    # -- output

    def headline(self, text):
        self.view.headline(text)

    def report(self, text):
        self.view.report(text)

    def draw(self, rows, line, last=False):
        self.view.draw(rows, line, last)

    def show(self, tree, *arguments, most=None):
        """The output of the command `muster` on that musterd, if it has any."""
        lines = tree.cli(*arguments).stdout.splitlines()
        if lines:
            print("\n".join([f"$ muster {' '.join(arguments)}", *lines[:most]]), flush=True)

    def summary(self, *lines):
        self.headline("summary")
        print("\n".join(lines), flush=True)

    # -- what the scene found

    def violation(self, text):
        """A rule of the contract does not hold now."""
        if text not in self.violations:
            self.violations[text] = self.seconds()
            self.report(f"VIOLATION {text}")

    def check(self, fact, text):
        if not fact:
            self.violation(text)

    # -- its end

    def stay(self, *lines):
        """With --stay: everything runs on until Ctrl-C."""
        self.ended = self.ended or time.monotonic()
        if not self.asked.stay:
            return
        self.headline("it stays up until you press Ctrl-C")
        print("\n".join(lines), flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print()

    def end(self, error=None):
        """The exit code. error: what made the scene fail."""
        self.ended = self.ended or time.monotonic()
        ok = not self.violations and error is None
        for text in self.violations:
            print(f"violation: {text}", file=sys.stderr)
        if error is not None:
            print(f"demo {self.name}: {error}", file=sys.stderr, flush=True)
        if self.asked.json:
            found = {"ok": ok, **({} if self.name == DEFAULT else {"scene": self.name}), **self.figures}
            found["violations"] = len(self.violations)
            found["seconds"] = round(self.seconds(), 1)
            if error is not None:
                found["error"] = str(error)
            print(json.dumps(found, separators=(",", ":")), flush=True)
        return 0 if ok else 1


def scenes():
    """name -> file"""
    files = pathlib.Path(__file__).parent.glob("demo_*.py")
    return {file.stem.removeprefix("demo_"): file for file in sorted(files)}


def parse(arguments):
    """The scene, its module and its options. An unknown scene is an error that names those that exist."""
    named = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if named is not None and named not in scenes():
        sys.exit(f"demo: no scene {named}; there are: {', '.join(scenes())}")
    modules = {name: importlib.import_module(f"demo_{name}") for name in ([named] if named else scenes())}
    about = "\n".join(f"  {name:<12}{module.ABOUT}" for name, module in modules.items())
    name = named or DEFAULT
    parser = argparse.ArgumentParser(
        prog=f"./dev demo{' ' + named if named else ''}",
        usage=None if named else "./dev demo [SCENE] [--json] [--stay] ...",
        description=f"{'' if named else f'Without a scene: {DEFAULT}, which has all. '}Scenes:\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="the last line is a JSON object with the outcome")
    parser.add_argument("--stay", action="store_true", help="leave it running, and print how to inspect it")
    if hasattr(modules[name], "add_options"):
        modules[name].add_options(parser)
    return name, modules[name], parser.parse_args(arguments[1:] if named else arguments)


def interrupt(_number, _frame):
    """Once: a second Ctrl-C would interrupt the contexts while they end the processes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    name, scene, asked = parse(sys.argv[1:])
    demo = Demo(name, asked)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        scene.play(demo)
    except KeyboardInterrupt:
        print(f"\ndemo {name}: interrupted; nothing of it runs any more", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        return demo.end(error)
    return demo.end()


if __name__ == "__main__":
    sys.exit(main())
