"""The pages of the settings and of the options of tools: what their sources say of them."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from docs.reference_pages.apps import features_of_apps
from docs.reference_pages.markdown import code, items, page
from drf_mcp import settings
from drf_mcp.routes.options import ToolOptions

DOCS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Setting:
    """One key of SETTINGS and the comment on it."""

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
DOCUMENT = re.compile(r"(?:See )?docs/(?P<file>\w+\.md)")
# A comment that names its document in a sentence of its own.
OWN_DOCUMENT = re.compile(r"\s*See docs/(?P<file>\w+\.md)\.")


def settings_of_apps(name: str) -> Iterator[tuple[str, Setting]]:
    """Yield each app with each of its settings, or of its options of that kind."""
    modules = {(app, feature.__module__): None for app, feature in features_of_apps()}
    for app, module in modules:
        source = Path(inspect.getfile(import_module(module)))
        for setting in settings_of_module(source, name):
            yield app, setting


def settings_of_module(path: Path, name: str, group: str = "") -> Iterator[Setting]:
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


def settings_page() -> str:
    """Return the page of the settings."""
    parts, table_of = [SETTINGS_HEAD], dict(settings.SETTINGS)
    for _, feature in features_of_apps():
        table_of |= feature.settings

    def describe(own: Iterable[Setting]) -> str:
        said = {f'"{s.name}": {default_of(table_of[s.name])}': s.comment for s in own}
        return "\n".join(describe_setting(*each) for each in said.items())

    core = Path(inspect.getfile(settings))
    for group, own in groupby(settings_of_module(core, "SETTINGS"), lambda each: each.group):
        parts += [f"## {group}", describe(own)]
    parts += ["## Apps", APPS]
    for app, found in groupby(settings_of_apps("settings"), lambda pair: pair[0]):
        parts += [f"### {code(app)}", describe(setting for _, setting in found)]
    return page("Settings", *parts)


def tool_options_page() -> str:
    """Return the page of the options of tools, and of the attributes that apps add to endpoints."""
    parts = [OPTIONS_HEAD, items(attributes(ToolOptions))]
    for name, heading in OF_APPS.items():
        parts.append(f"## {heading}")
        for app, found in groupby(settings_of_apps(name), lambda pair: pair[0]):
            own = "\n".join(describe_setting(s.name, s.comment) for _, s in found)
            # The page is in a folder of its own.
            parts += [f"Of {code(app)}:", own.replace("](", "](../")]
    return page("Options of tools", *parts)


def describe_setting(name: str, comment: str) -> str:
    """Return the item of a setting, whose name leads to its document."""
    document = OWN_DOCUMENT.search(comment)
    named = code(name) if document is None else f"[{code(name)}]({document['file']})"
    return f"- {named}: {as_markdown(OWN_DOCUMENT.sub('', comment))}"


def default_of(known: Any) -> str:
    """Return the default as people write it."""
    return repr(known.default).replace("'", '"')


APPS = "These are in apps of `drf_mcp.contrib`."
OF_APPS = {"tool_options": "Options of apps", "view_attributes": "Attributes of `MCPView` of apps"}


def attributes(documented: type) -> dict[str, str]:
    """Return what a docstring says of each attribute."""
    section = inspect.cleandoc(documented.__doc__ or "").split("Attributes:\n")[1]
    found = re.findall(r"^ {4}(\w+): ((?:.+\n?)(?: {8}.+\n?)*)", section, re.M)
    options = ((name, " ".join(text.split()).replace("``", "`")) for name, text in found)
    return {name: write_option(text) for name, text in options if name != "features"}


def write_option(text: str) -> str:
    text = re.sub(CONSTANT, lambda match: code(match[0]), text)
    return text[:1].upper() + text[1:] if text.split()[0].isalpha() else text


# Names of settings in the docstrings of options.
CONSTANT = re.compile(r"(?<![`:\w])(?:[A-Z]+_[A-Z_]+|INCLUDE|EXCLUDE|PORTABLE)\b")
OPTIONS_HEAD = """\
`@mcp_tool` sets options of one tool, `@mcp_viewset` and `registry.register` of every tool of a
view, `MCPView.as_view(tool_options={...})` of every tool of an endpoint. The last does not take the
options that decide what is a tool: `name`, `condition`, `many`, `aggregate`. The most specific
place [wins](../exposing.md#options)."""
SETTINGS_HEAD = """\
All settings are in one dict, `DRF_MCP`. [Which of this do I need](which.md) names the ten that
matter. `manage.py check` names wrong keys and values. Each setting is listed with its default.

```python
# settings.py
DRF_MCP = {
    "SERVER_NAME": "shop",
    "INSTRUCTIONS": "Customers, orders and tickets of a shop. Ask before refunding.",
}
```"""
