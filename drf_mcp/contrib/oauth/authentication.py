from __future__ import annotations

from typing import Any

from django.views.decorators.debug import sensitive_variables
from rest_framework.authentication import BaseAuthentication, get_authorization_header


class AllauthAuthentication(BaseAuthentication):
    """Takes access tokens of allauth.idp.oidc, for the address that the client called.

    In place of allauth's own class, which compares the address of the view with the resource of
    the token. ``request.auth`` is allauth's ``Token``.

    Attributes:
        realm: of the challenge.
    """

    realm = "api"

    @sensitive_variables("value")
    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        # REST framework imports this module while it is imported itself.
        from drf_mcp.contrib.oauth.allauth import AllauthServer

        scheme, _, value = get_authorization_header(request).decode("latin-1").partition(" ")
        return AllauthServer().authenticate(request, value) if scheme.lower() == "bearer" else None

    def authenticate_header(self, request: Any) -> str:
        return f'Bearer realm="{self.realm}"'
