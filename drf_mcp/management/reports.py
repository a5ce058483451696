"""What ``mcp_tools`` tells beside the table, as lines for a terminal."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.introspection.examples import example_arguments
from drf_mcp.introspection.types import Finding
from drf_mcp.management.tables import NONE, columns, counted, request_line, wrapped
from drf_mcp.operators.client_limits import (
    CHARACTERS_PER_TOKEN,
    CLIENT_LIMITS,
    limits_passed,
)
from drf_mcp.operators.exposure_report import Unexposed
from drf_mcp.operators.lock import Change, definition_of, permissions_of, size_of
from drf_mcp.operators.permission_trace import Explanation
from drf_mcp.tools import Tool

# In a composition of permissions there are several names: OR(a.b.C, d.E).
MODULES = re.compile(r"[\w<>]+\.")
MARKS = {True: "yes", False: "NO", None: "depends"}


def whole(tool: Tool, width: int, style: Any) -> Iterator[str]:
    """Yield the lines that show one tool: where it is, what it says, takes and may do."""
    yield style.MIGRATE_HEADING(f"{tool.name}: {tool.title}")
    yield f"  {request_line(tool)}"
    yield f"  {tool.endpoint.place}"
    permissions = ", ".join(MODULES.sub("", name) for name in permissions_of(tool))
    yield f"  permissions: {permissions or 'none'}"
    size = size_of(tool)
    yield f"  size: {size} bytes, about {tokens(size)} tokens"
    yield ""
    for paragraph in tool.description.split("\n\n"):
        yield from wrapped(paragraph, width, 0)
        yield ""
    yield json.dumps(definition_of(tool)["inputSchema"], indent=2, ensure_ascii=False)
    yield ""
    hints = tool.annotations
    words = ", ".join(f"{name}={str(hints[name]).lower()}" for name in hints if name != "title")
    yield from wrapped(words, width, 0)
    yield ""
    yield style.MIGRATE_LABEL("Example")
    yield f"  {example_call(tool)}"
    for finding in tool.findings:
        yield style.WARNING(f"! {finding.place}: {finding.message} {finding.remedy}")


def example_call(tool: Tool) -> str:
    """Return a command line that calls a tool with values of the right kind."""
    arguments = [f"{name}={written(v)}" for name, v in example_arguments(tool.input_schema).items()]
    return shlex.join(["python", "manage.py", "mcp_call", tool.name, *arguments])


def written(value: Any) -> str:
    """Return a value as ``mcp_call`` reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tokens(size: int) -> int:
    """Return about how many tokens so many bytes are."""
    return round(size / CHARACTERS_PER_TOKEN)


def sizes(tools: Mapping[str, Tool], style: Any) -> Iterator[str]:
    """Yield the size of each tool's definition, of all of them, and what clients make of it."""
    if not tools:
        yield NONE
        return
    by_size = sorted(((size_of(tool), name) for name, tool in tools.items()), reverse=True)
    total = sum(size for size, _ in by_size)
    rows = [(name, str(size), str(tokens(size))) for size, name in by_size]
    head, *lines, foot = columns(
        [
            ("tool", "bytes", "tokens"),
            *rows,
            (f"{len(rows)} tools", str(total), str(tokens(total))),
        ],
        right=(1, 2),
    )
    yield from (style.MIGRATE_HEADING(head), *lines, style.MIGRATE_LABEL(foot), "")
    yield style.MIGRATE_HEADING("Limits of known clients")
    passed = {limit.client: words for limit, words in limits_passed(tools)}
    for limit in CLIENT_LIMITS:
        told = passed.get(limit.client)
        yield style.WARNING(f"  {limit.client}: {told}") if told else f"  {limit.client}: fits"


def warnings(findings: Sequence[Finding], width: int, style: Any) -> Iterator[str]:
    """Yield the findings by place, each with the edit that mends it."""
    if not findings:
        yield "Nothing to mend."
        return
    ordered = sorted(findings, key=lambda finding: finding.place)
    for place, group in itertools.groupby(ordered, key=lambda finding: finding.place):
        yield style.MIGRATE_HEADING(place)
        for finding in group:
            yield from map(style.WARNING, wrapped(finding.message, width, 2))
            yield from wrapped(finding.remedy, width, 4)
    yield ""
    yield f"{counted(len(findings), 'finding')}."


def why(explanation: Explanation, width: int, style: Any) -> Iterator[str]:
    """Yield the verdict on a caller and a tool, then who decided what."""
    colour = {True: style.SUCCESS, False: style.ERROR, None: style.WARNING}
    yield from map(colour[explanation.allows], wrapped(explanation.verdict, width, 0))
    yield ""
    for step in explanation.steps:
        yield f"{colour[step.allows](f'{MARKS[step.allows]:<8}')}{step.kind}: {step.name}"
        needed = f" Needed: {step.needed}." if step.needed else ""
        yield from wrapped(f"{step.says}.{needed}", width, 8)


def left_out(endpoints: Sequence[Unexposed], width: int, style: Any) -> Iterator[str]:
    """Yield the endpoints that are no tools, by the reason why."""
    if not endpoints:
        yield "Every REST framework endpoint is a tool."
        return
    ordered = sorted(endpoints, key=lambda endpoint: endpoint.reason)
    for reason, group in itertools.groupby(ordered, key=lambda endpoint: endpoint.reason):
        yield from map(style.MIGRATE_HEADING, wrapped(reason, width, 0))
        for endpoint in group:
            yield f"  {endpoint.request}"
            yield f"           {endpoint.place}"
        yield ""
    yield f"Not exposed: {counted(len(endpoints), 'endpoint')}."


def differences(changes: Sequence[Change], style: Any) -> Iterator[str]:
    """Yield how the tools differ from the lock file."""
    if not changes:
        yield "The tools are those of the lock file."
        return
    for change in changes:
        yield style.ERROR(f"BREAKING  {change}") if change.breaking else f"note      {change}"
    breaking = sum(change.breaking for change in changes)
    yield ""
    notes = counted(len(changes) - breaking, "note")
    yield f"{counted(breaking, 'breaking change')}, {notes}."
