"""The reports of ``mcp_tools findings`` and ``size``, and what ``check --deploy`` says of tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.core.checks import CheckMessage, Warning
from django.utils.translation import ngettext, ngettext_lazy

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.operators.lint import SETTINGS_PLACE, TOOLS, Cause, Lint, LintFinding
from drf_mcp.contrib.operators.tool_costs import CLIENT_LIMITS, ToolCost
from drf_mcp.management.screen import Screen, group_digits
from drf_mcp.management.tool_reports import TOOLS as TOOL_COUNT
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.option_types.spelling import join_names
from drf_mcp.tools.tool import Tool

# How many places of a remedy, and tools, the report shows; --json has all.
MAX_ROWS, MAX_TOOLS, MAX_NAMES, PLACE_WIDTH = 8, 10, 2, 40
PLACES = ngettext_lazy("%(count)d place", "%(count)d places", "count")
CAUSES = ngettext_lazy("%(count)d cause", "%(count)d causes", "count")


class FindingsReport(ToolReport):
    help = "findings by root cause, with their remedies"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        lint = Lint(tools)
        if options["json"]:
            return [command.format_json(lint.as_data())]
        return self.list_lines(lint, screen)

    def list_lines(self, lint: Lint, screen: Screen) -> Iterator[str]:
        """Yield the whole report: causes by rank, the largest tools, and the sums."""
        causes, style = {cause.cause: cause for cause in lint.causes}, screen.style
        by_cause = groupby(lint.findings, key=lambda finding: finding.cause)
        for number, (name, group) in enumerate(by_cause, start=1):
            cause, findings = causes[name], [*group]
            places = PLACES % {"count": len({finding.place for finding in findings})}
            saves = sum(finding.saves for finding in findings)
            facts = [places, *([write_tokens(saves)] if saves else [])]
            heading = f"{number}. {cause.title} ({', '.join(facts)})"
            yield from map(style.MIGRATE_HEADING, screen.wrap(heading))
            yield from screen.wrap(cause.why, 3)
            by_remedy: dict[str, list[LintFinding]] = {}
            for finding in findings:
                by_remedy.setdefault(finding.remedy, []).append(finding)
            for remedy, found in by_remedy.items():
                yield from map(style.SUCCESS, screen.wrap(remedy, 3))
                yield from list_places(found, cause, screen)
            yield ""
        yield from list_costs(lint.costs[:MAX_TOOLS], lint, screen)
        yield ""
        yield from screen.wrap(write_sums(lint))


class SizeReport(FindingsReport):
    help = "tokens of each tool, and the limits of clients"

    def list_lines(self, lint: Lint, screen: Screen) -> Iterator[str]:
        """Yield the sizes of all tools, the limits of clients, and the sums."""
        style = screen.style
        yield from list_costs(lint.costs, lint, screen)
        yield ""
        yield style.MIGRATE_HEADING("Limits of known clients")
        for limit in CLIENT_LIMITS:
            excesses = [*limit.find_excesses(lint.all_tools)]
            verdict = excesses[-1] if excesses else "fits"
            line = f"  {limit.client}: {verdict}"
            yield from map(style.WARNING, screen.wrap(line, 2)) if excesses else [line]
        yield ""
        yield from screen.wrap(write_sums(lint))


def list_places(findings: Sequence[LintFinding], cause: Cause, screen: Screen) -> Iterator[str]:
    by_place: dict[str, list[LintFinding]] = {}
    for finding in findings:
        by_place.setdefault(finding.place, []).append(finding)
    shown = [*by_place.items()][:MAX_ROWS]
    width = min(max(len(place) for place, _found in shown), PLACE_WIDTH)
    for place, group in shown:
        place = "" if place == SETTINGS_PLACE else place
        texts = [write_subjects(group)] if cause.is_brief else [*map(write_message, group)]
        line = f"     {place:<{width}}  {texts[0]}" if place else f"     {texts[0]}"
        if len(texts) == 1 and len(line) <= screen.width:
            yield line
            continue
        yield from [f"     {place}"] if place else []
        for text in texts:
            yield from screen.wrap(text, 7 if place else 5)
    if rest := len(by_place) - len(shown):
        more = ngettext("and %(count)d more place", "and %(count)d more places", rest)
        yield f"     {more % {'count': rest}}"


def write_subjects(findings: Sequence[LintFinding]) -> str:
    # Members of one class that one line defines are named together.
    first, *others = dict.fromkeys(finding.subject for finding in findings)
    tools = {name for finding in findings for name in finding.tools}
    owner = f"{first.partition('.')[0]}."
    text = ", ".join([first, *(subject.removeprefix(owner) for subject in others)])
    facts = [TOOL_COUNT % {"count": len(tools)}] if len(tools) > 1 else []
    if saves := sum(finding.saves for finding in findings):
        facts.append(write_tokens(saves))
    return f"{text} ({', '.join(facts)})" if facts else text


def write_tokens(tokens: int) -> str:
    return f"{group_digits(tokens)} tokens"


def write_message(finding: LintFinding) -> str:
    return finding.sentence.replace(TOOLS, join_names(finding.tools, MAX_NAMES))


def list_costs(costs: Sequence[ToolCost], lint: Lint, screen: Screen) -> Iterator[str]:
    heading = "Tokens of all tools, and of their largest parts"
    if len(costs) < len(lint.costs):
        heading = "Tokens of the %(count)d largest tools, and of their largest parts"
        heading %= {"count": len(costs)}
    yield from map(screen.style.MIGRATE_HEADING, screen.wrap(heading))
    names = max(len(cost.tool.name) for cost in costs)
    digits = max(len(group_digits(cost.tokens)) for cost in costs)
    for cost in costs:
        head = f"  {cost.tool.name:<{names}}  {group_digits(cost.tokens):>{digits}}"
        parts = ", ".join(f"{part.name} {part.tokens}" for part in cost.largest)
        if len(head) + len(parts) + 2 <= screen.width:
            yield f"{head}  {parts}"
        else:
            yield head
            yield f"    {screen.fit(parts, screen.width - 4)}"


def write_sums(lint: Lint) -> str:
    sums = lint.sums
    facts = {name: group_digits(sums[name]) for name in ("tokens", "saves")}
    for name, noun in {"tools": TOOL_COUNT, "places": PLACES, "causes": CAUSES}.items():
        facts[name] = noun % {"count": sums[name]}
    if not sums["findings"]:
        return "{tools}, about {tokens} tokens: nothing to mend.".format(**facts)
    if not sums["saves"]:
        return "{tools}, about {tokens} tokens: {places} to mend, of {causes}.".format(**facts)
    text = (
        "%(tools)s, about %(tokens)s tokens: %(places)s to mend, of %(causes)s; the edits save "
        "about %(saves)s tokens."
    )
    return text % facts


# --- Checks ---------------------------------------------------------------------------------


# Only with --deploy, since nothing is described at startup otherwise.
@register_check(deploy=True)
def check_descriptions(project: Project) -> Iterator[CheckMessage]:
    count = sum(len(tool.findings) for tool in project.tools.values())
    if count:
        yield Warning(
            f"{count} part{'s' if count > 1 else ''} of the tools could not be described.",
            hint="python manage.py mcp_tools findings shows each place and its remedy.",
            id="drf_mcp.W010",
        )
