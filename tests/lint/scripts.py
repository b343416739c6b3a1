"""tests/lint/scripts.py - our Python compiles without a warning, needs no package, has no idle import."""
import ast
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = {p.stem for p in (ROOT / "tests/lib").glob("*.py")}


def complaints(tree):
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            for alias in node.names:
                top = (module or alias.name).split(".")[0]
                imported[(alias.asname or alias.name).split(".")[0]] = node.lineno
                if top not in sys.stdlib_module_names and top not in OURS:
                    yield node.lineno, f"imports {top}: tests need nothing but Python itself"
        elif isinstance(node, ast.ExceptHandler) and node.type is None:
            yield node.lineno, "catches everything, Ctrl-C too: name the exception"
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name, line in imported.items():
        if name not in used:
            yield line, f"imports {name} and does not use it"
    if not ast.get_docstring(tree):
        yield 1, "a script opens with a docstring: what it is for"


def main():
    warnings.simplefilter("error")
    count = wrong = 0
    for path in sorted(p for top in ("tests", "bench") for p in (ROOT / top).rglob("*.py")):
        name, count = path.relative_to(ROOT), count + 1
        try:
            found = list(complaints(ast.parse(path.read_text(), str(name))))
            compile(path.read_text(), str(name), "exec")
        except (SyntaxError, SyntaxWarning) as error:
            found = [(getattr(error, "lineno", 0), str(error))]
        for line, text in sorted(found):
            print(f"{name}:{line}: {text}")
        wrong += len(found)
    print(f"{count} scripts, {wrong} complaints")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
