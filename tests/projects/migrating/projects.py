"""The projects that moved to drf_mcp: their tools before the move, and the changed files."""

from __future__ import annotations

import difflib
import importlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.documentation.pages import DOCS

FOLDER = Path(__file__).parent
PAGE = DOCS / "migrating.md"
HEADINGS = {
    "django_drf_mcp": "django-drf-mcp",
    "django_mcp_server": "django-mcp-server",
    "django_rest_framework_mcp": "django-rest-framework-mcp",
    "fastmcp_openapi": "FastMCP's from_openapi",
}
# The file whose changes the documentation shows.
SHOWN = ("settings.py",)
ROW = re.compile(
    r"^\| `(\w+)` \| (?:`(\w+)`|(none)[^|]*) \| (?:`(\w+) (\S+)`)? ?\| (.*?) ?\|$", re.M
)


@dataclass(frozen=True)
class Move:
    """A row of ``moves.md``, a project's table of tools.

    Attributes:
        before: the tool of the other package.
        after: the tool of drf_mcp, or None if the row says that there is none.
        renamed: names of arguments before and after, or None if the argument is not taken.
    """

    before: str
    after: str | None
    method: str
    path: str
    renamed: dict[str, str | None]

    def translate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call before the move under their names after it."""
        translated: dict[str, Any] = {}
        for path, value in find_leaves(arguments):
            *groups, name = (self.renamed.get(path, path) or "").split(".")
            place = translated
            for group in groups:
                place = place.setdefault(group, {})
            if name:
                place[name] = value
        return translated


def find_leaves(value: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted paths and values of all members that are no groups."""
    for name, member in value.items():
        if isinstance(member, dict):
            yield from find_leaves(member, f"{path}{name}.")
        else:
            yield f"{path}{name}", member


@dataclass(frozen=True)
class Project:
    """A folder with ``before`` and ``after``; the documentation has a section about its move."""

    name: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def section(self) -> str:
        """The text of the documentation below the heading of the package."""
        after = PAGE.read_text().split(f"\n## {HEADINGS[self.name]}\n")[1]
        return after.split("\n## ")[0]

    @cached_property
    def recorded(self) -> dict[str, Any]:
        recorded: dict[str, Any] = json.loads((self.folder / "tools.json").read_text())
        return recorded

    @property
    def moves(self) -> list[Move]:
        return [
            Move(before, after or None, method, path, self.renamed(renaming))
            for before, after, _, method, path, renaming in ROW.findall(
                (self.folder / "moves.md").read_text()
            )
        ]

    @staticmethod
    def renamed(renaming: str) -> dict[str, str | None]:
        pairs = re.findall(r"`([\w.]+)` is (?:`([\w.]+)`|not taken)", renaming)
        return {before: after or None for before, after in pairs}

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(f"tests.projects.migrating.{self.name}.{name}")

    def diff(self, names: Iterable[str] = ()) -> Iterator[str]:
        """Yield the lines of a unified diff of these files, or of all, without line numbers."""
        found = {path.name for path in self.folder.glob("*/*.py")} - {"__init__.py"}
        for name in sorted(names or found):
            old, new = self.lines("before", name), self.lines("after", name)
            changes = [*difflib.unified_diff(old, new, name, name, lineterm="", n=1)]
            yield from (f"--- {name}" if line.startswith("--- ") else line for line in changes[:1])
            yield from ("@@" if line.startswith("@@") else line.rstrip() for line in changes[2:])

    def lines(self, side: str, name: str) -> list[str]:
        file = self.folder / side / name
        # In a real project the package of the URLconf does not change.
        text = file.read_text() if file.exists() else ""
        return re.sub(
            r"tests\.projects\.migrating\.\w+\.(?:before|after)", "project", text
        ).splitlines()


PROJECTS = [Project(path.parent.name) for path in sorted(FOLDER.glob("*/tools.json"))]
