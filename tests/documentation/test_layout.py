"""The documentation draws the layout of the package as it is on disk."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from tests.documentation.pages import ROOT, blocks

PACKAGE = ROOT / "drf_mcp"


def drawn() -> set[str]:
    """Return the folders, which end with a slash, and the modules in the drawing."""
    drawings = [b.text for b in blocks(ROOT / "ARCHITECTURE.md") if b.text.startswith("drf_mcp/\n")]
    found: set[str] = set()
    parents = [PurePosixPath()]
    for line in drawings[0].splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        names = re.match(r"[\w/.]+(?: \w+\.py)*", line.strip())[0].split()
        for name in names:
            path = parents[depth - 1] / name
            found.add(f"{path}/" if name.endswith("/") else str(path))
        parents[depth:] = [parents[depth - 1] / names[-1]]
    return found


def on_disk() -> set[str]:
    modules = {path.name for path in PACKAGE.glob("*.py")}
    packages = {f"{path.parent.relative_to(PACKAGE)}/" for path in PACKAGE.rglob("*/__init__.py")}
    return modules | packages | {"templates/", "static/"}


def test_the_layout_in_the_documentation_is_that_of_the_package():
    assert drawn() == on_disk()


def test_the_modules_that_the_page_names_are_there():
    named = re.findall(r"`(?:drf_mcp/)?([a-z_/]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text())
    assert named
    assert [name for name in named if not (PACKAGE / name).exists()] == []
