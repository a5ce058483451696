"""The report of ``mcp_tools unexposed``: the endpoints that are no tools, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.routers import APIRootView
from rest_framework.settings import api_settings

from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.source.members import find_class_attribute
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ENDPOINTS, ToolReport
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry, registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import Exposure, ToolChoice
from drf_mcp.tools.options import ToolOptions
from drf_mcp.tools.routes import find_routes
from drf_mcp.tools.tool import Tool


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
            request = _("%(count)d routes, such as %(path)s")
            request %= {"count": len(routes), "path": routes[0].path}
        reason = _("format suffix: the route without the suffix is used")
        yield Unexposed(f"{'':<7}{request}", locate_view(routes[0].view_class), reason)


def find_reason(endpoint: Endpoint, registry: Registry) -> str:
    exposure, view_class = registry.exposure, endpoint.view_class
    if exposure.renders_only_html(endpoint):
        return _("HTML only: the view renders pages for people and no data")
    if not endpoint.route.templates[0][0]:
        return _("no path can be built from the pattern of the route")
    choice = exposure.get_choice(endpoint)
    if choice is not None:
        for pattern in mcp_settings.EXCLUDE:
            if choice.matches([pattern]):
                return _("excluded: EXCLUDE has %(pattern)r") % {"pattern": pattern}
        if endpoint.standard_action == "update" and not choice.named:
            return _(
                "PATCH at the same route is a tool: name update in actions=, or INCLUDE"
                ' "PUT *", for PUT too'
            )
        return _("trailing slash: another route differs in the slash alone, and is used")
    conditions = [options.condition for options in endpoint.decorations if options.condition]
    if not all(condition() for condition in conditions):
        return _("switched off: condition= of the decorator returned False")
    is_exposed = Exposure(registry.registrations).is_exposed(endpoint)
    if is_exposed and not exposure.is_exposed(endpoint):
        reason = _("not exposed: %(name)s of EXPOSURE_CLASS leaves the endpoint out")
        return reason % {"name": type(exposure).__name__}
    is_root, registrations = issubclass(view_class, APIRootView), registry.registrations
    routers = [registration.router for registration in registrations if registration.router]
    callbacks = {pattern.callback for router in routers for pattern in router.urls}
    if (
        "mcp_viewset" in vars(view_class)
        or any(registration.view_class is view_class for registration in registrations)
        or (endpoint.route.callback in callbacks and not is_root)
    ):
        return _("left out: actions= or exclude= where the view is registered or decorated")
    not_chosen = _("not chosen: decorate the view with @mcp_tool, or register it in mcp.py")
    if mcp_settings.EXPOSE != "urlconf" or exposure.is_taken_from_urlconf(endpoint):
        root = _("a router's root, which only lists the other routes")
        return root if is_root else not_chosen
    if find_class_attribute(view_class, "schema") is None:
        return _("schema = None on the view, which leaves it out of every description of the API")
    if not endpoint.is_described:
        return _("a description of the API; agents read tools/list instead")
    include = mcp_settings.INCLUDE
    if include and not ToolChoice(endpoint, ToolOptions()).matches(include):
        return _("not included: no pattern of INCLUDE matches")
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
