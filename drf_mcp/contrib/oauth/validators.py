from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from oauth2_provider.models import get_application_model
from oauth2_provider.oauth2_validators import OAuth2Validator

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# What a client that nobody of the project knows may do: ask a person.
OWN_GRANTS = frozenset({"authorization_code", "refresh_token"})


class AgentValidator(OAuth2Validator):  # type: ignore[misc]
    """The rules of django-oauth-toolkit, and two for clients that introduced themselves."""

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether a code may be sent there: without TLS, to the person's own machine only.

        OAuth 2.1, section 2.3.
        """
        parts = urlsplit(redirect_uri)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            return False
        return bool(super().validate_redirect_uri(client_id, redirect_uri, request))

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether a client may get a token in this way.

        A client that registered itself never gets one without a person.
        """
        manual = get_application_model().RegistrationSource.MANUAL
        if request.client.registration_source != manual and grant_type not in OWN_GRANTS:
            return False
        return bool(super().validate_grant_type(client_id, grant_type, client, request))
