"""tests/unit/test_suites.py - the test runner itself: which programs it skips (issue 10.14).

A tool that ./dev fetched to build/tools is on the PATH of the tests, so a test that needs it must run.
"""
import os
import pathlib
import tempfile

import suites
import tap

OPTIONS = type("Options", (), {"seed": None, "seconds": 1, "seconds_given": False, "timeout": 60})


class Checkout:
    """A temporary tree that suites.py takes for the project's, with one test program that needs `tool`."""

    def __init__(self, needs="fetched-tool"):
        self.needs, self.kept = needs, suites.ROOT

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="muster-suites-")
        self.folder = suites.ROOT = pathlib.Path(self.temporary.name)
        source = self.folder / "tests/bus/test_it.py"
        source.parent.mkdir(parents=True)
        # In two pieces: suites.py reads the head of this file, too.
        source.write_text('"""muster-' f'test: needs={self.needs}\n"""\n'
                          'import shutil\nassert shutil.which("fetched-tool")\n')
        self.program = suites.Program("bus", source)
        return self

    def __exit__(self, *_):
        suites.ROOT = self.kept
        self.temporary.cleanup()

    def fetch(self, name="fetched-tool"):
        tool = self.folder / "build/tools" / name
        tool.parent.mkdir(parents=True, exist_ok=True)
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)

    def run(self):
        return suites.run(self.program, "debug", OPTIONS, False)


@tap.case
def a_test_whose_tool_was_fetched_to_build_tools_runs():
    with Checkout() as checkout:
        checkout.fetch()
        result = checkout.run()
        assert not result.skips, result.skips
        assert not result.failures and result.passed == 1, result.failures


@tap.case
def a_test_whose_tool_is_nowhere_is_skipped_and_the_tool_is_named():
    with Checkout() as checkout:
        result = checkout.run()
        assert result.skips == ["test_it needs fetched-tool"] and not result.passed, result.skips


@tap.case
def every_tool_of_a_list_must_be_there():
    with Checkout("fetched-tool, other-tool") as checkout:
        checkout.fetch()
        assert checkout.program.missing_tool() == "other-tool"
        checkout.fetch("other-tool")
        assert checkout.program.missing_tool() is None


@tap.case
def the_decision_and_the_tests_have_the_same_path():
    assert suites.environment("debug", OPTIONS)["PATH"] == suites.tool_path()
    assert str(suites.ROOT / "build/tools") in suites.tool_path().split(os.pathsep)


if __name__ == "__main__":
    tap.main()
