"""The page of the settings: what the sources of them and their comments say."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps

from docs.reference_pages.markdown import code, page, paragraph
from drf_mcp import settings
from drf_mcp.option_types.installed import features

DOCS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Setting:
    """One key of SETTINGS as its source tells of it."""

    group: str
    name: str
    comment: str


GROUP = re.compile(r"-{3} (?P<name>.+?) -{3,}")
# What a comment means as code: objects, strings, constants, and names that are no words.
CODE = re.compile(
    r"""(?<![\w/.])(?: \{"\w+":.*\} | "[^"]*" | (?:None|True|False)\b
    | [A-Z]+(?:_[A-Z]+)+\b | (?:DEBUG|CACHES|EXPOSE|INCLUDE|EXCLUDE|PORTABLE)\b
    | (?:drf_mcp|rest_framework)(?:\.\w+)+ | [a-z]+(?:_[a-z]+)+\b | CacheArchive\b
    | tools/list\b)""",
    re.X,
)
DOCUMENT = re.compile(r"docs/(?P<file>\w+\.md)")


def settings_in_source() -> Iterator[Setting]:
    """Yield what the sources say of each setting: of the core first, then of the apps."""
    core = Path(inspect.getfile(settings))
    yield from settings_of_module(core, "SETTINGS", "")
    for app in apps.get_app_configs():
        paths = getattr(app, "mcp_features", ())
        for module in sorted({path.rpartition(".")[0] for path in paths}):
            source = Path(inspect.getfile(import_module(module)))
            yield from settings_of_module(source, "settings", f"With `{app.name}`")


def options_in_source() -> Iterator[Setting]:
    """Yield what the apps' sources say of each option of tools, and attribute of endpoints."""
    for app in apps.get_app_configs():
        paths = getattr(app, "mcp_features", ())
        for module in sorted({path.rpartition(".")[0] for path in paths}):
            source = Path(inspect.getfile(import_module(module)))
            for name, words in OPTIONS.items():
                yield from settings_of_module(source, name, f"{words} with `{app.name}`")


def settings_of_module(path: Path, name: str, group: str) -> Iterator[Setting]:
    """Yield the settings of the dict of that name in a module, with the comments before each."""
    comments = comments_by_line(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(
            node.value, ast.Dict
        ):
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if ast.unparse(target) != name:
            continue
        line = node.value.lineno + 1
        for key, value in zip(node.value.keys, node.value.values, strict=True):
            assert isinstance(key, ast.Constant)
            assert value.end_lineno
            said = [comments[number] for number in range(line, key.lineno)]
            line = value.end_lineno + 1
            heading = GROUP.fullmatch(said[0]) if said else None
            if heading:
                group, said = heading["name"], said[1:]
            yield Setting(group, key.value, " ".join(said))


def comments_by_line(path: Path) -> Mapping[int, str]:
    """Return the comments of a source file by the numbers of their lines."""
    with path.open("rb") as file:
        return {
            token.start[0]: token.string.lstrip("# ")
            for token in tokenize.tokenize(file.readline)
            if token.type == tokenize.COMMENT
        }


def as_markdown(comment: str) -> str:
    """Return a comment with its names as code and its documents as links."""
    marked = CODE.sub(lambda match: code(match[0]), comment)
    return DOCUMENT.sub(lambda match: f"[{title_of(match['file'])}]({match['file']})", marked)


def title_of(file: str) -> str:
    """Return the title of a page."""
    titles = re.findall(r"^# (.+)$", (DOCS / file).read_text(), re.M)
    return str(titles[0])


OPTIONS = {"tool_options": "Options of tools", "view_attributes": "Attributes of `MCPView`"}


def default_of(default: object) -> str:
    """Return the default as people write it."""
    return code(repr(default).replace("'", '"'))


def settings_page() -> str:
    """Return the page of the settings."""
    table = settings.mcp_settings.table
    parts = [SETTINGS_HEAD, *describe(settings_in_source(), lambda setting: table[setting.name])]
    brought = {"Options": features.tool_options, "Attributes": features.view_attributes}
    options = describe(options_in_source(), lambda o: brought[o.group.split()[0]][o.name])
    return page("Settings", *parts, *options)


def describe(found: Iterable[Setting], look_up: Callable[[Setting], Any]) -> Iterator[str]:
    group = ""
    for setting in found:
        if setting.group != group:
            group = setting.group
            yield f"## {group}"
        known = look_up(setting)
        accepted = known.kind.accepted.replace("'", '"')
        yield f"### `{setting.name}`\n\nDefault: {default_of(known.default)}"
        yield paragraph(f"Takes: {as_markdown(accepted)}.")
        yield paragraph(as_markdown(setting.comment))


SETTINGS_HEAD = """\
One dict in the project's settings. A key that does not exist is an error that names the nearest
one that does. So is a value that the setting does not take; `manage.py check` names all of them.
A dotted path is imported when it is first used. What is not given has its default.

```python
# settings.py
DRF_MCP = {
    "SERVER_NAME": "shop",
    "INSTRUCTIONS": "Customers, orders and tickets of a shop. Ask before refunding.",
}
```"""
