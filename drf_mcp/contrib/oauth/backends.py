from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from oauth2_provider.oauth2_backends import OAuthLibCore

from drf_mcp.access.authentication import OTHER_AUDIENCE, Caller
from drf_mcp.contrib.oauth.audiences import is_for_endpoint, opens_address
from drf_mcp.contrib.oauth.connections import belongs_to_client, record_use


class EndpointCore(OAuthLibCore):  # type: ignore[misc]
    """Checks the token of a tool call at the address that the client called.

    A token that a person gave a client opens tools: the views that they run take it. The same
    views over HTTP refuse it, unless RESOURCE of an endpoint names an address above them.
    """

    # W019 of the checks asks.
    checks_endpoints = True

    def verify_request(self, request: Any, scopes: Any) -> tuple[bool, Any]:
        # Of a tool's view, the request to the endpoint: its headers and address, not those that
        # arguments make.
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
