"""tests/bus/test_manual.py - the manual pages and the completion that the build writes (issue 17.4).

muster-test: parallel
"""
import re
import subprocess

import muster
import tap

MANUAL = str(muster.BIN / "muster-manual")


def written(name):
    return subprocess.run([MANUAL, name], check=True, text=True, capture_output=True).stdout


def printed(program, *arguments):
    return subprocess.run([str(muster.BIN / program), *arguments], check=True, text=True,
                          capture_output=True).stdout


def options_of(text):
    """The options of a help text: what stands at the begin of its lines."""
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.M))


def completed(*words):
    """What bash offers for the last of these words."""
    script = ('source /dev/stdin; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              'COMPREPLY=(); "_$1"; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-uc", script, "bash", *words], input=written("muster.bash"),
                          check=True, text=True, capture_output=True)
    assert done.stderr == "", done.stderr
    return done.stdout.split()


@tap.case
def each_command_and_option_is_on_its_page():
    page = written("muster.1").replace("\\-", "-")
    commands = re.findall(r"^  ([a-z]+) ", printed("muster", "help").split("commands:")[1].split("\n\n")[0],
                          re.M)
    assert len(commands) >= 10, commands
    for command in commands:
        section = page.split(f'.SS "{command}"')[1].split(".SS")[0]
        missing = options_of(printed("muster", "help", command)) - {"--run-dir"} - set(
            re.findall(r"--[a-z-]+", section))
        assert not missing, (command, missing)
    page = written("musterd.8").replace("\\-", "-")
    assert not options_of(printed("musterd", "--help")) - {"--help"} - set(re.findall(r"--[a-z-]+", page))


@tap.case
def each_setting_is_on_its_page():
    page = written("muster.yaml.5").replace("\\-", "-")
    defaults = printed("muster", "check", "--print-defaults")
    settings = set(re.findall(r"^ +([a-z-]+):", defaults, re.M))
    assert len(settings) > 50, settings
    assert not {s for s in settings if f"\\fB{s}\\fR" not in page and f'.SH "{s}"' not in page}


@tap.case
def no_line_of_a_page_is_taken_for_a_request():
    for name in ("muster.1", "musterd.8", "muster.yaml.5"):
        for line in written(name).splitlines():
            assert not re.match(r"[.'](?!(TH|SH|SS|TP|PP|B|BR|I|RI|nf|fi)\b)", line), (name, line)


@tap.case
def bash_completes_commands_options_and_words():
    assert {"status", "tap", "explain"} <= set(completed("muster", ""))
    assert completed("muster", "st") == ["status"]
    assert completed("muster", "status", "-o", "") == ["text", "json"]
    assert "--watch" in completed("muster", "status", "-")
    assert {"metrics", "musterd", "all"} <= set(completed("muster", "level", ""))
    assert completed("muster", "level", "metrics", "d") == ["debug"]
    assert {"node/", "nodeclaim/", "vpsienode/"} <= set(completed("muster", "explain", ""))
    assert completed("muster", "trace", "nodec") == ["nodeclaim/"]
    assert completed("musterd", "--log-f") == ["--log-format"]
    assert completed("musterd", "--log-format", "") == ["json", "console"]


@tap.case
def an_unknown_page_is_refused():
    done = subprocess.run([MANUAL, "muster.9"], text=True, capture_output=True)
    assert done.returncode == 2 and "muster.yaml.5" in done.stderr, done


tap.main()
