"""The authorization servers that run in the project: django-oauth-toolkit and allauth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.utils.module_loading import import_string
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.access.authentication import OTHER_AUDIENCE
from drf_mcp.access.resources import is_below
from drf_mcp.contrib.oauth.audiences import is_for_endpoint, opens_address
from drf_mcp.contrib.oauth.models import ServiceClient
from drf_mcp.features import Caller

# By the app of each.
SERVERS = {
    "oauth2_provider": "drf_mcp.contrib.oauth.backends.ToolkitServer",
    "allauth.idp.oidc": "drf_mcp.contrib.oauth.allauth.AllauthServer",
}


class OAuthServer:
    """What the app asks one authorization server. A subclass for each."""

    def get_resources(self, token: Any) -> Sequence[str]:
        """Return the resources that a token names (RFC 8707)."""
        raise NotImplementedError

    def get_client_id(self, token: Any) -> str:
        """Return the id of the client that has a token, "" where no client has it."""
        raise NotImplementedError

    def create_client(self, name: str) -> tuple[str, str]:
        """Make a client for the client credentials grant, and return its id and its secret."""
        raise NotImplementedError

    def delete_client(self, client_id: str) -> None:
        """Delete a client with its tokens."""
        raise NotImplementedError

    def find_called(self, request: Any) -> Any:
        """Return the request that the client sent, also where the view of a tool asks."""
        # The address and headers of a view's request are made of arguments of the tool.
        caller = getattr(request, "caller", None)
        return caller.request if isinstance(caller, Caller) else request

    def admit(self, request: Any, user: Any, token: Any) -> Any:
        """Return the user for whom a valid token acts, None for nobody.

        A token that a person gave a client opens tools: the views that they run take it. The same
        views over HTTP refuse it, unless RESOURCE of an endpoint names an address above them.

        Args:
            request: the request that the client sent.

        Raises:
            AuthenticationFailed: if the token is for another address.
        """
        client_id, resources = self.get_client_id(token), self.get_resources(token)
        if is_for_endpoint(request):
            if user is None and client_id:
                user = self._find_service_user(client_id, token)
            return user
        address = request.build_absolute_uri(request.path)
        is_within = not resources or any(is_below(address, each) for each in resources)
        # A program's token has no user, and then the project's own permissions judge it.
        is_person = bool(user is not None and client_id)
        if not (opens_address(request, resources) if is_person else is_within):
            raise AuthenticationFailed(OTHER_AUDIENCE, "invalid_token")
        return user

    def _find_service_user(self, client_id: str, token: Any) -> Any:
        # Never the user who registered the client.
        service = ServiceClient.objects.filter(client_id=client_id).select_related("user").first()
        if service is None:
            return None
        token.narrowing = service.narrowing
        return service.user


def find_server() -> OAuthServer | None:
    """Return the authorization server that is installed, None without one."""
    found = (path for app, path in SERVERS.items() if apps.is_installed(app))
    path = next(found, None)
    return import_string(path)() if path else None
