"""The report of ``mcp_tools findings``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from drf_mcp.contrib.operators.lint import CAUSES, Cause, LintFinding, find_all
from drf_mcp.errors import join_names
from drf_mcp.exposure import Tool
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ToolReport

# How many places of a remedy, and names of tools, the report shows; --json has all.
MAX_ROWS, MAX_NAMES = 8, 2


class FindingsReport(ToolReport):
    help = "findings by root cause, with their remedies"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        findings = find_all(tools)
        if options["json"]:
            return [command.format_json({"findings": [each.as_data() for each in findings]})]
        return self.list_lines(findings, screen)

    def list_lines(self, findings: Sequence[LintFinding], screen: Screen) -> Iterator[str]:
        known, number = {cause.cause: cause for cause in CAUSES}, 0
        for number, (name, group) in enumerate(groupby(findings, lambda f: f.cause), start=1):
            cause, found = known[name], [*group]
            count = len({finding.place for finding in found})
            heading = f"{number}. {cause.title} ({screen.count_noun(count, 'place')})"
            yield from map(screen.style.MIGRATE_HEADING, screen.wrap(heading))
            yield from screen.wrap(cause.why, 3)
            by_remedy: dict[str, list[LintFinding]] = {}
            for finding in found:
                by_remedy.setdefault(finding.remedy, []).append(finding)
            for remedy, of_remedy in by_remedy.items():
                yield from map(screen.style.SUCCESS, screen.wrap(remedy, 3))
                yield from self._list_places(of_remedy, cause, screen)
            yield ""
        if not findings:
            yield "Nothing to mend."
            return
        places = len({(finding.cause, finding.place) for finding in findings})
        causes = screen.count_noun(number, "cause")
        yield f"{screen.count_noun(places, 'place')} to mend, of {causes}."

    def _list_places(
        self, findings: Sequence[LintFinding], cause: Cause, screen: Screen
    ) -> Iterator[str]:
        by_place: dict[str, list[str]] = {}
        for each in findings:
            names = f" ({len(each.tools)} tools)" if len(each.tools) > 1 else ""
            said = each.write(join_names(each.tools, MAX_NAMES))
            by_place.setdefault(each.place, []).append(
                f"{each.subject}{names}" if cause.is_brief else said
            )
        shown = [*by_place.items()][:MAX_ROWS]
        width = max(len(place) for place, _texts in shown)
        for place, texts in shown:
            text = ", ".join(texts)
            line = f"     {place:<{width}}  {text}"
            if len(line) <= screen.width:
                yield line
            else:
                yield f"     {place}"
                yield from screen.wrap(text, 7)
        if rest := len(by_place) - len(shown):
            yield f"     and {screen.count_noun(rest, 'more place')}"
