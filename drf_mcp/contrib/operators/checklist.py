"""The report of ``mcp_tools --risks``: the tools that write, and what guards each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.operators.risks import (
    GUARDED,
    GUARDS,
    LACKING,
    NEEDLESS,
    UNKNOWN,
    RiskReport,
    ToolRisks,
)
from drf_mcp.management.reports import Report

MARKS = {GUARDED: gettext_noop("yes"), LACKING: gettext_noop("no"), NEEDLESS: "-", UNKNOWN: "?"}
# Beside names that have less room than this, what is lacking is told in words.
MIN_NAMES_WIDTH = 20


class Checklist:
    """The risks as lines, in a report's width and style."""

    def __init__(self, risks: RiskReport, report: Report) -> None:
        self.risks = risks
        self.report = report
        self.style = report.style

    def list_risks(self) -> Iterator[str]:
        """Yield the table, the worst tool first, and the sums."""
        if not self.risks.risks:
            yield _("None of the tools writes.")
            return
        room = self.report.width - sum(width + 1 for width in self.widths.values())
        longest = max(len(risks.tool.name) for risks in self.risks.risks) + 2
        if room < MIN_NAMES_WIDTH:
            for risks in self.risks.risks:
                yield from self.get_block(risks)
        else:
            width = min(longest, room)
            headings = "".join(f" {GUARDS[name]:<{room}}" for name, room in self.widths.items())
            yield self.style.MIGRATE_HEADING(f"{'':<{width}}{headings}")
            for risks in self.risks.risks:
                yield from self.get_row(risks, width)
        yield ""
        yield from self.report.wrap(self.get_sums())

    @cached_property
    def widths(self) -> Mapping[str, int]:
        """The width of each guard's column, by its name."""
        longest = max(len(_(mark)) for mark in MARKS.values())
        return {name: max(len(heading), longest) for name, heading in GUARDS.items()}

    def get_row(self, risks: ToolRisks, width: int) -> Iterator[str]:
        name = f"  {risks.tool.name}"
        if len(name) > width:
            yield self.style.MIGRATE_LABEL(name)
            name = ""
        grave = risks.grave
        marks = (self.get_mark(*guard, guard[0] in grave) for guard in risks.guards.items())
        yield f"{self.style.MIGRATE_LABEL(f'{name:<{width}}')}{''.join(marks)}".rstrip()

    def get_mark(self, guard: str, state: str, grave: bool) -> str:
        mark = _(MARKS[state])
        text = f"{mark.upper() if grave else mark:<{self.widths[guard]}}"
        return f" {self.get_colour(state, grave)(text)}"

    def get_colour(self, state: str, grave: bool) -> Callable[[str], str]:
        if state == GUARDED:
            return self.style.SUCCESS  # type: ignore[no-any-return]
        if state == NEEDLESS:
            return str
        return self.style.ERROR if grave else self.style.WARNING  # type: ignore[no-any-return]

    def get_block(self, risks: ToolRisks) -> Iterator[str]:
        yield self.style.MIGRATE_LABEL(risks.tool.name)
        grave = risks.grave
        lacking = [name.upper() if name in grave else name for name in risks.lacking]
        text = _("lacking: %(guards)s") if lacking else _("lacking: none")
        yield from self.report.wrap(text % {"guards": ", ".join(lacking)}, 2)

    def get_sums(self) -> str:
        count = self.report.count(len(self.risks.risks), "tool")
        sums = [f"{name} {number}" for name, number in self.risks.sums.items() if number]
        text = _("%(tools)s that may write. Lacking: %(guards)s.")
        if not sums:
            text = _("%(tools)s that may write. Lacking: none.")
        return text % {"tools": count, "guards": ", ".join(sums)}
