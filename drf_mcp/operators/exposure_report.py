"""The REST framework endpoints that are not tools, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from rest_framework.routers import APIRootView
from rest_framework.settings import api_settings

from drf_mcp.introspection.locations import place_of
from drf_mcp.introspection.source.overrides import find_class_attribute
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import Choice, Exposure
from drf_mcp.tools.options import ToolOptions
from drf_mcp.tools.routes import Route, find_routes

CHOOSE = "not chosen: decorate it with @mcp_tool, or register its view"
SLASH = "trailing slash: another route differs in it alone, and that one counts"


@dataclass(frozen=True)
class Unexposed:
    """One endpoint that is no tool.

    Attributes:
        request: its method and path; a route's path alone where no method counts.
        place: where its code stands.
        reason: why it is no tool.
    """

    request: str
    place: str
    reason: str


def unexposed(registry: Registry) -> list[Unexposed]:
    """Return what of the URLconf is no tool, in the URLconf's order."""
    urlconf = settings.ROOT_URLCONF
    exposed = {key_of(tool.endpoint) for tool in registry.tools().values()}
    found = [
        Unexposed(request_line(endpoint), endpoint.place, reason(endpoint, registry))
        for endpoint in find_endpoints(urlconf)
        if key_of(endpoint) not in exposed and not endpoint.is_built_in
    ]
    return found + list(format_suffixed(find_routes(urlconf)))


def key_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return what tells an endpoint from every other."""
    return endpoint.method, "/".join(str(pattern) for pattern in endpoint.route.chain)


def request_line(endpoint: Endpoint) -> str:
    """Return the method and the path."""
    return f"{endpoint.method:<7}{endpoint.route.path}"


def format_suffixed(found: Iterable[Route]) -> Iterator[Unexposed]:
    """Yield the routes that repeat others with a format suffix, all of them as one."""
    repeating = [route for route in found if api_settings.FORMAT_SUFFIX_KWARG in route.kwargs]
    if repeating:
        first, count = repeating[0], len(repeating)
        place = place_of(first.view_class)
        request = first.path if count == 1 else f"{count} routes, such as {first.path}"
        told = "format suffix: the route without it is the one that counts"
        yield Unexposed(f"{'':<7}{request}", place, told)


def reason(endpoint: Endpoint, registry: Registry) -> str:
    """Return why an endpoint is no tool."""
    if endpoint.renders_only_html:
        return "HTML only: it has pages for people and no data"
    if not endpoint.route.templates[0][0]:
        return "no path can be written for its pattern"
    exposure = registry.exposure
    choice = exposure.get_choice(endpoint)
    if choice is not None:
        pattern = next((p for p in mcp_settings.EXCLUDE if choice.matches([p])), None)
        return SLASH if pattern is None else f"excluded: EXCLUDE has {pattern!r}"
    if is_switched_off(endpoint):
        return "switched off: the condition= of its decorator does not hold"
    is_exposed = Exposure(registry.registrations).is_exposed(endpoint)
    if is_exposed and not exposure.is_exposed(endpoint):
        return f"not exposed: {type(exposure).__name__} of EXPOSURE_CLASS leaves it out"
    if said_otherwise(endpoint, registry):
        return "left out: actions= or exclude= of its view's registration or decorator"
    if mcp_settings.EXPOSE == "urlconf" and not exposure.is_taken_from_urlconf(endpoint):
        return not_taken(endpoint, exposure)
    if issubclass(endpoint.view_class, APIRootView):
        return "a router's root, which only lists its other routes"
    return CHOOSE


def is_switched_off(endpoint: Endpoint) -> bool:
    """Return whether what was said of it holds only under a condition that does not."""
    conditions = [options.condition for options in endpoint.decorations if options.condition]
    return not all(condition() for condition in conditions)


def said_otherwise(endpoint: Endpoint, registry: Registry) -> bool:
    """Return whether its view was chosen, but not this action of it."""
    if "mcp_viewset" in vars(endpoint.view_class):
        return True
    return any(
        registration.view_class is endpoint.view_class
        or (
            registration.router is not None
            and endpoint.route.callback in {p.callback for p in registration.router.urls}
            and not issubclass(endpoint.view_class, APIRootView)
        )
        for registration in registry.registrations
    )


def not_taken(endpoint: Endpoint, exposure: Exposure) -> str:
    """Return why "urlconf" does not take an endpoint."""
    if find_class_attribute(endpoint.view_class, "schema") is None:
        return "schema = None on its view, which leaves it out of every description"
    if not endpoint.is_described:
        return "a description of the API, which tools/list is for agents"
    include = mcp_settings.INCLUDE
    if include and not Choice(endpoint, ToolOptions()).matches(include):
        return "not included: no pattern of INCLUDE fits it"
    return exposure.get_annotated_exclusion(endpoint) or CHOOSE
