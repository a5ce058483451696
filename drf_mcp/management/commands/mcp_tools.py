"""``manage.py mcp_tools``: what agents can do."""

from __future__ import annotations

import itertools
import json
import shutil
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from drf_mcp.encoding import encode_data
from drf_mcp.exceptions import UnknownTool
from drf_mcp.listing import output_schema
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool, registry

USAGE = 2
MIN_ARGUMENTS_WIDTH = 20


class Command(BaseCommand):
    """Lists the tools by view, or shows one tool whole."""

    help = "List the tools that agents can call."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", nargs="?", help="show this tool whole")
        parser.add_argument("--json", action="store_true", help="print definitions as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the tools."""
        tools = registry.tools()
        if options["name"]:
            tools = {options["name"]: self.tool(options["name"])}
        if options["json"]:
            definitions = [definition_of(tool) for tool in tools.values()]
            self.stdout.write(json.dumps(definitions, indent=2, ensure_ascii=False))
        elif options["name"]:
            self.stdout.write("\n".join(whole(tools[options["name"]])))
        else:
            self.stdout.write("\n".join(table(tools, shutil.get_terminal_size().columns)))

    def tool(self, name: str) -> Tool:
        """Return the tool of that name."""
        try:
            return registry.tool(name)
        except UnknownTool as exc:
            raise CommandError(exc.message, returncode=USAGE) from exc


def definition_of(tool: Tool) -> dict[str, Any]:
    """Return a tool's definition as clients of the current revision see it."""
    envelope_class = tool.options.envelope_class or mcp_settings.ENVELOPE_CLASS
    definition: dict[str, Any] = json.loads(
        encode_data(tool.definition(output_schema(envelope_class)))
    )
    return definition


def table(tools: Mapping[str, Tool], width: int) -> Iterator[str]:
    """Yield the lines of the table, none longer than the width where that can be."""
    if not tools:
        yield "No tools. Register a router in an app's mcp.py, or decorate a view with @mcp_tool."
        return
    names = max(len(name) for name in tools) + 4
    paths = max(len(request_line(tool)) for tool in tools.values()) + 2
    row = in_one_line if names + paths + MIN_ARGUMENTS_WIDTH <= width else in_lines
    by_view = itertools.groupby(tools.values(), key=lambda tool: tool.endpoint.view_class)
    for view_class, group in by_view:
        yield f"{view_class.__module__}.{view_class.__qualname__}"
        for tool in group:
            yield from row(tool, names, paths, width)
        yield ""
    yield f"{len(tools)} tools. Show one whole: manage.py mcp_tools NAME"


def in_one_line(tool: Tool, names: int, paths: int, width: int) -> Iterator[str]:
    """Yield a tool's name, request and arguments in columns."""
    line = f"  {tool.name:<{names - 2}}{request_line(tool):<{paths}}"
    yield (line + fitted(arguments_of(tool), width - len(line))).rstrip()


def in_lines(tool: Tool, names: int, paths: int, width: int) -> Iterator[str]:
    """Yield a tool's name, request and arguments below each other, for a narrow screen."""
    yield f"  {tool.name}"
    for text in (request_line(tool), arguments_of(tool)):
        if text:
            yield f"    {fitted(text, width - 4)}"


def request_line(tool: Tool) -> str:
    """Return the method and the path of a tool."""
    return f"{tool.endpoint.method:<7}{tool.endpoint.route.path}"


def arguments_of(tool: Tool) -> str:
    """Return the names of a tool's arguments, the required ones marked with a star."""
    schema = tool.input_schema
    required = schema.get("required", ())
    return ", ".join(f"{name}*" if name in required else name for name in schema["properties"])


def fitted(text: str, width: int) -> str:
    """Return text in no more than this many characters, cut at a comma where there is one."""
    if len(text) <= width:
        return text
    head, comma, _ = text[: width - 2].rpartition(",")
    return f"{head}, …" if comma else f"{text[: width - 1]}…"


def whole(tool: Tool) -> Iterator[str]:
    """Yield the lines that show one tool: where it is, what it says, what it takes."""
    yield f"{tool.name}: {tool.title}"
    yield f"  {request_line(tool)}"
    yield f"  {tool.endpoint.place}"
    yield ""
    yield tool.description
    yield ""
    yield json.dumps(definition_of(tool)["inputSchema"], indent=2, ensure_ascii=False)
    yield ""
    hints = tool.annotations
    yield ", ".join(f"{name}={str(hints[name]).lower()}" for name in hints if name != "title")
    for finding in tool.findings:
        yield f"! {finding.place}: {finding.message} {finding.remedy}"
