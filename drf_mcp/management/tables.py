"""Lists of tools for a terminal: as wide as it is, coloured where the style has colours."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from drf_mcp.introspection.locations import place_of
from drf_mcp.tools import Tool

MIN_ARGUMENTS_WIDTH = 20
NONE = "No tools. Register a router in an app's mcp.py, or decorate a view with @mcp_tool."


def table(tools: Mapping[str, Tool], width: int, style: Any) -> Iterator[str]:
    """Yield the lines of the table, none longer than the width where that can be."""
    if not tools:
        yield NONE
        return
    names = max(len(name) for name in tools) + 4
    paths = max(len(request_line(tool)) for tool in tools.values()) + 2
    row = in_one_line if names + paths + MIN_ARGUMENTS_WIDTH <= width else in_lines
    by_view = itertools.groupby(tools.values(), key=lambda tool: tool.endpoint.view_class)
    for view_class, group in by_view:
        yield style.MIGRATE_HEADING(place_of(view_class))
        for tool in group:
            yield from row(tool, names, paths, width, style)
        yield ""
    yield f"{counted(len(tools), 'tool')}. Show one whole: python manage.py mcp_tools NAME"


def in_one_line(tool: Tool, names: int, paths: int, width: int, style: Any) -> Iterator[str]:
    """Yield a tool's name, request and arguments in columns."""
    name, request = f"{tool.name:<{names - 2}}", f"{request_line(tool):<{paths}}"
    arguments = fitted(arguments_of(tool), width - len(name) - len(request) - 2)
    yield f"  {style.MIGRATE_LABEL(name)}{danger(tool, style)(request)}{arguments}".rstrip()


def in_lines(tool: Tool, names: int, paths: int, width: int, style: Any) -> Iterator[str]:
    """Yield a tool's name, request and arguments below each other, for a narrow screen."""
    yield f"  {style.MIGRATE_LABEL(tool.name)}"
    yield f"    {danger(tool, style)(fitted(request_line(tool), width - 4))}"
    arguments = arguments_of(tool)
    if arguments:
        yield f"    {fitted(arguments, width - 4)}"


def danger(tool: Tool, style: Any) -> Callable[[str], str]:
    """Return the colour of what a call may do: read, write or destroy."""
    hints = tool.annotations
    if hints["readOnlyHint"]:
        return style.SUCCESS  # type: ignore[no-any-return]
    return style.ERROR if hints["destructiveHint"] else style.WARNING  # type: ignore[no-any-return]


def request_line(tool: Tool) -> str:
    """Return the method and the path of a tool."""
    return f"{tool.endpoint.method:<7}{tool.endpoint.route.path}"


def arguments_of(tool: Tool) -> str:
    """Return the names of a tool's arguments, the required ones marked with a star.

    What nearly every read takes, ``fields``, is left out.
    """
    schema = tool.input_schema
    required = schema.get("required", ())
    fields = tool.arguments.fields
    names = [n for n in schema.get("properties", {}) if fields is None or n != fields.name]
    return ", ".join(f"{name}*" if name in required else name for name in names)


def fitted(text: str, width: int) -> str:
    """Return text in no more than this many characters, cut at a comma where there is one."""
    if len(text) <= width:
        return text
    head, comma, _ = text[: width - 2].rpartition(",")
    return f"{head}, …" if comma else f"{text[: width - 1]}…"


def wrapped(text: str, width: int, indent: int) -> Iterator[str]:
    """Yield text in lines of this width, each after so many spaces."""
    words, line = text.split(), " " * indent
    for word in words:
        if line.strip() and len(line) + len(word) > width:
            yield line.rstrip()
            line = " " * indent
        line += f"{word} "
    if line.strip():
        yield line.rstrip()


def columns(rows: Iterable[tuple[str, ...]], right: Iterable[int] = ()) -> Iterator[str]:
    """Yield rows in columns as wide as their widest cell, some of them flush right."""
    rows, right = list(rows), set(right)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        cells = (
            f"{cell:>{width}}" if at in right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def counted(number: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
