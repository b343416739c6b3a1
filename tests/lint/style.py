"""tests/lint/style.py - the house style, as far as a machine can judge it.

Spacing is clang-format's; line breaks and alignment are the author's, so that tables stay tables.
With --fix it repairs what cannot change a meaning or a table: blanks, tabs, comments that are too wide.
"""
import difflib
import functools
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
C_SUFFIXES = (".c", ".h", ".cc", ".def")
FREE_WIDTH = (".md", ".yaml", ".yml", ".json", ".txt", ".dict")
# A row of a table may be wider: broken, it would no longer be read by its columns.
WANTED_WIDTH, WIDTH, ROW_WIDTH, LENGTH, TAB = 100, 110, 140, 600, 8

# Rules on one line of C, comments and strings blanked out: (pattern, in tests too, what is wrong).
C_LINES = [
    (r"^\s*//", True, "a // comment: /* */ here"),
    (r"^typedef (?:struct|union)\b[^(]*(?:\{|\b(?!wire_)\w+;)$", True, "a typedef'd struct: use struct NAME"),
    (r"\b(?:strcpy|strcat|v?sprintf|gets|alloca)\(", False, "unbounded: snprintf, or a checked length"),
    (r"\b(?:atoi|atol|atoll|atof|strtok)\(", False, "cannot report an error: strtol, and check the end"),
    (r"(?<![\w.>])(?:system|popen)\(", False, "a shell: fork and exec"),
    (r"(?<![\w.>])assert\(", False, "MUST() instead: it stays on and leaves last words"),
    (r"(?<![\w.>])(?:sleep|usleep|nanosleep)\(", False, "nothing blocks: a wait is a deadline in the loop"),
]
# The head of a definition that has its return type on the same line.
ONE_LINE_HEAD = re.compile(r"^(?:static |inline |const |unsigned |struct |enum )*\w+\s+\**\w+\([^;]*\)$")
# Split, so that the rule does not find itself.
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")


def files():
    """(name, path) of every text file that git tracks or would add."""
    command = "git -c safe.directory=* ls-files -z --cached --others --exclude-standard".split()
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in sorted(set(filter(None, listing.split("\0")))):
        path = ROOT / name
        if path.is_file() and name != "LICENSE" and "corpus" not in path.parts:
            if b"\0" not in path.read_bytes()[:4096]:
                yield name, path


def width(line):
    return len(line.expandtabs(TAB))


def check_text(name, text):
    """What holds for every file."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "trailing space"
        limit = ROW_WIDTH if re.match(r"\t+\{ .* \},$", line) else WIDTH
        if width(line) > limit and not name.endswith(FREE_WIDTH):
            yield number, f"{width(line)} columns: {WANTED_WIDTH} is the aim, {limit} the limit"
        if UNFINISHED.search(line):
            yield number, "unfinished work: finish it, or write an issue"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end of the file"
    if text.endswith("\n\n"):
        yield len(lines) - 1, "blank lines at the end of the file"


def check_c(name, text):
    """What holds for C beyond that."""
    code = without_words(text).split("\n")
    if len(code) - 1 > LENGTH:
        yield LENGTH, f"{len(code) - 1} lines: over {LENGTH}, split it by idea"
    if not re.match(rf"/\*\s*(?:\*\s)?{re.escape(name)} - \S", text):
        yield 1, f"a file opens with /* {name} - its purpose. */"
    if name.endswith(".h") and not re.search(r"^#ifndef MUSTER_\w+_H$", text, re.M):
        yield 1, "no include guard MUSTER_..._H"
    in_tests = name.startswith(("tests/", "bench/"))
    for number, (line, raw) in enumerate(zip(code, text.split("\n")), 1):
        if re.match(r"\t* {8}", raw):
            yield number, "spaces where a tab belongs"
        for pattern, everywhere, wrong in C_LINES:
            if (everywhere or not in_tests) and re.search(pattern, line):
                yield number, wrong
        if ONE_LINE_HEAD.match(line.rstrip()) and code[number:number + 1] == ["{"]:
            yield number, "the return type stands on a line of its own"


def without_words(text):
    """Comments and strings become blanks (line breaks stay), so that rules see only code."""
    pattern = r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def check_spacing(path, text):
    """Blanks between tokens are where clang-format puts them."""
    formatted = subprocess.run(["clang-format", "--style=" + spacing_style(), str(path)], check=True,
                               capture_output=True, text=True).stdout
    ours, wanted = tokens(text), tokens(formatted)
    mine, theirs = [word for word, _ in ours], [word for word, _ in wanted]
    if mine == theirs:
        return
    for tag, a, b, c, d in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            line = ours[min(a, len(ours) - 1)][1]
            yield line, f"spacing: {' '.join(theirs[c:d])}  not  {' '.join(mine[a:b])}"


@functools.cache
def spacing_style():
    """.clang-format without its column limit, so that it leaves most line breaks where they are."""
    rows = (ROOT / ".clang-format").read_text().splitlines()
    rows = [row for row in rows if not row.startswith(("#", "ColumnLimit"))]
    return "{" + ", ".join(rows + ["ColumnLimit: 0"]) + "}"


def tokens(text):
    """(word, line) of the code, without what clang-format 14 misreads: macros, `){`, a cast text."""
    def lines_only(match):
        return "\n" * match[0].count("\n")
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lines_only, text, flags=re.M)
    text = re.sub(r"/\*.*?\*/", lines_only, text, flags=re.S).replace("){", ") {").replace(')"', ') "')
    return [(word, number) for number, line in enumerate(text.split("\n"), 1) for word in line.split()]


def mend(name, text):
    text = "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n") + "\n" if text.strip() else text
    if not name.endswith(C_SUFFIXES):
        return text
    text = re.sub(r"^\t*(?: {8})+", lambda m: "\t" * (width(m[0]) // TAB), text, flags=re.M)
    return re.sub(r"^([ \t]*)/\*((?:(?!\*/).)*)\*/$", reflow, text, flags=re.M | re.S)


def reflow(comment):
    """A comment that is too wide is filled again; indented lines in it (lists, tables) stay as they are."""
    if all(width(line) <= WIDTH for line in comment[0].split("\n")) or "\\\n" in comment[0]:
        return comment[0]
    indent, paragraphs = comment[1], [[]]
    for line in [re.sub(r"^\s*\* ?", "", row).rstrip() for row in comment[2].strip().split("\n")]:
        if as_it_is(line) or line[0] == "-" or not paragraphs[-1] or as_it_is(paragraphs[-1][0]):
            paragraphs.append([line])
        else:
            paragraphs[-1].append(line)
    filled = []
    for paragraph in paragraphs[1:]:
        text = "\n".join(paragraph)
        filled += [text] if as_it_is(text) else textwrap.wrap(text, WANTED_WIDTH - width(indent) - 3)
    rows = [indent + " *" + ("" if line[:1] in ("", "\t") else " ") + line for line in filled]
    return "\n".join([indent + "/*", *rows, indent + " */"])


def break_statements(path, text):
    """Too wide statements are broken by clang-format; tables, macros and lines with a comment are not."""
    wide = [f"--lines={number}:{number}" for number, line in enumerate(text.split("\n"), 1)
            if width(line) > WIDTH and re.match(r"\t*[a-zA-Z_*(!][^\t\\]*$", line) and "/*" not in line]
    if not wide:
        return text
    return subprocess.run(["clang-format", "--style=file", f"--assume-filename={path}", *wide], cwd=ROOT,
                          input=text, check=True, capture_output=True, text=True).stdout


def as_it_is(line):
    return line[:1] in ("", " ", "\t")


def main():
    fixing, complaints, count = "--fix" in sys.argv[1:], 0, 0
    for name, path in files():
        text, is_c = path.read_text(errors="replace"), name.endswith(C_SUFFIXES)
        if fixing:
            mended = break_statements(path, mend(name, text)) if is_c else mend(name, text)
            if mended != text:
                path.write_text(mended)
                print(f"{name}: mended")
            text = mended
        found = [*check_text(name, text)]
        if is_c:
            found += [*check_c(name, text), *check_spacing(path, text)]
        for number, wrong in sorted(set(found)):
            print(f"{name}:{number}: {wrong}")
        complaints += len(set(found))
        count += 1
    print(f"{count} files, {complaints} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
