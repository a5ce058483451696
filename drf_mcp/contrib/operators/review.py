"""The reports of ``mcp_tools findings`` and ``size``: findings by root cause, and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from drf_mcp.contrib.operators.lint import Lint
from drf_mcp.contrib.operators.rules import SETTINGS_PLACE
from drf_mcp.contrib.operators.source_lines import TOOLS, LintFinding
from drf_mcp.contrib.operators.tool_costs import CLIENT_LIMITS, ToolCost
from drf_mcp.management.screen import Screen, group_digits
from drf_mcp.management.tool_list import TOOLS as TOOL_COUNT
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.tools.tool import Tool

# How many places of a remedy, and tools, the report shows; --json has all.
MAX_ROWS = 8
MAX_TOOLS = 10
MAX_NAMES = 2
PLACE_WIDTH = 40
PLACES = ngettext_lazy("%(count)d place", "%(count)d places", "count")
CAUSES = ngettext_lazy("%(count)d cause", "%(count)d causes", "count")


class Review:
    """The findings and the costs of the lint, as lines of a screen."""

    def __init__(self, lint: Lint, screen: Screen) -> None:
        self.lint = lint
        self.screen = screen
        self.style = screen.style

    def list_findings(self) -> Iterator[str]:
        """Yield the whole report: causes by rank, the largest tools, and the sums."""
        causes = {cause.cause: cause for cause in self.lint.causes}
        for number, (name, group) in enumerate(
            groupby(self.lint.findings, key=lambda finding: finding.cause), start=1
        ):
            yield from self.show_cause(number, causes[name], list(group))
            yield ""
        yield from self.list_costs(self.lint.costs[:MAX_TOOLS])
        yield ""
        yield from self.screen.wrap(self.write_sums())

    def list_sizes(self) -> Iterator[str]:
        """Yield the sizes of all tools, the limits of clients, and the sums."""
        yield from self.list_costs(self.lint.costs)
        yield ""
        yield self.style.MIGRATE_HEADING(_("Limits of known clients"))
        for limit in CLIENT_LIMITS:
            excesses = list(limit.find_excesses(self.lint.all_tools))
            verdict = excesses[-1] if excesses else _("fits")
            line = f"  {limit.client}: {verdict}"
            yield from map(self.style.WARNING, self.screen.wrap(line, 2)) if excesses else [line]
        yield ""
        yield from self.screen.wrap(self.write_sums())

    def show_cause(self, number: int, cause: Any, findings: list[LintFinding]) -> Iterator[str]:
        saves = sum(finding.saves for finding in findings)
        facts = [PLACES % {"count": len({finding.place for finding in findings})}]
        facts += [self.count_tokens(saves)] if saves else []
        heading = f"{number}. {_(cause.title)} ({', '.join(facts)})"
        yield from map(self.style.MIGRATE_HEADING, self.screen.wrap(heading))
        yield from self.screen.wrap(_(cause.why), 3)
        by_remedy: dict[str, list[LintFinding]] = {}
        for finding in findings:
            by_remedy.setdefault(finding.remedy, []).append(finding)
        for remedy, group in by_remedy.items():
            yield from map(self.style.SUCCESS, self.screen.wrap(remedy, 3))
            yield from self.list_places(group, cause.is_brief)

    def list_places(self, findings: Sequence[LintFinding], is_brief: bool) -> Iterator[str]:
        by_place: dict[str, list[LintFinding]] = {}
        for finding in findings:
            by_place.setdefault(finding.place, []).append(finding)
        shown = list(by_place.items())[:MAX_ROWS]
        width = min(max(len(place) for place, _ in shown), PLACE_WIDTH)
        for place, group in shown:
            details = [self.write_subjects(group)] if is_brief else map(self.write_message, group)
            yield from self.show_place("" if place == SETTINGS_PLACE else place, details, width)
        if len(by_place) > len(shown):
            rest = len(by_place) - len(shown)
            more = ngettext("and %(count)d more place", "and %(count)d more places", rest)
            yield f"     {more % {'count': rest}}"

    def show_place(self, place: str, details: Iterable[str], width: int) -> Iterator[str]:
        lines = list(details)
        line = f"     {place:<{width}}  {lines[0]}" if place else f"     {lines[0]}"
        if len(lines) == 1 and len(line) <= self.screen.width:
            yield line
            return
        yield from [f"     {place}"] if place else []
        for text in lines:
            yield from self.screen.wrap(text, 7 if place else 5)

    def write_subjects(self, findings: Sequence[LintFinding]) -> str:
        # Members of one class that one line makes are named together.
        subjects = dict.fromkeys(finding.subject for finding in findings)
        tools = dict.fromkeys(name for finding in findings for name in finding.tools)
        owner = f"{next(iter(subjects)).partition('.')[0]}."
        first, *others = subjects
        text = ", ".join([first, *(subject.removeprefix(owner) for subject in others)])
        facts = [TOOL_COUNT % {"count": len(tools)}] if len(tools) > 1 else []
        if saves := sum(finding.saves for finding in findings):
            facts.append(self.count_tokens(saves))
        return f"{text} ({', '.join(facts)})" if facts else text

    def write_message(self, finding: LintFinding) -> str:
        names, rest = ", ".join(finding.tools[:MAX_NAMES]), len(finding.tools) - MAX_NAMES
        if rest > 0:
            text = ngettext("%(names)s and %(count)d more", "%(names)s and %(count)d more", rest)
            names = text % {"names": names, "count": rest}
        return finding.sentence.replace(TOOLS, names)

    def list_costs(self, costs: Sequence[ToolCost]) -> Iterator[str]:
        heading = _("Tokens of all tools, and of their largest parts")
        if len(costs) < len(self.lint.costs):
            heading = _("Tokens of the %(count)d largest tools, and of their largest parts")
            heading %= {"count": len(costs)}
        yield from map(self.style.MIGRATE_HEADING, self.screen.wrap(heading))
        names = max(len(cost.tool.name) for cost in costs)
        digits = max(len(group_digits(cost.tokens)) for cost in costs)
        for cost in costs:
            head = f"  {cost.tool.name:<{names}}  {group_digits(cost.tokens):>{digits}}"
            parts = ", ".join(f"{_(part.name)} {part.tokens}" for part in cost.largest)
            if len(head) + len(parts) + 2 <= self.screen.width:
                yield f"{head}  {parts}"
            else:
                yield head
                yield f"    {self.screen.fit(parts, self.screen.width - 4)}"

    def write_sums(self) -> str:
        sums = self.lint.sums
        facts = {name: group_digits(sums[name]) for name in ("tokens", "saves")}
        for name, noun in {"tools": TOOL_COUNT, "places": PLACES, "causes": CAUSES}.items():
            facts[name] = noun % {"count": sums[name]}
        if not sums["findings"]:
            return _("%(tools)s, about %(tokens)s tokens: nothing to mend.") % facts
        if not sums["saves"]:
            text = _("%(tools)s, about %(tokens)s tokens: %(places)s to mend, of %(causes)s.")
            return text % facts
        text = _(
            "%(tools)s, about %(tokens)s tokens: %(places)s to mend, of %(causes)s; the edits save "
            "about %(saves)s tokens."
        )
        return text % facts

    def count_tokens(self, tokens: int) -> str:
        return _("%(tokens)s tokens") % {"tokens": group_digits(tokens)}


class FindingsReport(ToolReport):
    help = "findings by root cause, with their remedies"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        lint = Lint(tools)
        if options["json"]:
            return [command.format_json(lint.as_data())]
        return self.list_lines(Review(lint, screen))

    def list_lines(self, review: Review) -> Iterator[str]:
        return review.list_findings()


class SizeReport(FindingsReport):
    help = "tokens of each tool, and the limits of clients"

    def list_lines(self, review: Review) -> Iterator[str]:
        return review.list_sizes()
