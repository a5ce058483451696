from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

from oauth2_provider.models import (
    get_application_model,
    get_grant_model,
    get_refresh_token_model,
)
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError

from drf_mcp.access.principals import is_gone
from drf_mcp.contrib.oauth.documents import PERSON, NotNow, reading_for

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# The grants of clients that the project did not add by hand: they need a person.
OWN_GRANTS = frozenset({"authorization_code", "refresh_token"})


class AgentValidator(OAuth2Validator):  # type: ignore[misc]
    """The rules of django-oauth-toolkit, and rules for clients that introduced themselves."""

    def _load_application(self, client_id: str, request: Any) -> Any:
        # Documents are read for people who signed in; a client with a code is known already.
        token = reading_for.set(request.headers.get(PERSON))
        try:
            return super()._load_application(client_id, request)
        except NotNow:
            # A known client keeps the document that was read last.
            known = get_application_model().objects.filter(client_id=client_id).first()
            request.client = known if known is not None and known.is_usable(request) else None
            return request.client
        finally:
            reading_for.reset(token)

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether a code may be sent to a URI: without TLS only to the person's machine.

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

        A client that registered itself needs a person.
        """
        manual = get_application_model().RegistrationSource.MANUAL
        if request.client.registration_source != manual and grant_type not in OWN_GRANTS:
            return False
        return bool(super().validate_grant_type(client_id, grant_type, client, request))

    def validate_code(
        self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether a code is valid.

        A code that is sent again was copied: its tokens are revoked (RFC 6749, 4.1.2).
        """
        if super().validate_code(client_id, code, client, request, *args, **kwargs):
            return not is_gone(request.user)
        spent = get_grant_model().objects.filter(code=mark_spent(code), application=client)
        for family in spent.values_list("nonce", flat=True):
            end_family(family)
        return False

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any
    ) -> None:
        # The row is kept until `cleartokens` deletes it. Its nonce, which is not needed any more,
        # becomes the family of the tokens.
        family = getattr(request, "token_family", "")
        grants = get_grant_model().objects.filter(code=code, application=request.client)
        if not grants.update(code=mark_spent(code), nonce=family):
            # Another request with the same code came first.
            end_family(family)
            self.validate_code(client_id, code, request.client, request)
            raise InvalidGrantError(request=request)

    def _create_refresh_token(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        made = super()._create_refresh_token(request, *args, **kwargs)
        request.token_family = str(made.token_family)
        return made

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether a token can be refreshed: only while its user is active."""
        is_good = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        return bool(is_good) and not is_gone(request.user)


def mark_spent(code: str) -> str:
    return f"spent:{hashlib.sha256(code.encode()).hexdigest()}"


def end_family(family: str) -> None:
    for token in get_refresh_token_model().objects.filter(token_family=family) if family else ():
        token.revoke()
