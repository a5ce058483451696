"""The authorization servers that run in the project: django-oauth-toolkit and allauth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.apps import apps
from django.utils.module_loading import import_string
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.access.resources import is_below
from drf_mcp.contrib.oauth.audiences import is_for_endpoint, opens_address
from drf_mcp.contrib.oauth.models import ServiceClient

# By the app of each.
SERVERS = {
    "oauth2_provider": "drf_mcp.contrib.oauth.backends.ToolkitServer",
    "allauth.idp.oidc": "drf_mcp.contrib.oauth.allauth.AllauthServer",
}


class OAuthServer:
    """What the app asks an authorization server; a subclass for each.

    Attributes:
        get_resources: returns the resources that a token names (RFC 8707).
        get_client_id: returns the id of a token's client, "" without one.
        create_client: makes a client for client credentials, and returns its id and secret.
        delete_client: deletes a client with its tokens.
    """

    get_resources: Callable[[Any], Sequence[str]]
    get_client_id: Callable[[Any], str]
    create_client: Callable[[str], tuple[str, str]]
    delete_client: Callable[[str], None]

    def admit(self, request: Any, user: Any, token: Any) -> Any:
        """Return the user for whom a valid token acts, None for nobody.

        A token that a person gave a client opens tools: the views that they run take it. The same
        views over HTTP refuse it, unless RESOURCE of an endpoint names an address above them.

        Raises:
            AuthenticationFailed: if the token is not for the request that the client sent.
        """
        client_id, resources = self.get_client_id(token), self.get_resources(token)
        if is_for_endpoint(request):
            if user is not None or not client_id:
                return user
            # Never the user who registered the client.
            for service in ServiceClient.objects.filter(client_id=client_id):
                token.narrowing, user = service.narrowing, service.user
            return user
        address = request.build_absolute_uri(request.path)
        is_within = not resources or any(is_below(address, each) for each in resources)
        # A program's token has no user, and then the project's own permissions judge it.
        is_person = bool(user is not None and client_id)
        if not (opens_address(request, resources) if is_person else is_within):
            text = "The access token is for another resource."
            raise AuthenticationFailed(text, "invalid_token")
        return user


def find_server() -> OAuthServer | None:
    """Return the authorization server that is installed, None without one."""
    found = [path for app, path in SERVERS.items() if apps.is_installed(app)]
    return import_string(found[0])() if found else None
