"""The REST framework endpoints that are not tools, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from rest_framework.routers import APIRootView
from rest_framework.settings import api_settings

from drf_mcp.introspection.locations import place_of
from drf_mcp.introspection.source.stock import vars_through
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import (
    Choice,
    choice,
    in_urlconf_mode,
    is_described,
    left_out,
    matches,
    options_of,
    renders_only_html,
    view_level_options,
)
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
        if key_of(endpoint) not in exposed and not is_ours(endpoint)
    ]
    return found + list(format_suffixed(find_routes(urlconf)))


def key_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return what tells an endpoint from every other."""
    return endpoint.method, "/".join(str(pattern) for pattern in endpoint.route.chain)


def is_ours(endpoint: Endpoint) -> bool:
    """Return whether an endpoint is this package's own, which settings switch on and off."""
    return endpoint.view_class.__module__.startswith("drf_mcp.")


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
    if renders_only_html(endpoint):
        return "HTML only: it has pages for people and no data"
    if not endpoint.route.templates[0][0]:
        return "no path can be written for its pattern"
    chosen = choice(endpoint, registry.registrations)
    if chosen is not None:
        pattern = next((p for p in mcp_settings.EXCLUDE if matches([p], chosen)), None)
        return SLASH if pattern is None else f"excluded: EXCLUDE has {pattern!r}"
    if is_switched_off(endpoint):
        return "switched off: the condition= of its decorator does not hold"
    if said_otherwise(endpoint, registry):
        return "left out: actions= or exclude= of its view's registration or decorator"
    if mcp_settings.EXPOSE == "urlconf" and not in_urlconf_mode(endpoint):
        return not_taken(endpoint)
    if issubclass(endpoint.view_class, APIRootView):
        return "a router's root, which only lists its other routes"
    return CHOOSE


def is_switched_off(endpoint: Endpoint) -> bool:
    """Return whether what was said of it holds only under a condition that does not."""
    said = (options_of(endpoint.handler), view_level_options(endpoint))
    conditions = [options.condition for options in said if options and options.condition]
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


def not_taken(endpoint: Endpoint) -> str:
    """Return why "urlconf" does not take an endpoint."""
    if vars_through(endpoint.view_class, "schema") is None:
        return "schema = None on its view, which leaves it out of every description"
    if not is_described(endpoint.view_class):
        return "a description of the API, which tools/list is for agents"
    include = mcp_settings.INCLUDE
    if include and not matches(include, Choice(endpoint, ToolOptions())):
        return "not included: no pattern of INCLUDE fits it"
    return left_out(endpoint) or CHOOSE
