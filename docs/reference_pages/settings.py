"""The page of the settings: what the source of SETTINGS and its comments say."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docs.reference_pages.markdown import code, page, paragraph
from drf_mcp import settings

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
    """Yield what `drf_mcp.settings` says of each key of SETTINGS, in its order."""
    path = Path(inspect.getfile(settings))
    source = path.read_text()
    comments = comments_by_line(path)
    defaults = next(
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "SETTINGS"
    )
    assert isinstance(defaults, ast.Dict)
    group, line = "", defaults.lineno + 1
    for key, value in zip(defaults.keys, defaults.values, strict=True):
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


def default_of(setting: Setting) -> str:
    """Return the default as people write it."""
    return code(repr(settings.DEFAULTS[setting.name]).replace("'", '"'))


def settings_page() -> str:
    """Return the page of the settings."""
    parts, group = [SETTINGS_HEAD], ""
    for setting in settings_in_source():
        if setting.group != group:
            group = setting.group
            parts.append(f"## {group}")
        accepted = settings.SETTINGS[setting.name].kind.accepted.replace("'", '"')
        parts.append(f"### `{setting.name}`\n\nDefault: {default_of(setting)}")
        parts.append(paragraph(f"Takes: {as_markdown(accepted)}."))
        parts.append(paragraph(as_markdown(setting.comment)))
    return page("Settings", *parts)


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
