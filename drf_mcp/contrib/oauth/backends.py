from __future__ import annotations

from typing import Any

from oauth2_provider.oauth2_backends import OAuthLibCore

from drf_mcp.access.authentication import Caller
from drf_mcp.contrib.oauth.connections import record_use


class EndpointCore(OAuthLibCore):  # type: ignore[misc]
    """Checks the token of a tool call at the address that the client called.

    A token for ``https://shop.example/mcp`` is good for the views that its tools run, and for the
    same views over HTTP it is not (RFC 8707).
    """

    # W019 of the checks asks.
    checks_endpoints = True

    def verify_request(self, request: Any, scopes: Any) -> tuple[bool, Any]:
        # Of a tool's view, the request to the endpoint: its headers and address, not those that
        # arguments make.
        caller = getattr(request, "caller", None)
        called = caller.request if isinstance(caller, Caller) else request
        valid, found = super().verify_request(called, scopes)
        if valid:
            record_use(found.access_token)
        return valid, found
