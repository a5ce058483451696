"""What a token opens: the endpoints of its resources (RFC 8707), and no other address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, get_script_prefix, resolve

from drf_mcp.access.resources import FoundEndpoint, WellKnownConverter, is_below, is_endpoint
from drf_mcp.features import Caller, mcp_settings


def find_resources(request: HttpRequest, resources: Sequence[str] = ()) -> dict[str, FoundEndpoint]:
    """Return the endpoints with OAuth by their URIs.

    Args:
        resources: URIs of toolsets, which are found as well.
    """
    converter = WellKnownConverter()
    script = get_script_prefix().rstrip("/")
    # The path of a toolset has an argument, so `find_every` does not find it.
    paths = (urlsplit(resource).path.removeprefix(script).rstrip("/") for resource in resources)
    found = [*converter.find_every(), *filter(None, map(converter.find_by_path, paths))]
    return {e.describe(request).uri: e for e in found if e.view.get_authorization_servers()}


def find_endpoints_of(request: HttpRequest, resources: Sequence[str]) -> list[FoundEndpoint]:
    every = find_resources(request, resources)
    return [e for uri, e in every.items() if any(is_below(uri, each) for each in resources)]


def find_default_resources(request: HttpRequest) -> list[str]:
    """Return the resources of a token whose client names none: the endpoints."""
    uris = list(find_resources(request))
    # An endpoint below another needs no resource: the token for the upper one opens both.
    return [u for u in uris if not any(is_below(u, o) and not is_below(o, u) for o in uris)]


def find_resource(request: HttpRequest, resource: str) -> str:
    """Return the URI of the endpoint that a resource is, "" where it is none, or above one."""
    # RFC 8707, section 2: a resource has no fragment.
    with suppress(ValueError):
        found = () if "#" in resource else find_resources(request, [resource])
        return next((uri for uri in found if is_same(uri, resource)), "")
    # It is no URI.
    return ""


def is_same(one: str, other: str) -> bool:
    return is_below(one, other) and is_below(other, one)


def find_called(request: Any) -> Any:
    """Return the request that the client sent, also where the view of a tool asks."""
    # The address and headers of a view's request are made of arguments of the tool.
    caller = getattr(request, "caller", None)
    return caller.request if isinstance(caller, Caller) else request


def is_for_endpoint(request: HttpRequest) -> bool:
    """Return whether a request is for an endpoint, or for the view of a tool."""
    if getattr(request, "is_mcp_request", False):
        return True
    try:
        # Middleware authenticates before the endpoint sets ``is_mcp_request``.
        return is_endpoint(resolve(request.path_info).func)
    except Resolver404:
        return False


def opens_address(request: HttpRequest, resources: Sequence[str]) -> bool:
    """Return whether RESOURCE opens the address of a request to a token with these resources."""
    own = [uri for uri, e in find_resources(request).items() if e.view.get_resource()]
    own += [mcp_settings.RESOURCE] if mcp_settings.RESOURCE else []
    # A token that names no resource is for the endpoints.
    resources = resources or find_default_resources(request)
    named = [each for each in resources if any(is_same(uri, each) for uri in own)]
    return any(is_below(request.build_absolute_uri(request.path), each) for each in named)
