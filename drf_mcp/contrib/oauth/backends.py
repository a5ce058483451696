"""What a token opens: the endpoints of its resources (RFC 8707), and no other address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, get_script_prefix, resolve
from django.utils.translation import gettext
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import validate_resource_as_url_prefix

from drf_mcp.access.authentication import OTHER_AUDIENCE, Caller
from drf_mcp.access.resources import FoundEndpoint, WellKnownConverter, is_endpoint
from drf_mcp.contrib.oauth.models import belongs_to_client, record_use
from drf_mcp.settings import mcp_settings


class EndpointCore(OAuthLibCore):  # type: ignore[misc]
    """Checks the token of a tool call at the address that the client called.

    A token that a person gave a client opens tools: the views that they run take it. The same
    views over HTTP refuse it, unless RESOURCE of an endpoint names an address above them.
    """

    # Read by the system check W019.
    checks_endpoints = True

    def verify_request(self, request: Any, scopes: Any) -> tuple[bool, Any]:
        # The view of a tool gets headers and an address that are made of arguments; the token is
        # verified for the request to the endpoint.
        caller = getattr(request, "caller", None)
        called = caller.request if isinstance(caller, Caller) else request
        valid, found = super().verify_request(called, scopes)
        if valid and belongs_to_client(found.access_token):
            if not is_for_endpoint(called) and not opens_address(called, found.access_token):
                text = gettext(OTHER_AUDIENCE)
                found.oauth2_error = {"error": "invalid_token", "error_description": text}
                return False, found
            record_use(found.access_token)
        return valid, found


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
    """Return the endpoints that a token for these resources opens; without resources, all."""
    every = find_resources(request, resources)
    return [e for uri, e in every.items() if validate_resource_as_url_prefix(uri, resources)]


def get_default_resources(request: HttpRequest) -> list[str]:
    """Return the resources of a token whose client names none: the endpoints."""
    uris = list(find_resources(request))
    # The token for an endpoint opens the endpoints below it.
    return [uri for uri in uris if not any(is_below(uri, other) for other in uris)]


def is_resource(request: HttpRequest, resource: str) -> bool:
    """Return whether a resource is an endpoint, not an address above one."""
    return any(is_same_resource(uri, resource) for uri in find_resources(request, [resource]))


def is_for_endpoint(request: HttpRequest) -> bool:
    """Return whether a request is for an endpoint, or for the view of a tool."""
    if getattr(request, "is_mcp_request", False):
        return True
    try:
        # Middleware authenticates before the endpoint sets ``is_mcp_request``.
        return is_endpoint(resolve(request.path_info).func)
    except Resolver404:
        return False


def opens_address(request: HttpRequest, token: Any) -> bool:
    """Return whether RESOURCE opens an address, which is no endpoint, to a token."""
    # Tokens of before this app was installed name no resource.
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
    # The toolkit compares without queries and default ports.
    return bool(
        validate_resource_as_url_prefix(one, [other])
        and validate_resource_as_url_prefix(other, [one])
    )


def is_below(uri: str, other: str) -> bool:
    return bool(validate_resource_as_url_prefix(uri, [other])) and not is_same_resource(uri, other)
