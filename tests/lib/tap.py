"""tests/lib/tap.py - a test script is a list of functions, each of them one line of TAP.

    import tap

    @tap.case
    def a_killed_actor_comes_back(): ...

    tap.main()

Without arguments every case runs; arguments choose those whose name contains one of them.
"""
import concurrent.futures
import sys
import time
import traceback

_cases = []


class Skip(Exception):
    """Raised by a case that cannot run here; its text is the reason. A failure when CI=true."""


def case(function):
    """Adds a case. Its name is the function's, with spaces."""
    _cases.append((function.__name__.replace("_", " "), function))
    return function


def side_by_side(*functions):
    """Cases that spend their time waiting: the first one that runs starts all of them, in threads."""
    begun = {}

    def case_of(function):
        def its_end():
            if not begun:
                pool = concurrent.futures.ThreadPoolExecutor(len(functions))
                begun.update({each: pool.submit(each) for each in functions})
            begun[function].result()
        its_end.__name__ = function.__name__
        return its_end
    for function in functions:
        case(case_of(function))


def note(text):
    """Prints text as TAP comments, so that no line of it can be taken for a result."""
    for line in str(text).rstrip("\n").split("\n"):
        print(f"# {line}", flush=True)


def main(arguments=None):
    wanted = sys.argv[1:] if arguments is None else arguments
    chosen = [c for c in _cases if not wanted or any(w.replace("_", " ") in c[0] for w in wanted)]
    if not chosen:
        sys.exit("no case of that name; there are:\n" + "\n".join(f"  {name}" for name, _ in _cases))
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, (name, function) in enumerate(chosen, 1):
        verdict = _run(name, function, number)
        failed += verdict.startswith("not ok")
        print(verdict, flush=True)
    sys.exit(1 if failed else 0)


def _run(name, function, number):
    started = time.monotonic()
    try:
        function()
    except Skip as reason:
        return f"ok {number} - {name} # SKIP {reason}"
    except Exception:
        note(traceback.format_exc())
        return f"not ok {number} - {name}"
    note(f"{time.monotonic() - started:.1f} s")
    return f"ok {number} - {name}"
