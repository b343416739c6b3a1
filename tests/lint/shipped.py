"""tests/lint/shipped.py BUILD - what is shipped knows no program, no role and no link of the tests."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_names():
    """The names that only test actors have, as they stand in the tables under tests/actors."""
    names = set()
    for table in ("roles.def", "links.def"):
        text = re.sub(r"/\*.*?\*/", "", (ROOT / "tests/actors" / table).read_text(), flags=re.S)
        names |= set(re.findall(r'"([a-z0-9-]+)"', text))
    return names


def main():
    programs = sorted(p for p in (pathlib.Path(sys.argv[1]) / "bin").glob("*") if p.is_file())
    wrong = [f"{p.name}: a test program in the release build" for p in programs if "test" in p.name]
    for program in programs:
        image = program.read_bytes()
        wrong += [f"{program.name}: knows the test actors' \"{name}\"" for name in sorted(test_names())
                  if b"\0" + name.encode() + b"\0" in image]
    print("".join(f"{line}\n" for line in wrong), end="")
    print(f"{len(programs)} programs: {' '.join(p.name for p in programs) or 'nothing was built'}")
    sys.exit(1 if wrong or not programs else 0)


if __name__ == "__main__":
    main()
