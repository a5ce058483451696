"""What a token is for: the endpoints of its resources (RFC 8707), and no other address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, get_script_prefix, resolve
from oauth2_provider.oauth2_validators import validate_resource_as_url_prefix

from drf_mcp.access.metadata import FoundEndpoint, WellKnownConverter, is_endpoint
from drf_mcp.settings import mcp_settings


def find_resources(request: HttpRequest, resources: Sequence[str] = ()) -> dict[str, FoundEndpoint]:
    """Return the endpoints with OAuth by their URIs, those of these toolsets among them."""
    converter = WellKnownConverter()
    script = get_script_prefix().rstrip("/")
    # The path of a toolset has an argument, so no list of endpoints holds it.
    paths = (urlsplit(resource).path.removeprefix(script).rstrip("/") for resource in resources)
    found = [*converter.find_every(), *filter(None, map(converter.find_by_path, paths))]
    return {e.describe(request).uri: e for e in found if e.view.get_authorization_servers()}


def find_endpoints_of(request: HttpRequest, resources: Sequence[str]) -> list[FoundEndpoint]:
    """Return the endpoints that tokens for these resources open; all, if there are none."""
    every = find_resources(request, resources)
    return [e for uri, e in every.items() if validate_resource_as_url_prefix(uri, resources)]


def get_default_resources(request: HttpRequest) -> list[str]:
    """Return what a token is for whose client names no resource: the endpoints."""
    uris = list(find_resources(request))
    # An endpoint below another one is opened by the token for that one.
    return [uri for uri in uris if not any(is_below(uri, other) for other in uris)]


def is_resource(request: HttpRequest, resource: str) -> bool:
    """Return whether a resource is one endpoint's, and not an address above it."""
    return any(is_same_resource(uri, resource) for uri in find_resources(request, [resource]))


def is_for_endpoint(request: HttpRequest) -> bool:
    """Return whether a request is for an endpoint, or for a view that an endpoint calls."""
    if getattr(request, "is_mcp_request", False):
        return True
    try:
        # Middleware asks before the endpoint knows of the request.
        return is_endpoint(resolve(request.path_info).func)
    except Resolver404:
        return False


def opens_address(request: HttpRequest, token: Any) -> bool:
    """Return whether RESOURCE lets a token be used at an address that is no endpoint."""
    # A token from before may name nothing.
    resources = token.resource or get_default_resources(request)
    named = [resource for resource in resources if is_named(request, resource)]
    address = request.build_absolute_uri(request.path)
    return bool(named) and bool(validate_resource_as_url_prefix(address, named))


def is_named(request: HttpRequest, resource: str) -> bool:
    own = mcp_settings.RESOURCE
    if own and is_same_resource(own, resource):
        return True
    every = find_resources(request).items()
    return any(is_same_resource(uri, resource) for uri, e in every if e.view.get_resource())


def is_same_resource(one: str, other: str) -> bool:
    # As the toolkit compares them: without a query, with the port that a scheme has anyway.
    return bool(
        validate_resource_as_url_prefix(one, [other])
        and validate_resource_as_url_prefix(other, [one])
    )


def is_below(uri: str, other: str) -> bool:
    return bool(validate_resource_as_url_prefix(uri, [other])) and not is_same_resource(uri, other)
