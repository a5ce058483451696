"""The report of ``mcp_tools unexposed``: endpoints that are not tools, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.routers import APIRootView
from rest_framework.settings import api_settings

from drf_mcp.introspection.locations import locate_view
from drf_mcp.introspection.source.members import find_class_attribute
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_list import ENDPOINTS
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry, Tool, registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import Exposure, ToolChoice
from drf_mcp.tools.options import ToolOptions
from drf_mcp.tools.routes import find_routes

REPEATED = gettext_noop(
    'PATCH at the same route is a tool: name update in actions=, or INCLUDE "PUT *", for PUT too'
)
NOT_CHOSEN = gettext_noop("not chosen: decorate the view with @mcp_tool, or register it in mcp.py")


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
