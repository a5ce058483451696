"""System checks of the tools: whether they are served, and whether clients take them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from rest_framework.views import APIView

from drf_mcp.introspection.locations import place_of
from drf_mcp.introspection.query.parameters import lost_filters
from drf_mcp.operators.checks.endpoints import mounted_endpoints
from drf_mcp.operators.checks.settings import can_read_tools, readable_tools
from drf_mcp.settings import SMALLEST_BUDGET, mcp_settings
from drf_mcp.tools import registry
from drf_mcp.tools.endpoints import Endpoint, find_endpoints
from drf_mcp.tools.exposure import Choice, Registration
from drf_mcp.tools.naming import DEFAULT_MAX_LENGTH
from drf_mcp.tools.options import ToolOptions, ViewOptions

BUDGETS = ("max_result_chars", "max_error_chars")
# As many as the strictest of the widely used clients send to a model.
MAX_TOOLS = 128


@register("drf_mcp")
def check_endpoint_is_included(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for the URL that leads to the tools."""
    count = len(readable_tools())
    served = any(endpoint.given("registry") is registry for endpoint in mounted_endpoints())
    if not count or served:
        return []
    return [
        Warning(
            f"The project has {count} tool{'s' if count > 1 else ''}, but no URL leads to an "
            f"MCP endpoint.",
            hint='Add path("", include("drf_mcp.urls")) to the URLconf. A project that only '
            "uses mcp_stdio can silence this warning.",
            id="drf_mcp.W001",
        )
    ]


@register("drf_mcp")
def check_budgets(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for budgets of tools that are too small to say what a shortened result lacks."""
    return [
        Error(
            f"{name} of the tool {tool.name} must be 0 or at least {SMALLEST_BUDGET}.",
            hint="Correct the option in @mcp_tool, or wherever the tool is chosen.",
            id="drf_mcp.E001",
        )
        for tool in readable_tools().values()
        for name in BUDGETS
        if 0 < (getattr(tool.options, name) or 0) < SMALLEST_BUDGET
    ]


@register("drf_mcp")
def check_routes(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for views that were decorated or registered and are no tool, for want of a route."""
    if not can_read_tools():
        return []
    found = list(find_endpoints(settings.ROOT_URLCONF))
    unrouted = (*unrouted_registrations(registry.registrations, found), *unrouted_views(found))
    return [
        Warning(
            f"{what}, but no route of the URLconf leads there, so it is no tool.",
            hint="Add it to a router or to the urlpatterns, or do not expose it.",
            id="drf_mcp.W003",
        )
        for what in dict.fromkeys(unrouted)
    ]


@register("drf_mcp")
def check_what_is_named(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for patterns and actions that fit no endpoint: a typing error leaves a tool exposed."""
    if not can_read_tools():
        return []
    found = list(find_endpoints(settings.ROOT_URLCONF))
    hint = "Correct the name, or take it away. See docs/exposing.md."
    idle = (*idle_patterns(found), *idle_actions(found))
    return [Warning(what, hint=hint, id="drf_mcp.W014") for what in dict.fromkeys(idle)]


def idle_patterns(found: Sequence[Endpoint]) -> Iterator[str]:
    """Yield what to say of patterns that match no endpoint."""
    choices = [
        registry.exposure.get_choice(endpoint) or Choice(endpoint, ToolOptions())
        for endpoint in found
    ]
    for name in ("INCLUDE", "EXCLUDE"):
        for pattern in getattr(mcp_settings, name):
            if not any(choice.matches([pattern]) for choice in choices):
                yield f"DRF_MCP[{name!r}] has the pattern {pattern!r}, which matches no endpoint."


def idle_actions(found: Sequence[Endpoint]) -> Iterator[str]:
    """Yield what to say of actions and methods that were named and that no view has."""
    said = [(r.options, filter(r.is_for, found)) for r in registry.registrations]
    for view_class in {endpoint.view_class for endpoint in found}:
        options = vars(view_class).get("mcp_viewset")
        if options is not None:
            said.append((options, filter(partial(leads_to, view_class), found)))
    # Several targets of one registration share what was said.
    known: dict[int, tuple[ViewOptions, set[str]]] = {}
    for options, ours in said:
        known.setdefault(id(options), (options, set()))[1].update(
            endpoint.action_or_method for endpoint in ours
        )
    for options, names in known.values():
        for name in sorted(options.exclude.union(options.actions or ()) - names) if names else ():
            there = ", ".join(sorted(names))
            yield f"actions= or exclude= names {name!r}, which no view there has, but: {there}."


def leads_to(view_class: type, endpoint: Endpoint) -> bool:
    """Return whether an endpoint is one of a view class."""
    return endpoint.view_class is view_class


def unrouted_registrations(
    registrations: Iterable[Registration], found: Sequence[Endpoint]
) -> Iterator[str]:
    """Yield the registrations that no endpoint fits."""
    for registration in registrations:
        if any(map(registration.selects, found)):
            continue
        if registration.view_class is not None:
            yield f"{place_of(registration.view_class)} is registered"
        elif registration.router is not None:
            prefixes = ", ".join(str(entry[0]) for entry in registration.router.registry)
            yield f"A router is registered ({prefixes or 'it has no viewsets'})"


def unrouted_views(found: Sequence[Endpoint]) -> Iterator[str]:
    """Yield what is decorated in a view class that no endpoint fits."""
    for view_class in sorted(set(subclasses(APIView)), key=place_of):
        if is_test(view_class):
            continue
        decorated = bool({"mcp_viewset", "mcp_tool"} & vars(view_class).keys())
        if decorated and not any(endpoint.view_class is view_class for endpoint in found):
            yield f"{place_of(view_class)} is decorated"
        for name, member in vars(view_class).items():
            decorated = isinstance(getattr(member, "mcp_tool", None), ToolOptions)
            if decorated and not any(runs(endpoint, view_class, name) for endpoint in found):
                yield f"{place_of(view_class)}.{name} is decorated"


def runs(endpoint: Endpoint, view_class: type, name: str) -> bool:
    """Return whether an endpoint runs a method of this class or of one that inherits it."""
    own = endpoint.action or endpoint.method.lower()
    return own == name and issubclass(endpoint.view_class, view_class)


def subclasses(view_class: type[Any]) -> Iterator[type[Any]]:
    """Yield the classes below one that have been imported so far."""
    for subclass in view_class.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def is_test(view_class: type) -> bool:
    """Return whether a class stands in a test module, whose views need no routes."""
    parts = view_class.__module__.split(".")
    return any(p in ("test", "tests", "conftest") or p.startswith("test_") for p in parts)


@register("drf_mcp")
def check_names(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for names that some clients cut or refuse once they put a server's name before."""
    return [
        Warning(
            f"The name of the tool {name} has {len(name)} characters, more than "
            f"{DEFAULT_MAX_LENGTH}. Some clients leave such a tool out.",
            hint=f"Give {tool.endpoint.place} a shorter name with @mcp_tool(name=...).",
            id="drf_mcp.W004",
        )
        for name, tool in readable_tools().items()
        if len(name) > DEFAULT_MAX_LENGTH
    ]


@register("drf_mcp")
def check_count(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for more tools than clients take."""
    count = len(readable_tools())
    if count <= MAX_TOOLS:
        return []
    return [
        Warning(
            f"The project has {count} tools. Several clients take no more than {MAX_TOOLS} of all "
            f"servers together, and models choose better among few.",
            hint="Leave out what agents do not need with DRF_MCP['EXCLUDE'], or serve several "
            "endpoints with a registry each.",
            id="drf_mcp.W005",
        )
    ]


@register("drf_mcp")
def check_filters(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for filters that HTTP takes and no argument stands for.

    Of each tool that filters, its filters alone are described.
    """
    return [
        Warning(
            f"{name} lacks filters that its endpoint takes over HTTP: {finding.message}",
            hint=finding.remedy,
            id="drf_mcp.W012",
        )
        for name, tool in readable_tools().items()
        if getattr(tool.endpoint.view_class, "filter_backends", None)
        for finding in lost_filters(tool.view, tool.endpoint.method)
    ]
