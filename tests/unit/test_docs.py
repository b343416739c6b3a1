"""tests/unit/test_docs.py - every link of a document has its file, and the README leads to each page."""
import pathlib
import re

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Paths in backquotes that name one file of the tree.
NAMED = re.compile(r"`((?:actors|base|bench|cli|config|deploy|docs|include|kube|proto|server|sim|supervisor"
                   r"|tests)/[A-Za-z0-9_/@.-]+\.[a-z]+)`")


def links(page):
    """The targets inside the tree, as paths."""
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if "://" not in target and not target.startswith("#"):
            yield target, (page.parent / target.partition("#")[0]).resolve()


@tap.case
def every_link_has_a_file():
    broken = [f"{page.relative_to(ROOT)}: {target}" for page in PAGES for target, path in links(page)
              if not path.exists()]
    assert not broken, broken


@tap.case
def every_file_that_is_named_is_there():
    """From the root of the tree, or in the page of muster-sim from its folder; NAME stands for any."""
    missing = [f"{page.relative_to(ROOT)}: {name}" for page in PAGES
               for name in NAMED.findall(CODE.sub("", page.read_text()))
               if "NAME" not in name and not (ROOT / name).exists() and not (ROOT / "sim" / name).exists()]
    assert not missing, missing


@tap.case
def the_readme_leads_to_every_page():
    linked = {path for page in PAGES for _, path in links(page) if page.name == "README.md"}
    lost = [page.name for page in PAGES[1:] if page not in linked]
    assert not lost, lost


@tap.case
def sections_that_links_name_exist():
    wrong = []
    for page in PAGES:
        for target, path in links(page):
            anchor = target.partition("#")[2]
            if anchor and path.exists():
                heads = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
                names = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
                wrong += [f"{page.name}: {target}"] * (anchor not in names)
    assert not wrong, wrong


tap.main()
