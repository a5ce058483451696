"""The pages of the settings and of the options of tools: what their sources say of them."""

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

from docs.reference_pages.markdown import code, page, paragraph, table
from drf_mcp import settings
from drf_mcp.option_types.installed import features
from drf_mcp.tools.options import ToolOptions

DOCS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Setting:
    """One key of SETTINGS as its source tells of it."""

    group: str
    name: str
    comment: str


GROUP = re.compile(r"-{3} (?P<name>.+?) -{3,}")
# What a comment means as code: what is marked as code, objects, strings, constants, names.
CODE = re.compile(
    r"""(?<![\w/.])(?: (?P<marked>`[^`]+`) | \{"\w+":.*\} | "[^"]*" | (?:None|True|False)\b
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
    marked = CODE.sub(lambda match: match["marked"] or code(match[0]), comment)
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
    known = settings.mcp_settings.table
    parts = [SETTINGS_HEAD, *describe(settings_in_source(), lambda setting: known[setting.name])]
    return page("Settings", *parts)


def tool_options_page() -> str:
    """Return the page of the options of tools, and of the attributes that apps add to endpoints."""
    documented = attributes(ToolOptions)
    rows = [[code(name), said] for name, said in documented.items() if name != "features"]
    brought = {"Options": features.tool_options, "Attributes": features.view_attributes}
    options = describe(options_in_source(), lambda o: brought[o.group.split()[0]][o.name])
    # The page is in a folder of its own.
    linked = (part.replace("](", "](../") for part in options)
    return page("Options of tools", OPTIONS_HEAD, table(["Option", "Meaning"], rows), *linked)


def attributes(documented: type) -> dict[str, str]:
    """Return what a docstring says of each attribute."""
    section = inspect.cleandoc(documented.__doc__ or "").split("Attributes:\n")[1]
    found = re.findall(r"^ {4}(\w+): ((?:.+\n?)(?: {8}.+\n?)*)", section, re.M)
    return {name: as_sentence(text) for name, text in found}


def as_sentence(text: str) -> str:
    """Return a text of a docstring in Markdown, with a capital."""
    plain = " ".join(text.split()).replace("``", "`").removesuffix(".")
    marked = re.sub(CONSTANT, lambda match: code(match[0]), plain)
    return marked[:1].upper() + marked[1:] if marked.split()[0].isalpha() else marked


def describe(found: Iterable[Setting], look_up: Callable[[Setting], Any]) -> Iterator[str]:
    group = ""
    for setting in found:
        if setting.group != group:
            group = setting.group
            yield f"## {group}"
        known = look_up(setting)
        yield f"### `{setting.name}`\n\n{default_and_values(known)}"
        yield paragraph(as_markdown(setting.comment))


def default_and_values(known: Any) -> str:
    """Return the default of a setting, and what it takes where the default does not show it."""
    accepted = known.kind.accepted.replace("'", '"')
    if known.default is None:
        accepted = accepted.removesuffix(", or None")
    if "a pattern such as" in accepted:
        return f"Default: {default_of(known.default)}. Takes: [patterns](exposing.md#patterns)."
    default = f"Default: {default_of(known.default)}"
    if accepted.startswith("a subclass of") or accepted == "True or False":
        return default
    shown = as_markdown(accepted.replace("a whole number of ", ""))
    return paragraph(f"{default}. Takes: {shown}.")


# Names of settings in the docstrings of options.
CONSTANT = re.compile(r"(?<![`:\w])(?:[A-Z]+_[A-Z_]+|INCLUDE|EXCLUDE|PORTABLE)\b")
OPTIONS_HEAD = """\
Every option of a tool. `@mcp_tool` sets options of one tool, `@mcp_viewset` and
`registry.register` of every tool of a view, `MCPView.as_view(tool_options={...})` of every tool of
an endpoint. The last does not take the options that decide what is a tool: `name`, `condition`,
`many`, `aggregate`. The most specific place wins. An option of an app that is not installed is an
error that names the app. [Expose endpoints](../exposing.md#options) groups options by purpose."""
SETTINGS_HEAD = """\
All settings are in one dict, `DRF_MCP`. [Which of this do I need](which.md) names the ten that
matter. A key that does not exist, or a wrong value, is an error that says what would be right;
`manage.py check` finds all such errors.

```python
# settings.py
DRF_MCP = {
    "SERVER_NAME": "shop",
    "INSTRUCTIONS": "Customers, orders and tickets of a shop. Ask before refunding.",
}
```"""
