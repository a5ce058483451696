from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext_lazy

from drf_mcp.contrib.operators.costs import ToolCost
from drf_mcp.contrib.operators.example_call import ExampleCall
from drf_mcp.contrib.operators.exposure_report import Unexposed
from drf_mcp.contrib.operators.lock import CHOSEN_BY_VIEW, Change, ToolSurface
from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.introspection.locations import locate_view
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool
from drf_mcp.tools.endpoints import Endpoint

MIN_REQUEST_WIDTH = 24
MIN_ARGUMENTS_WIDTH = 20
COMMAND = "python manage.py mcp_tools"
# In a composition of permissions there are several names: OR(a.b.C, d.E).
MODULES = re.compile(r"[\w<>]+\.")
MARKS = {True: gettext_noop("yes"), False: gettext_noop("NO"), None: gettext_noop("depends")}
COUNTS = {
    "tool": ngettext_lazy("%(count)d tool", "%(count)d tools", "count"),
    "place": ngettext_lazy("%(count)d place", "%(count)d places", "count"),
    "cause": ngettext_lazy("%(count)d cause", "%(count)d causes", "count"),
    "endpoint": ngettext_lazy("%(count)d endpoint", "%(count)d endpoints", "count"),
    "view": ngettext_lazy("%(count)d view", "%(count)d views", "count"),
    "breaking change": ngettext_lazy(
        "%(count)d breaking change", "%(count)d breaking changes", "count"
    ),
    "note": ngettext_lazy("%(count)d note", "%(count)d notes", "count"),
}


class Report:
    """The reports of ``mcp_tools``, as lines for a terminal of a width in a style of Django's."""

    def __init__(self, width: int, style: Any) -> None:
        self.width = width
        self.style = style

    def group(self, number: int) -> str:
        """Return a number with the separators of its reader's language."""
        return number_format(number, force_grouping=True)

    def list_tools(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        # Columns of all views, or of each view where a long name or path leaves too little room.
        names, requests = self.measure(tools.values())
        common = names + requests + MIN_ARGUMENTS_WIDTH <= self.width
        for place, group in groupby(
            tools.values(), key=lambda t: locate_view(t.endpoint.view_class)
        ):
            yield self.style.MIGRATE_HEADING(place)
            listed = list(group)
            widths = (names, requests) if common else self.measure(listed)
            for tool in listed:
                yield from self.get_row(tool, *widths)
            yield ""
        facts = {"tools": self.count(len(tools), "tool"), "command": f"{COMMAND} NAME"}
        yield _("%(tools)s. Show one whole: %(command)s") % facts

    def measure(self, tools: Iterable[Tool]) -> tuple[int, int]:
        widths = [(len(tool.name) + 4, len(self.get_request_line(tool)) + 2) for tool in tools]
        names, requests = (max(column) for column in zip(*widths, strict=True))
        return names, requests

    def show_exposing(self, endpoints: Sequence[Endpoint]) -> Iterator[str]:
        views = list(dict.fromkeys(endpoint.view_class for endpoint in endpoints))
        if not views:
            yield _("No tools: the URLconf has no REST framework endpoints.")
            yield from self.wrap(_("Add a router's urls or a view to the urlpatterns first."))
            return
        counts = {
            "endpoints": self.count(len(endpoints), "endpoint"),
            "views": self.count(len(views), "view"),
        }
        found = _("No tools yet. The URLconf has REST framework's %(endpoints)s of %(views)s.")
        yield found % counts
        if mcp_settings.EXPOSE == "urlconf":
            yield _("INCLUDE, EXCLUDE or EXPOSURE_CLASS in DRF_MCP leaves all of them out.")
        else:
            yield from self.show_ways(views[0])
        yield ""
        each = _("Each of them, and why it is not a tool: %(command)s")
        yield each % {"command": f"{COMMAND} --unexposed"}

    def show_ways(self, view_class: type) -> Iterator[str]:
        module, _dot, name = locate_view(view_class).rpartition(".")
        yield ""
        yield self.style.MIGRATE_HEADING(_("Expose all of them, in the settings"))
        yield '  DRF_MCP = {"EXPOSE": "urlconf"}'
        yield ""
        yield self.style.MIGRATE_HEADING(_("Or choose views, in the file mcp.py of an app"))
        yield "  from drf_mcp import registry"
        yield f"  from {module} import {name}"
        yield ""
        yield f"  registry.register({name})"

    def get_row(self, tool: Tool, names: int, requests: int) -> Iterator[str]:
        # A long path gives way to the arguments, and these to a long name.
        room = max(self.width - names - MIN_ARGUMENTS_WIDTH, MIN_REQUEST_WIDTH)
        requests = min(requests, room)
        if names + requests > self.width:
            yield from self.get_block(tool)
            return
        request = self.get_request_line(tool, requests - 2)
        name, request = f"{tool.name:<{names - 2}}", f"{request:<{requests}}"
        room = self.width - len(name + request) - 2
        arguments = self.fit(self.list_arguments(tool), room) if room > 0 else ""
        coloured = self.style.MIGRATE_LABEL(name) + self.get_colour(tool)(request)
        yield f"  {coloured}{arguments}".rstrip()

    def get_block(self, tool: Tool) -> Iterator[str]:
        width = self.width - 4
        yield f"  {self.style.MIGRATE_LABEL(tool.name)}"
        yield f"    {self.get_colour(tool)(self.get_request_line(tool, width))}"
        arguments = self.list_arguments(tool)
        if arguments:
            yield f"    {self.fit(arguments, width)}"

    def get_colour(self, tool: Tool) -> Callable[[str], str]:
        hints = tool.annotations
        if hints["readOnlyHint"]:
            return self.style.SUCCESS  # type: ignore[no-any-return]
        return self.style.ERROR if hints["destructiveHint"] else self.style.WARNING  # type: ignore[no-any-return]

    def get_request_line(self, tool: Tool, width: int = 1000) -> str:
        path = tool.endpoint.route.path
        room = width - 7
        # The end of a path tells the tools of an API apart, mostly from a slash on.
        if len(path) > room:
            end = path[len(path) - room + 1 :]
            path = f"…{end[max(end[:-1].find('/'), 0) :]}"
        return f"{tool.endpoint.method:<7}{path}"

    def list_arguments(self, tool: Tool) -> str:
        schema, fields = tool.input_schema, tool.arguments.fields
        # Nearly every tool that reads takes `fields`.
        names = [n for n in schema.get("properties", {}) if fields is None or n != fields.name]
        required = schema.get("required", ())
        return ", ".join(f"{name}*" if name in required else name for name in names)

    def show_tool(self, tool: Tool, example: ExampleCall) -> Iterator[str]:
        cost = ToolCost(tool)
        yield self.style.MIGRATE_HEADING(f"{tool.name}: {tool.title}")
        yield f"  {self.get_request_line(tool)}"
        yield f"  {tool.endpoint.place}"
        yield f"  {self.get_permissions(tool)}"
        facts = {"bytes": cost.bytes, "tokens": cost.tokens}
        yield "  " + _("size: %(bytes)d bytes, about %(tokens)d tokens") % facts
        yield ""
        for paragraph in tool.description.split("\n\n"):
            yield from self.wrap(paragraph)
            yield ""
        yield json.dumps(cost.definition["inputSchema"], indent=2, ensure_ascii=False)
        yield ""
        hints = tool.annotations
        yield from self.wrap(", ".join(f"{name}={str(on).lower()}" for name, on in hints.items()))
        yield ""
        read_only = tool.annotations["readOnlyHint"]
        heading = _("Example") if read_only else _("Example, which changes data")
        yield self.style.MIGRATE_LABEL(heading)
        yield f"  {example.command}"
        for finding in tool.findings:
            yield self.style.WARNING(f"! {finding.place}: {finding.message} {finding.remedy}")

    def get_permissions(self, tool: Tool) -> str:
        permissions = ToolSurface(tool).get_permissions()
        names = (_(p) if p == CHOSEN_BY_VIEW else MODULES.sub("", p) for p in permissions)
        text = _("permissions: %(names)s") if permissions else _("permissions: none")
        return text % {"names": ", ".join(names)}

    def show_trace(self, trace: PermissionTrace) -> Iterator[str]:
        colours = {True: self.style.SUCCESS, False: self.style.ERROR, None: self.style.WARNING}
        yield from map(colours[trace.allows], self.wrap(trace.verdict))
        yield ""
        marks = {allows: _(mark) for allows, mark in MARKS.items()}
        width = max(map(len, marks.values())) + 1
        for step in trace.steps:
            mark = colours[step.allows](f"{marks[step.allows]:<{width}}")
            yield f"{mark}{step.label}: {step.name}"
            yield from self.wrap(f"{step.says}. {step.need}", width)

    def list_unexposed(self, endpoints: Sequence[Unexposed]) -> Iterator[str]:
        if not endpoints:
            yield _("Every REST framework endpoint is a tool.")
            return
        ordered = sorted(endpoints, key=lambda endpoint: endpoint.reason)
        for reason, group in groupby(ordered, key=lambda endpoint: endpoint.reason):
            yield from map(self.style.MIGRATE_HEADING, self.wrap(reason))
            for endpoint in group:
                yield f"  {endpoint.request}"
                yield f"           {endpoint.place}"
            yield ""
        counts = {"endpoints": self.count(len(endpoints), "endpoint")}
        yield _("Not exposed: %(endpoints)s.") % counts

    def list_changes(self, changes: Sequence[Change]) -> Iterator[str]:
        if not changes:
            yield _("The tools are the same as in the lock file.")
            return
        breaking, note = _("BREAKING"), _("note")
        width = max(len(breaking), len(note)) + 2
        for change in changes:
            line = f"{breaking if change.breaking else note:<{width}}{change}"
            yield self.style.ERROR(line) if change.breaking else line
        count = sum(change.breaking for change in changes)
        yield ""
        notes = self.count(len(changes) - count, "note")
        yield f"{self.count(count, 'breaking change')}, {notes}."

    def fit(self, text: str, width: int) -> str:
        # Cut at a comma where there is one.
        if len(text) <= width:
            return text
        if width < 2:
            return ""
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

    def count(self, number: int, noun: str) -> str:
        """Return a number of something, where the noun is one of `COUNTS`."""
        return COUNTS[noun] % {"count": number}
