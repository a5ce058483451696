"""The reports of ``mcp_tools findings`` and ``size``: findings by root cause, and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, ngettext_lazy
from rest_framework.routers import APIRootView
from rest_framework.settings import api_settings

from drf_mcp.contrib.operators.lint import Lint
from drf_mcp.contrib.operators.rules import SETTINGS_PLACE
from drf_mcp.contrib.operators.source_lines import TOOLS, LintFinding
from drf_mcp.contrib.operators.tool_costs import CLIENT_LIMITS, ToolCost
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.source.members import find_class_attribute
from drf_mcp.management.screen import Screen, group_digits
from drf_mcp.management.tool_list import ENDPOINTS
from drf_mcp.management.tool_list import TOOLS as TOOL_COUNT
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry, registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import Exposure, ToolChoice
from drf_mcp.tools.options import ToolOptions
from drf_mcp.tools.routes import find_routes
from drf_mcp.tools.tool import Tool

# How many places of a remedy, and tools, the report shows; --json has all.
MAX_ROWS = 8
MAX_TOOLS = 10
MAX_NAMES = 2
PLACE_WIDTH = 40
PLACES = ngettext_lazy("%(count)d place", "%(count)d places", "count")
CAUSES = ngettext_lazy("%(count)d cause", "%(count)d causes", "count")
REPEATED = gettext_noop(
    'PATCH at the same route is a tool: name update in actions=, or INCLUDE "PUT *", for PUT too'
)
NOT_CHOSEN = gettext_noop("not chosen: decorate the view with @mcp_tool, or register it in mcp.py")


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


@dataclass(frozen=True)
class Unexposed:
    # The method and path; the path alone for routes with a format suffix.
    request: str
    place: str
    reason: str


class ExposureReport:
    """The REST framework endpoints of the URLconf that are not tools, and why."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def find_unexposed(self) -> list[Unexposed]:
        exposed = {self._make_key(tool.endpoint) for tool in self.registry.tools().values()}
        found = []
        for endpoint in find_endpoints(settings.ROOT_URLCONF):
            if self._make_key(endpoint) not in exposed and not endpoint.is_built_in:
                request = f"{endpoint.method:<7}{endpoint.route.path}"
                found.append(Unexposed(request, endpoint.place, self._find_reason(endpoint)))
        return [*found, *self._find_format_suffixes()]

    def _make_key(self, endpoint: Endpoint) -> tuple[str, str]:
        return endpoint.method, "/".join(str(pattern) for pattern in endpoint.route.chain)

    def _find_format_suffixes(self) -> Iterator[Unexposed]:
        # They repeat other routes: one line is enough for all of them.
        routes = [
            route
            for route in find_routes(settings.ROOT_URLCONF)
            if api_settings.FORMAT_SUFFIX_KWARG in route.kwargs
        ]
        for route in routes[:1]:
            count = len(routes)
            request = route.path
            if count > 1:
                routes_such_as = _("%(count)d routes, such as %(path)s")
                request = routes_such_as % {"count": count, "path": route.path}
            reason = _("format suffix: the route without the suffix is used")
            yield Unexposed(f"{'':<7}{request}", locate_view(route.view_class), reason)

    def _find_reason(self, endpoint: Endpoint) -> str:
        exposure = self.registry.exposure
        if exposure.renders_only_html(endpoint):
            return _("HTML only: the view renders pages for people and no data")
        if not endpoint.route.templates[0][0]:
            return _("no path can be built from the pattern of the route")
        choice = exposure.get_choice(endpoint)
        if choice is not None:
            return self._find_reason_of_choice(choice)
        conditions = [options.condition for options in endpoint.decorations if options.condition]
        if not all(condition() for condition in conditions):
            return _("switched off: condition= of the decorator returned False")
        is_exposed = Exposure(self.registry.registrations).is_exposed(endpoint)
        if is_exposed and not exposure.is_exposed(endpoint):
            reason = _("not exposed: %(name)s of EXPOSURE_CLASS leaves the endpoint out")
            return reason % {"name": type(exposure).__name__}
        if self._has_chosen_view(endpoint):
            return _("left out: actions= or exclude= where the view is registered or decorated")
        if mcp_settings.EXPOSE == "urlconf" and not exposure.is_taken_from_urlconf(endpoint):
            return self._find_reason_of_urlconf(endpoint, exposure)
        if issubclass(endpoint.view_class, APIRootView):
            return _("a router's root, which only lists the other routes")
        return _(NOT_CHOSEN)

    def _find_reason_of_choice(self, choice: ToolChoice) -> str:
        for pattern in mcp_settings.EXCLUDE:
            if choice.matches([pattern]):
                return _("excluded: EXCLUDE has %(pattern)r") % {"pattern": pattern}
        if choice.endpoint.standard_action == "update" and not choice.named:
            return _(REPEATED)
        return _("trailing slash: another route differs in the slash alone, and is used")

    def _has_chosen_view(self, endpoint: Endpoint) -> bool:
        registrations = self.registry.registrations
        routers = [registration.router for registration in registrations if registration.router]
        callbacks = {pattern.callback for router in routers for pattern in router.urls}
        is_root = issubclass(endpoint.view_class, APIRootView)
        return (
            "mcp_viewset" in vars(endpoint.view_class)
            or any(registration.view_class is endpoint.view_class for registration in registrations)
            or (endpoint.route.callback in callbacks and not is_root)
        )

    def _find_reason_of_urlconf(self, endpoint: Endpoint, exposure: Exposure) -> str:
        if find_class_attribute(endpoint.view_class, "schema") is None:
            return _(
                "schema = None on the view, which leaves it out of every description of the API"
            )
        if not endpoint.is_described:
            return _("a description of the API; agents read tools/list instead")
        include = mcp_settings.INCLUDE
        if include and not ToolChoice(endpoint, ToolOptions()).matches(include):
            return _("not included: no pattern of INCLUDE matches")
        return exposure.get_annotated_exclusion(endpoint) or _(NOT_CHOSEN)


class UnexposedReport(ToolReport):
    help = "the endpoints that are not tools, and why"
    is_about_tools = False

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        found = ExposureReport(registry).find_unexposed()
        if options["json"]:
            return [command.format_json([asdict(each) for each in found])]
        return self.list_lines(found, screen)

    def list_lines(self, found: Sequence[Unexposed], screen: Screen) -> Iterator[str]:
        if not found:
            yield _("Every REST framework endpoint is a tool.")
            return
        ordered = sorted(found, key=lambda endpoint: endpoint.reason)
        for reason, group in groupby(ordered, key=lambda endpoint: endpoint.reason):
            yield from map(screen.style.MIGRATE_HEADING, screen.wrap(reason))
            for endpoint in group:
                yield f"  {endpoint.request}"
                yield f"           {endpoint.place}"
            yield ""
        counts = {"endpoints": ENDPOINTS % {"count": len(found)}}
        yield _("Not exposed: %(endpoints)s.") % counts
