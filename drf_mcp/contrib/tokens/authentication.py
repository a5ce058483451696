from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.contrib.tokens.models import KEY, AgentToken, find_end, find_last_day

INVALID = "The token is not valid."
ELSEWHERE = "This token is for tools: it is taken by the MCP endpoint alone."


class AgentTokenAuthentication(BaseAuthentication):
    """Takes ``Authorization: Bearer mcp_…`` with a token of this app.

    Add it to DEFAULT_AUTHENTICATION_CLASSES, before other classes that read the same keyword: it
    leaves tokens with another beginning to them. ``request.auth`` is the `AgentToken`, whose
    ``narrowing`` the endpoint enforces. Plain HTTP, which enforces no narrowing, takes no token.

    Attributes:
        keyword: the word before the token.
        realm: of the challenge.
    """

    keyword = "Bearer"
    realm = "api"

    @classmethod
    def issue_authorization(cls, user: Any, name: str, lifetime: timedelta | None = None) -> str:
        """Return the header's value with a new token of a user.

        Args:
            lifetime: when the token ends; after 90 days by default.
        """
        expires = timezone.now() + lifetime if lifetime else find_end(find_last_day())
        token = AgentToken(user=user, name=name, expires=expires)
        key = token.issue()
        token.save()
        return f"{cls.keyword} {key}"

    @classmethod
    @sensitive_variables()
    def revoke_authorization(cls, authorization: str) -> None:
        """Revoke the token of a header's value, if it is of this app."""
        token = AgentToken.objects.find(authorization.removeprefix(f"{cls.keyword} "))
        if token is not None:
            token.revoke()

    @sensitive_variables("key")
    def authenticate(self, request: Any) -> tuple[Any, AgentToken] | None:
        key = self.get_key(request)
        if key is None:
            return None
        if not self._is_for_tools(request):
            raise AuthenticationFailed(ELSEWHERE)
        token = AgentToken.objects.find(key)
        if token is None:
            raise AuthenticationFailed(INVALID)
        if fault := token.find_fault(self._find_address(request)):
            raise AuthenticationFailed(fault)
        token.note_use()
        return token.user, token

    def authenticate_header(self, request: Any) -> str:
        error = ', error="invalid_token"' if self.get_key(request) is not None else ""
        return f'{self.keyword} realm="{self.realm}"{error}'

    @sensitive_variables()
    def get_key(self, request: Any) -> str | None:
        """Return the token of a request, None for a credential that is not of this app."""
        header = get_authorization_header(request).decode("latin-1")
        scheme, _, key = header.partition(" ")
        if scheme.lower() != self.keyword.lower():
            return None
        key = key.strip()
        return key if KEY.match(key) else None

    def _find_address(self, request: Any) -> str:
        """Return the network address of the caller, from the connection and not from headers.

        Behind a proxy it is the proxy's address, unless the server or a middleware sets
        REMOTE_ADDR to the caller's.
        """
        address: str = request.META.get("REMOTE_ADDR", "")
        return address

    def _is_for_tools(self, request: Any) -> bool:
        # The endpoint sets it on its own request and on the requests of views.
        return getattr(request, "is_mcp_request", False) is True
