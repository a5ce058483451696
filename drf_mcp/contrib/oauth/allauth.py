"""allauth.idp.oidc as the authorization server of agents. See docs/sign_in_allauth.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allauth.idp.oidc import app_settings
from allauth.idp.oidc.adapter import DefaultOIDCAdapter, get_adapter
from allauth.idp.oidc.models import Client, Token
from django.views.decorators.debug import sensitive_variables

from drf_mcp.access.resources import is_below
from drf_mcp.contrib.oauth.audiences import find_called
from drf_mcp.contrib.oauth.servers import OAuthServer
from drf_mcp.features import mcp_settings


class AllauthServer(OAuthServer):
    @sensitive_variables("value")
    def authenticate(self, request: Any, value: str) -> tuple[Any, Any] | None:
        known = Token.objects.select_related("user", "client")
        token = known.lookup(Token.Type.ACCESS_TOKEN, value.strip())
        if token is None:
            return None
        resources = self.get_resources(token)
        # The endpoint asks it about its own address.
        token.allows_audience = lambda uri: (
            not resources or any(is_below(uri, each) for each in resources)
        )
        return self.admit(find_called(request), token.user, token), token

    def get_resources(self, token: Any) -> Sequence[str]:
        resources: list[str] = token.get_resources()
        return resources

    def get_client_id(self, token: Any) -> str:
        return token.client_id or ""

    @sensitive_variables("secret")
    def create_client(self, name: str) -> tuple[str, str]:
        client, secret = Client(name=name), get_adapter().generate_client_secret()
        client.set_secret(secret)
        client.set_grant_types([Client.GrantType.CLIENT_CREDENTIALS])
        # Every call needs these, whatever the program asks for.
        client.set_scopes([*{*client.get_scopes(), *mcp_settings.SCOPES}])
        client.set_default_scopes([*mcp_settings.SCOPES])
        client.save()
        return client.id, secret

    def delete_client(self, client_id: str) -> None:
        Client.objects.filter(id=client_id).delete()


class AgentAdapter(DefaultOIDCAdapter):  # type: ignore[misc]
    """Says in the metadata that clients may publish a document, and reads it for people alone."""

    def populate_server_metadata(self, data: dict[str, Any]) -> None:
        super().populate_server_metadata(data)
        data["client_id_metadata_document_supported"] = app_settings.CIMD_ENABLED

    def is_cimd_url_allowed(self, url: str) -> bool:
        return bool(self.request.user.is_authenticated and super().is_cimd_url_allowed(url))
