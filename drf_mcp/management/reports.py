from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from drf_mcp.introspection.examples import make_example_arguments
from drf_mcp.introspection.locations import locate_view
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.operators.client_limits import CHARACTERS_PER_TOKEN, CLIENT_LIMITS
from drf_mcp.operators.exposure_report import Unexposed
from drf_mcp.operators.lock import Change, ToolSurface
from drf_mcp.operators.permission_trace import PermissionTrace
from drf_mcp.tools import Tool

MIN_ARGUMENTS_WIDTH = 20
NO_TOOLS = "No tools. Register a router in an app's mcp.py, or decorate a view with @mcp_tool."
# In a composition of permissions there are several names: OR(a.b.C, d.E).
MODULES = re.compile(r"[\w<>]+\.")
MARKS = {True: "yes", False: "NO", None: "depends"}


class Report:
    """The reports of ``mcp_tools``, as lines for a terminal of a width in a style of Django's."""

    def __init__(self, width: int, style: Any) -> None:
        self.width = width
        self.style = style

    def list_tools(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        if not tools:
            yield NO_TOOLS
            return
        names = max(len(name) for name in tools) + 4
        paths = max(len(self.get_request_line(tool)) for tool in tools.values()) + 2
        fits = names + paths + MIN_ARGUMENTS_WIDTH <= self.width
        for view_class, group in groupby(tools.values(), key=lambda t: t.endpoint.view_class):
            yield self.style.MIGRATE_HEADING(locate_view(view_class))
            for tool in group:
                yield from self.get_row(tool, names, paths) if fits else self.get_block(tool)
            yield ""
        count = self.count(len(tools), "tool")
        yield f"{count}. Show one whole: python manage.py mcp_tools NAME"

    def get_row(self, tool: Tool, names: int, paths: int) -> Iterator[str]:
        name, request = f"{tool.name:<{names - 2}}", f"{self.get_request_line(tool):<{paths}}"
        arguments = self.fit(self.list_arguments(tool), self.width - len(name + request) - 2)
        coloured = self.style.MIGRATE_LABEL(name) + self.get_colour(tool)(request)
        yield f"  {coloured}{arguments}".rstrip()

    def get_block(self, tool: Tool) -> Iterator[str]:
        width = self.width - 4
        yield f"  {self.style.MIGRATE_LABEL(tool.name)}"
        yield f"    {self.get_colour(tool)(self.fit(self.get_request_line(tool), width))}"
        arguments = self.list_arguments(tool)
        if arguments:
            yield f"    {self.fit(arguments, width)}"

    def get_colour(self, tool: Tool) -> Callable[[str], str]:
        hints = tool.annotations
        if hints["readOnlyHint"]:
            return self.style.SUCCESS  # type: ignore[no-any-return]
        return self.style.ERROR if hints["destructiveHint"] else self.style.WARNING  # type: ignore[no-any-return]

    def get_request_line(self, tool: Tool) -> str:
        return f"{tool.endpoint.method:<7}{tool.endpoint.route.path}"

    def list_arguments(self, tool: Tool) -> str:
        schema, fields = tool.input_schema, tool.arguments.fields
        # Nearly every tool that reads takes `fields`.
        names = [n for n in schema.get("properties", {}) if fields is None or n != fields.name]
        required = schema.get("required", ())
        return ", ".join(f"{name}*" if name in required else name for name in names)

    def show_tool(self, tool: Tool) -> Iterator[str]:
        surface = ToolSurface(tool)
        permissions = ", ".join(MODULES.sub("", name) for name in surface.get_permissions())
        size = surface.get_size()
        yield self.style.MIGRATE_HEADING(f"{tool.name}: {tool.title}")
        yield f"  {self.get_request_line(tool)}"
        yield f"  {tool.endpoint.place}"
        yield f"  permissions: {permissions or 'none'}"
        yield f"  size: {size} bytes, about {self.estimate_tokens(size)} tokens"
        yield ""
        for paragraph in tool.description.split("\n\n"):
            yield from self.wrap(paragraph)
            yield ""
        yield json.dumps(surface.get_definition()["inputSchema"], indent=2, ensure_ascii=False)
        yield ""
        hints = {name: on for name, on in tool.annotations.items() if name != "title"}
        yield from self.wrap(", ".join(f"{name}={str(on).lower()}" for name, on in hints.items()))
        yield ""
        yield self.style.MIGRATE_LABEL("Example")
        yield f"  {self.get_example_call(tool)}"
        for finding in tool.findings:
            yield self.style.WARNING(f"! {finding.place}: {finding.message} {finding.remedy}")

    def get_example_call(self, tool: Tool) -> str:
        arguments = [
            f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            for name, value in make_example_arguments(tool.input_schema).items()
        ]
        return shlex.join(["python", "manage.py", "mcp_call", tool.name, *arguments])

    def estimate_tokens(self, size: int) -> int:
        return round(size / CHARACTERS_PER_TOKEN)

    def list_sizes(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        if not tools:
            yield NO_TOOLS
            return
        sizes = {name: ToolSurface(tool).get_size() for name, tool in tools.items()}
        rows = sorted(sizes.items(), key=lambda item: (item[1], item[0]), reverse=True)
        rows.append((f"{len(rows)} tools", sum(sizes.values())))
        cells = [(name, str(size), str(self.estimate_tokens(size))) for name, size in rows]
        head, *lines, foot = self.align([("tool", "bytes", "tokens"), *cells])
        yield from (self.style.MIGRATE_HEADING(head), *lines, self.style.MIGRATE_LABEL(foot), "")
        yield self.style.MIGRATE_HEADING("Limits of known clients")
        for limit in CLIENT_LIMITS:
            excesses = list(limit.find_excesses(tools))
            line = f"  {limit.client}: {excesses[-1] if excesses else 'fits'}"
            yield self.style.WARNING(line) if excesses else line

    def list_findings(self, findings: Sequence[Finding]) -> Iterator[str]:
        if not findings:
            yield "Nothing to mend."
            return
        ordered = sorted(findings, key=lambda finding: finding.place)
        for place, group in groupby(ordered, key=lambda finding: finding.place):
            yield self.style.MIGRATE_HEADING(place)
            for finding in group:
                yield from map(self.style.WARNING, self.wrap(finding.message, 2))
                yield from self.wrap(finding.remedy, 4)
        yield ""
        yield f"{self.count(len(findings), 'finding')}."

    def show_trace(self, trace: PermissionTrace) -> Iterator[str]:
        colours = {True: self.style.SUCCESS, False: self.style.ERROR, None: self.style.WARNING}
        yield from map(colours[trace.allows], self.wrap(trace.verdict))
        yield ""
        for step in trace.steps:
            yield f"{colours[step.allows](f'{MARKS[step.allows]:<8}')}{step.kind}: {step.name}"
            needed = f" Needed: {step.needed}." if step.needed else ""
            yield from self.wrap(f"{step.says}.{needed}", 8)

    def list_unexposed(self, endpoints: Sequence[Unexposed]) -> Iterator[str]:
        if not endpoints:
            yield "Every REST framework endpoint is a tool."
            return
        ordered = sorted(endpoints, key=lambda endpoint: endpoint.reason)
        for reason, group in groupby(ordered, key=lambda endpoint: endpoint.reason):
            yield from map(self.style.MIGRATE_HEADING, self.wrap(reason))
            for endpoint in group:
                yield f"  {endpoint.request}"
                yield f"           {endpoint.place}"
            yield ""
        yield f"Not exposed: {self.count(len(endpoints), 'endpoint')}."

    def list_changes(self, changes: Sequence[Change]) -> Iterator[str]:
        if not changes:
            yield "The tools are those of the lock file."
            return
        for change in changes:
            breaking = change.breaking
            yield self.style.ERROR(f"BREAKING  {change}") if breaking else f"note      {change}"
        count = sum(change.breaking for change in changes)
        yield ""
        notes = self.count(len(changes) - count, "note")
        yield f"{self.count(count, 'breaking change')}, {notes}."

    def fit(self, text: str, width: int) -> str:
        # Cut at a comma where there is one.
        if len(text) <= width:
            return text
        head, comma, _ = text[: width - 2].rpartition(",")
        return f"{head}, …" if comma else f"{text[: width - 1]}…"

    def wrap(self, text: str, indent: int = 0) -> Iterator[str]:
        # Not textwrap: the parts of a path or of a dotted name stay together.
        line = " " * indent
        for word in text.split():
            if line.strip() and len(line) + len(word) > self.width:
                yield line.rstrip()
                line = " " * indent
            line += f"{word} "
        if line.strip():
            yield line.rstrip()

    def align(self, rows: Iterable[Sequence[str]]) -> Iterator[str]:
        rows = list(rows)
        name_width, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for name, *numbers in rows:
            cells = (f"{cell:>{width}}" for cell, width in zip(numbers, widths, strict=True))
            yield "  ".join([f"{name:<{name_width}}", *cells]).rstrip()

    def count(self, number: int, noun: str) -> str:
        return f"{number} {noun}{'' if number == 1 else 's'}"
