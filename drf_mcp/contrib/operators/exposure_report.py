"""What is exposed, and how: the reports of ``mcp_tools unexposed`` and ``mcp_tools risks``.

The first has the endpoints that are no tools, and why. The second has what guards each tool that
writes, and what does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from django.conf import settings
from rest_framework.routers import APIRootView
from rest_framework.settings import api_settings
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from drf_mcp.access.authentication_reuse import is_undecorated, lets_all_in
from drf_mcp.features import Safeguard
from drf_mcp.introspection.findings import attempt
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.source.members import find_class_attribute
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ENDPOINTS, TOOLS, ToolReport
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry, registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import Exposure, ToolChoice
from drf_mcp.tools.options import ToolOptions
from drf_mcp.tools.routes import find_routes
from drf_mcp.tools.tool import Tool

GUARDED, LACKING, NEEDLESS, UNKNOWN = "yes", "no", "not needed", "not known"
MARKS = {GUARDED: "yes", LACKING: "no", NEEDLESS: "-", UNKNOWN: "?"}
# Where names have less room than this, a line names what each tool lacks.
MIN_NAMES_WIDTH = 20


# --- Endpoints that are no tools ---------------------------------------------------------------


@dataclass(frozen=True)
class Unexposed:
    # The method and path; the path alone for routes with a format suffix.
    request: str
    place: str
    reason: str


def find_unexposed(registry: Registry) -> Iterator[Unexposed]:
    """Yield the REST framework endpoints of the URLconf that are not tools, and why."""

    def make_key(endpoint: Endpoint) -> tuple[str, ...]:
        return endpoint.method, *map(str, endpoint.route.chain)

    exposed = {make_key(tool.endpoint) for tool in registry.tools().values()}
    for endpoint in find_endpoints(settings.ROOT_URLCONF):
        if make_key(endpoint) not in exposed and not endpoint.is_built_in:
            request = f"{endpoint.method:<7}{endpoint.route.path}"
            yield Unexposed(request, endpoint.place, find_reason(endpoint, registry))
    # Routes with a format suffix repeat others: one line is enough for all of them.
    suffix = api_settings.FORMAT_SUFFIX_KWARG
    routes = [route for route in find_routes(settings.ROOT_URLCONF) if suffix in route.kwargs]
    if routes:
        request = routes[0].path
        if len(routes) > 1:
            request = "%(count)d routes, such as %(path)s"
            request %= {"count": len(routes), "path": routes[0].path}
        reason = "format suffix: the route without the suffix is used"
        yield Unexposed(f"{'':<7}{request}", locate_view(routes[0].view_class), reason)


def find_reason(endpoint: Endpoint, registry: Registry) -> str:
    exposure, view_class = registry.exposure, endpoint.view_class
    if exposure.renders_only_html(endpoint):
        return "HTML only: the view renders pages for people and no data"
    if not endpoint.route.templates[0][0]:
        return "no path can be built from the pattern of the route"
    choice = exposure.get_choice(endpoint)
    if choice is not None:
        for pattern in mcp_settings.EXCLUDE:
            if choice.matches([pattern]):
                return f"excluded: EXCLUDE has {pattern!r}"
        if endpoint.standard_action == "update" and not choice.named:
            return (
                "PATCH at the same route is a tool: name update in actions=, or INCLUDE"
                ' "PUT *", for PUT too'
            )
        return "trailing slash: another route differs in the slash alone, and is used"
    conditions = [options.condition for options in endpoint.decorations if options.condition]
    if not all(condition() for condition in conditions):
        return "switched off: condition= of the decorator returned False"
    is_exposed = Exposure(registry.registrations).is_exposed(endpoint)
    if is_exposed and not exposure.is_exposed(endpoint):
        reason = "not exposed: %(name)s of EXPOSURE_CLASS leaves the endpoint out"
        return reason % {"name": type(exposure).__name__}
    is_root, registrations = issubclass(view_class, APIRootView), registry.registrations
    routers = [registration.router for registration in registrations if registration.router]
    callbacks = {pattern.callback for router in routers for pattern in router.urls}
    if (
        "mcp_viewset" in vars(view_class)
        or any(registration.view_class is view_class for registration in registrations)
        or (endpoint.route.callback in callbacks and not is_root)
    ):
        return "left out: actions= or exclude= where the view is registered or decorated"
    not_chosen = "not chosen: decorate the view with @mcp_tool, or register it in mcp.py"
    if mcp_settings.EXPOSE != "urlconf" or exposure.is_taken_from_urlconf(endpoint):
        root = "a router's root, which only lists the other routes"
        return root if is_root else not_chosen
    if find_class_attribute(view_class, "schema") is None:
        return "schema = None on the view, which leaves it out of every description of the API"
    if not endpoint.is_described:
        return "a description of the API; agents read tools/list instead"
    include = mcp_settings.INCLUDE
    if include and not ToolChoice(endpoint, ToolOptions()).matches(include):
        return "not included: no pattern of INCLUDE matches"
    return exposure.get_annotated_exclusion(endpoint) or not_chosen


class UnexposedReport(ToolReport):
    help = "the endpoints that are not tools, and why"
    is_about_tools = False

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        found = [*find_unexposed(registry)]
        if options["json"]:
            yield command.format_json([asdict(each) for each in found])
            return
        if not found:
            yield "Every REST framework endpoint is a tool."
            return
        ordered = sorted(found, key=lambda endpoint: endpoint.reason)
        for reason, group in groupby(ordered, key=lambda endpoint: endpoint.reason):
            yield from map(screen.style.MIGRATE_HEADING, screen.wrap(reason))
            for endpoint in group:
                yield f"  {endpoint.request}"
                yield f"           {endpoint.place}"
            yield ""
        counts = {"endpoints": ENDPOINTS % {"count": len(found)}}
        yield "Not exposed: {endpoints}.".format(**counts)


# --- Guards of the tools that write ------------------------------------------------------------


class ToolRisks:
    """What guards one tool that writes.

    Args:
        tool: the tool.
        throttles: those of the endpoint.

    Attributes:
        guards: each guard by its name: "yes", "no", "not needed" or "not known".
        lacking: the names of the guards that it needs and lacks.
        grave: those that it must not lack: anybody may call, or nothing is asked before a deletion.
    """

    def __init__(self, tool: Tool, throttles: Sequence[Any]) -> None:
        self.tool = tool
        found = [
            Safeguard("permissions", "perms", self.has_permissions(), is_grave=True, order=0),
            Safeguard("throttle", "throttle", self.has_throttle(throttles), order=600),
            *(s for f in features.hooks["get_safeguards"] for s in f.get_safeguards(tool)),
        ]
        self.safeguards = sorted(found, key=lambda safeguard: safeguard.order)
        self.guards: dict[str, str] = {}
        for each in self.safeguards:
            state = LACKING if each.is_needed else NEEDLESS
            if each.is_on is None:
                state = UNKNOWN
            self.guards[each.name] = GUARDED if each.is_on else state
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

    def has_permissions(self) -> bool | None:
        permissions = self.permissions
        if permissions and not all(map(lets_all_in, permissions)):
            return True
        # A decorator, or a method of the view's own, may ask for something.
        is_stock = type(self.tool.view).check_permissions is APIView.check_permissions
        is_known = is_stock and is_undecorated(self.tool.endpoint.route.callback)
        return None if permissions is None or not is_known else False

    def has_throttle(self, throttles: Sequence[Any]) -> bool:
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


class RisksReport(ToolReport):
    help = "what guards each tool that writes, and what not"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        throttles = command.endpoint.get_throttles()
        found = (ToolRisks(tool, throttles) for tool in tools.values() if not tool.reads)
        every = sorted(found, key=lambda risks: risks.rank)
        lacking = [name for risks in every for name in risks.lacking]
        sums = {name: lacking.count(name) for risks in every[:1] for name in risks.guards}
        if options["json"]:
            data = [risks.as_data() for risks in every]
            counts = {"tools": len(data), "lacking": sums}
            return [command.format_json({"tools": data, "sums": counts})]
        return self.list_lines(every, sums, screen)

    def list_lines(
        self, every: Sequence[ToolRisks], sums: Mapping[str, int], screen: Screen
    ) -> Iterator[str]:
        """Yield a table, the worst tool first, and how many tools lack each guard."""
        if not every:
            yield "None of the tools writes."
            return
        headings = {each.name: each.heading for each in every[0].safeguards}
        longest = max(len(mark) for mark in MARKS.values())
        widths = {name: max(len(heading), longest) for name, heading in headings.items()}
        room = screen.width - sum(width + 1 for width in widths.values())
        width = min(max(len(risks.tool.name) for risks in every) + 2, room)
        is_table = room >= MIN_NAMES_WIDTH
        if is_table:
            cells = "".join(f" {headings[name]:<{widths[name]}}" for name in headings)
            yield screen.style.MIGRATE_HEADING(f"{'':<{width}}{cells}")
        for risks in every:
            lines = self.list_row(risks, widths, width, screen) if is_table else [risks.tool.name]
            yield from lines
            if not is_table:
                names = [n.upper() if n in risks.grave else n for n in risks.lacking]
                text = "lacking: %(guards)s" if names else "lacking: none"
                yield from screen.wrap(text % {"guards": ", ".join(names)}, 2)
            for says in risks.says.values():
                yield from screen.wrap(says, 4)
        yield ""
        counts = ", ".join(f"{name} {number}" for name, number in sums.items() if number)
        text = "%(tools)s that may write. Lacking: %(guards)s."
        if not counts:
            text = "%(tools)s that may write. Lacking: none."
        facts = {"tools": TOOLS % {"count": len(every)}, "guards": counts}
        yield from screen.wrap(text % facts)

    def list_row(
        self, risks: ToolRisks, widths: Mapping[str, int], width: int, screen: Screen
    ) -> Iterator[str]:
        style, name = screen.style, f"  {risks.tool.name}"
        if len(name) > width:
            yield style.MIGRATE_LABEL(name)
            name = ""
        colours = {GUARDED: style.SUCCESS, NEEDLESS: str}
        line = style.MIGRATE_LABEL(f"{name:<{width}}")
        for guard, state in risks.guards.items():
            is_grave, mark = guard in risks.grave, MARKS[state]
            colour = colours.get(state, style.ERROR if is_grave else style.WARNING)
            text = f"{mark.upper() if is_grave else mark:<{widths[guard]}}"
            line += f" {colour(text)}"
        yield line.rstrip()
