"""The report of ``mcp_tools risks``: what guards each tool that writes, and what does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from drf_mcp.archives import can_be_asked
from drf_mcp.contrib.operators.permission_trace import lets_all_in
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import Tool
from drf_mcp.features import Safeguard
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.option_types.installed import features

GUARDED, LACKING, NEEDLESS, UNKNOWN = "yes", "no", "not needed", "not known"
MARKS = {GUARDED: "yes", LACKING: "no", NEEDLESS: "-", UNKNOWN: "?"}
# Where names have less room than this, a line names what each tool lacks.
MIN_NAMES_WIDTH = 20


class ToolRisks:
    """What guards one tool that writes.

    Args:
        tool: the tool.
        throttles: the throttles of the endpoint.

    Attributes:
        guards: each guard by its name: "yes", "no", "not needed" or "not known".
        lacking: the names of the guards that the tool needs and lacks.
        grave: what it must not lack: anybody may call, or nothing is asked before a deletion.
    """

    def __init__(self, tool: Tool, throttles: Sequence[Any]) -> None:
        self.tool = tool
        found = [
            Safeguard("permissions", "perms", self._has_permissions(), is_grave=True, order=0),
            Safeguard("throttle", "throttle", self._has_throttle(throttles), order=600),
            *(each for get in features.reviews["get_safeguards"] for each in get(tool)),
        ]
        self.safeguards = sorted(found, key=lambda safeguard: safeguard.order)
        self.guards: dict[str, str] = {}
        for each in self.safeguards:
            lacking = UNKNOWN if each.is_on is None else LACKING if each.is_needed else NEEDLESS
            self.guards[each.name] = GUARDED if each.is_on else lacking
        self.lacking = [name for name, state in self.guards.items() if state == LACKING]
        self.grave = [s.name for s in self.safeguards if s.is_grave and s.name in self.lacking]
        # What guards do with the tool, by their names.
        self.says = {each.name: each.says for each in self.safeguards if each.says}

    @property
    def rank(self) -> tuple[Any, ...]:
        """The key by which tools are sorted, the worst first."""
        grave = [safeguard.name not in self.grave for safeguard in self.safeguards]
        return *grave, -len(self.lacking), self.tool.name

    @cached_property
    def permissions(self) -> Sequence[Any] | None:
        """The view's permissions, None where they cannot be asked for without a caller."""
        return attempt(self.tool.view.get_permissions, None)

    def _has_permissions(self) -> bool | None:
        permissions = self.permissions
        if permissions and not all(map(lets_all_in, permissions)):
            return True
        # A decorator, or a method of the view's own, may ask for something.
        is_stock = type(self.tool.view).check_permissions is APIView.check_permissions
        is_known = is_stock and can_be_asked(self.tool.endpoint)
        return None if permissions is None or not is_known else False

    def _has_throttle(self, throttles: Sequence[Any]) -> bool:
        view, scope = self.tool.view, self.tool.options.throttle_scope
        own: list[Any] = attempt(view.get_throttles, [])
        for throttle, chosen in [*((t, None) for t in own), *((t, scope) for t in throttles)]:
            # REST framework's throttles without a rate or a scope let everything pass.
            if isinstance(throttle, ScopedRateThrottle):
                if chosen or getattr(view, "throttle_scope", None):
                    return True
            elif getattr(throttle, "rate", True):
                return True
        return False

    def as_data(self) -> dict[str, Any]:
        """Return the facts as JSON values."""
        endpoint = self.tool.endpoint
        return {
            "tool": self.tool.name,
            "request": f"{endpoint.method} {endpoint.route.path}",
            "place": endpoint.place,
            "destructive": self.tool.annotations["destructiveHint"],
            "permissions": [type(each).__name__ for each in self.permissions or ()],
            "guards": self.guards,
            "grave": self.grave,
            "says": self.says,
        }

    def list_row(self, widths: Mapping[str, int], width: int, screen: Screen) -> Iterator[str]:
        """Yield the line of a table, after a line of its own for a long name."""
        style, name = screen.style, f"  {self.tool.name}"
        if len(name) > width:
            yield style.MIGRATE_LABEL(name)
            name = ""
        line = style.MIGRATE_LABEL(f"{name:<{width}}")
        for guard, state in self.guards.items():
            is_grave = guard in self.grave
            colour = {GUARDED: style.SUCCESS, NEEDLESS: str}.get(
                state, style.ERROR if is_grave else style.WARNING
            )
            mark = MARKS[state].upper() if is_grave else MARKS[state]
            line += f" {colour(f'{mark:<{widths[guard]}}')}"
        yield line.rstrip()


class RisksReport(ToolReport):
    help = "what guards each tool that writes, and what not"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        throttles = command.endpoint.get_throttles()
        found = (ToolRisks(tool, throttles) for tool in tools.values() if not tool.reads)
        every = sorted(found, key=lambda risks: risks.rank)
        if options["json"]:
            return [command.format_json({"tools": [risks.as_data() for risks in every]})]
        return self.list_lines(every, screen)

    def list_lines(self, every: Sequence[ToolRisks], screen: Screen) -> Iterator[str]:
        """Yield a table, the worst tool first."""
        if not every:
            yield "None of the tools writes."
            return
        headings = {each.name: each.heading for each in every[0].safeguards}
        widths = {name: max(len(heading), 3) for name, heading in headings.items()}
        room = screen.width - sum(width + 1 for width in widths.values())
        width = min(max(len(risks.tool.name) for risks in every) + 2, room)
        is_table = room >= MIN_NAMES_WIDTH
        if is_table:
            cells = "".join(f" {headings[name]:<{widths[name]}}" for name in headings)
            yield screen.style.MIGRATE_HEADING(f"{'':<{width}}{cells}")
        for risks in every:
            if is_table:
                yield from risks.list_row(widths, width, screen)
            else:
                yield risks.tool.name
                names = [n.upper() if n in risks.grave else n for n in risks.lacking]
                yield from screen.wrap(f"lacking: {', '.join(names) or 'none'}", 2)
            for says in risks.says.values():
                yield from screen.wrap(says, 4)
