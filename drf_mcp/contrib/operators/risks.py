"""The report of ``mcp_tools risks``: what guards each tool that writes, and what does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from django.core.checks import CheckMessage, Warning
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from drf_mcp.archives import can_be_asked
from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.operators.permission_trace import lets_all_in
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import Tool
from drf_mcp.features import Safeguard
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.option_types.installed import features

GUARDED, LACKING, NEEDLESS, UNKNOWN = "yes", "no", "not needed", "not known"
# The order of throttles, and the most tools that a check names.
LIMITS, MOST = 600, 30
MARKS = {GUARDED: "yes", LACKING: "no", NEEDLESS: "-", UNKNOWN: "?"}


class ToolRisks:
    """What guards one tool that writes.

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
    def is_guarded(self) -> bool:
        """Whether an app comes between a call and its change, and permissions are asked."""
        # Throttles and the audit change nothing about a single call.
        around = [each for each in self.safeguards if 0 < each.order < LIMITS]
        return any(each.is_on for each in around) and not self.grave

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

    @property
    def marks(self) -> list[str]:
        """The marks of a table, in capitals where the guard must not be lacking."""
        marks = {guard: MARKS[state] for guard, state in self.guards.items()}
        return [mark.upper() if name in self.grave else mark for name, mark in marks.items()]


@register_check(deploy=True)
def check_writes(project: Project) -> Iterator[CheckMessage]:
    throttles = project.endpoints[0].view.get_throttles() if project.endpoints else ()
    own = [t for t in project.tools.values() if not t.reads and not t.endpoint.is_built_in]
    writing = own if project.endpoints else []
    # Rules are in a table, which W015 and `migrate` speak of.
    found = attempt(lambda: [ToolRisks(tool, throttles) for tool in writing], [])
    bare = sorted((each for each in found if not each.is_guarded), key=lambda each: each.rank)
    if bare:
        rows = [f"  {each.tool.name}: lacks {', '.join(each.lacking)}" for each in bare[:MOST]]
        more = [f"  and {len(bare) - MOST} more"] if len(bare) > MOST else []
        yield Warning(
            "\n".join(["An agent alone may change data with these tools:", *rows, *more]),
            hint="Let a person confirm or approve such calls, or leave the tools out. "
            "`manage.py mcp_tools risks` shows all. See docs/agents_alone.md.",
            id="drf_mcp.W041",
        )


class RisksReport(ToolReport):
    help = "what guards each tool that writes, and what not"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        throttles = command.endpoint.make_server().get_throttles()
        found = (ToolRisks(tool, throttles) for tool in tools.values() if not tool.reads)
        every = sorted(found, key=lambda risks: risks.rank)
        if options["json"]:
            return [command.format_json({"tools": [risks.as_data() for risks in every]})]
        return self._list_lines(every, screen)

    def _list_lines(self, every: Sequence[ToolRisks], screen: Screen) -> Iterator[str]:
        """Yield a table, the worst tool first."""
        if not every:
            yield "None of the tools writes."
            return
        headings = ["tool", *(each.heading for each in every[0].safeguards)]
        rows = [[risks.tool.name, *risks.marks] for risks in every]
        yield from screen.list_table(headings, rows)
        for risks in every:
            for says in risks.says.values():
                yield from screen.wrap(f"{risks.tool.name}: {says}")
