"""The report of ``mcp_tools risks``: what guards each tool that writes, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from drf_mcp.access.authentication_reuse import is_bare, lets_all_in
from drf_mcp.features import Safeguard
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_list import TOOLS
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.option_types.installed import features
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.local_endpoint import LocalEndpoint

GUARDED, LACKING, NEEDLESS, UNKNOWN = "yes", "no", "not needed", "not known"
MARKS = {GUARDED: gettext_noop("yes"), LACKING: gettext_noop("no"), NEEDLESS: "-", UNKNOWN: "?"}
# Where names have less room than this, a line names what each tool lacks.
MIN_NAMES_WIDTH = 20


@dataclass(frozen=True)
class ToolRisks:
    """What guards one tool.

    Attributes:
        tool: a tool that writes.
        throttles: those of the endpoint.
    """

    tool: Tool
    throttles: Sequence[Any]

    @cached_property
    def safeguards(self) -> Sequence[Safeguard]:
        found = [
            Safeguard("permissions", "perms", self.has_permissions(), is_grave=True, order=0),
            Safeguard("throttle", "throttle", any(self.find_throttles()), order=600),
            *(s for f in features.hooks["get_safeguards"] for s in f.get_safeguards(self.tool)),
        ]
        return sorted(found, key=lambda safeguard: safeguard.order)

    @cached_property
    def guards(self) -> Mapping[str, str]:
        """Each guard by its name: "yes", "no", "not needed" or "not known"."""
        return {each.name: self.judge(each) for each in self.safeguards}

    @property
    def lacking(self) -> list[str]:
        return [name for name, guarded in self.guards.items() if guarded == LACKING]

    @property
    def grave(self) -> list[str]:
        """What must not be lacking: anybody may call, or nothing is asked before a deletion."""
        return [s.name for s in self.safeguards if s.is_grave and self.guards[s.name] == LACKING]

    @property
    def says(self) -> dict[str, str]:
        """What guards do with the tool, by their names."""
        return {each.name: each.says for each in self.safeguards if each.says}

    @property
    def rank(self) -> tuple[Any, ...]:
        """The key by which tools are sorted, the worst first."""
        grave = [safeguard.name not in self.grave for safeguard in self.safeguards]
        return *grave, -len(self.lacking), self.tool.name

    def judge(self, safeguard: Safeguard) -> str:
        if safeguard.is_on is None:
            return UNKNOWN
        return GUARDED if safeguard.is_on else LACKING if safeguard.is_needed else NEEDLESS

    def has_permissions(self) -> bool | None:
        permissions = self.permissions
        if permissions and not all(map(lets_all_in, permissions)):
            return True
        # A decorator, or a method of the view's own, may ask for something.
        is_stock = type(self.tool.view).check_permissions is APIView.check_permissions
        is_known = is_stock and is_bare(self.tool.endpoint.route.callback)
        return None if permissions is None or not is_known else False

    @cached_property
    def permissions(self) -> list[Any] | None:
        """The view's permissions, None where they cannot be asked for without a caller."""
        found: list[Any] | None = self.tool.endpoint.attempt(self.tool.view.get_permissions, None)
        return found

    def find_throttles(self) -> Iterator[Any]:
        view, scope = self.tool.view, self.tool.options.throttle_scope
        own: list[Any] = self.tool.endpoint.attempt(view.get_throttles, [])
        scopes = [(own, None), (self.throttles, scope)]
        for throttles, chosen in scopes:
            for throttle in throttles:
                by_scope = isinstance(throttle, ScopedRateThrottle)
                limit = chosen or getattr(view, "throttle_scope", None) if by_scope else throttle
                # REST framework's throttles without a rate let everything pass.
                if limit and (by_scope or getattr(throttle, "rate", True)):
                    yield throttle

    def as_data(self) -> dict[str, Any]:
        """Return the facts as JSON values."""
        endpoint = self.tool.endpoint
        return {
            "tool": self.tool.name,
            "request": f"{endpoint.method} {endpoint.route.path}",
            "place": endpoint.place,
            "destructive": self.tool.annotations["destructiveHint"],
            "permissions": [type(each).__name__ for each in self.permissions or ()],
            "guards": dict(self.guards),
            "grave": self.grave,
            "says": self.says,
        }


class RiskReport:
    """The tools that write, the least guarded first.

    Args:
        tools: tools by name; those that read are left out.
        endpoint: where they are called.
    """

    def __init__(self, tools: Mapping[str, Tool], endpoint: LocalEndpoint) -> None:
        throttles = endpoint.get_throttles()
        writing = (tool for tool in tools.values() if not tool.reads)
        found = (ToolRisks(tool, throttles) for tool in writing)
        self.risks = sorted(found, key=lambda risks: risks.rank)

    @property
    def sums(self) -> dict[str, int]:
        """How many tools lack each guard."""
        lacking = [name for risks in self.risks for name in risks.lacking]
        return {name: lacking.count(name) for risks in self.risks[:1] for name in risks.guards}

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        tools = [risks.as_data() for risks in self.risks]
        return {"tools": tools, "sums": {"tools": len(tools), "lacking": self.sums}}


class Checklist:
    """The risks as a table on a screen."""

    def __init__(self, risks: RiskReport, screen: Screen) -> None:
        self.risks = risks
        self.screen = screen
        self.style = screen.style

    def list_risks(self) -> Iterator[str]:
        """Yield the table, the worst tool first, and the sums."""
        if not self.risks.risks:
            yield _("None of the tools writes.")
            return
        room = self.screen.width - sum(width + 1 for width in self.widths.values())
        longest = max(len(risks.tool.name) for risks in self.risks.risks) + 2
        if room < MIN_NAMES_WIDTH:
            for risks in self.risks.risks:
                yield from self._list_block(risks)
        else:
            width = min(longest, room)
            headings = "".join(
                f" {self.headings[name]:<{room}}" for name, room in self.widths.items()
            )
            yield self.style.MIGRATE_HEADING(f"{'':<{width}}{headings}")
            for risks in self.risks.risks:
                yield from self._list_row(risks, width)
        yield ""
        yield from self.screen.wrap(self.write_sums())

    @cached_property
    def widths(self) -> Mapping[str, int]:
        """The width of each guard's column, by its name."""
        longest = max(len(_(mark)) for mark in MARKS.values())
        return {name: max(len(heading), longest) for name, heading in self.headings.items()}

    @property
    def headings(self) -> Mapping[str, str]:
        return {safeguard.name: safeguard.heading for safeguard in self.risks.risks[0].safeguards}

    def _list_row(self, risks: ToolRisks, width: int) -> Iterator[str]:
        name = f"  {risks.tool.name}"
        if len(name) > width:
            yield self.style.MIGRATE_LABEL(name)
            name = ""
        grave = risks.grave
        marks = (self._mark(*guard, guard[0] in grave) for guard in risks.guards.items())
        yield f"{self.style.MIGRATE_LABEL(f'{name:<{width}}')}{''.join(marks)}".rstrip()
        for says in risks.says.values():
            yield from self.screen.wrap(says, 4)

    def _mark(self, guard: str, state: str, grave: bool) -> str:
        mark = _(MARKS[state])
        text = f"{mark.upper() if grave else mark:<{self.widths[guard]}}"
        return f" {self._colour(state, grave)(text)}"

    def _colour(self, state: str, grave: bool) -> Callable[[str], str]:
        if state == GUARDED:
            return self.style.SUCCESS  # type: ignore[no-any-return]
        if state == NEEDLESS:
            return str
        return self.style.ERROR if grave else self.style.WARNING  # type: ignore[no-any-return]

    def _list_block(self, risks: ToolRisks) -> Iterator[str]:
        yield self.style.MIGRATE_LABEL(risks.tool.name)
        grave = risks.grave
        lacking = [name.upper() if name in grave else name for name in risks.lacking]
        text = _("lacking: %(guards)s") if lacking else _("lacking: none")
        yield from self.screen.wrap(text % {"guards": ", ".join(lacking)}, 2)
        for says in risks.says.values():
            yield from self.screen.wrap(says, 4)

    def write_sums(self) -> str:
        count = TOOLS % {"count": len(self.risks.risks)}
        sums = [f"{name} {number}" for name, number in self.risks.sums.items() if number]
        text = _("%(tools)s that may write. Lacking: %(guards)s.")
        if not sums:
            text = _("%(tools)s that may write. Lacking: none.")
        return text % {"tools": count, "guards": ", ".join(sums)}


class RisksReport(ToolReport):
    help = "what guards each tool that writes, and what not"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        risks = RiskReport(tools, command.endpoint)
        if options["json"]:
            return [command.format_json(risks.as_data())]
        return Checklist(risks, screen).list_risks()
