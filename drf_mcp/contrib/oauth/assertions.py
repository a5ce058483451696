"""Tokens for assertions of a company's identity provider (ID-JAG).

draft-ietf-oauth-identity-assertion-authz-grant, which MCP calls enterprise-managed authorization.
Needs PyJWT: ``pip install "drf-mcp-server[jwt]"``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import jwt
from django.db import IntegrityError, router, transaction
from django.http import HttpRequest
from django.utils import timezone
from jwt.exceptions import PyJWKClientConnectionError, PyJWTError
from oauth2_provider.scopes import get_scopes_backend
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749.errors import (
    CustomOAuth2Error,
    InvalidGrantError,
    InvalidScopeError,
    OAuth2Error,
    TemporarilyUnavailableError,
)
from oauthlib.oauth2.rfc6749.grant_types import ClientCredentialsGrant

from drf_mcp.access import JWTAuthentication
from drf_mcp.access.scopes import is_gone
from drf_mcp.contrib.oauth.audiences import find_resource
from drf_mcp.contrib.oauth.models import UsedAssertion
from drf_mcp.features import mcp_settings
from drf_mcp.json_text import hash_json

logger = logging.getLogger("drf_mcp")

ASSERTION_TYPE = "oauth-id-jag+jwt"
REQUIRED_CLAIMS = ["iss", "sub", "aud", "client_id", "jti", "exp", "iat", "resource"]
# Claims that narrow what an assertion grants, and are not understood here.
UNREAD_CLAIMS = frozenset({"authorization_details", "cnf", "tenant"})
# In seconds. How long an assertion may be valid, and by how much clocks may differ.
MAX_LIFETIME, LEEWAY = 60 * 60, 30


class IdentityAssertionGrant(ClientCredentialsGrant):  # type: ignore[misc]
    """Gives a client a token for the user whom an assertion names.

    The client credentials grant of oauthlib, with checks of the assertion: it wants a client with
    a secret too, and gives no refresh token.
    """

    def validate_token_request(self, request: Any) -> None:
        http_request = request.extra_credentials["request"]
        request.extra_credentials, claims = None, dict[str, Any]()
        try:
            self.validate_client_confidential(request)
            self.validate_grant_type(request)
            issuer = oauth2_settings.oauth2_authorization_server_issuer(http_request)
            claims |= read_assertion(getattr(request, "assertion", None), issuer)
            self.validate_claims(claims, request)
            request.scopes = self.find_scopes(claims, request)
            request.resource = choose_resources(claims, http_request)
            request.extra_credentials = {"resource": request.resource}
            # The last step: an assertion that was refused can be sent again.
            use_once(claims)
        except OAuth2Error as exc:
            logger.warning(
                "The client %r got no token for an assertion of %r about %r: %s, %s",
                request.client_id,
                claims.get("iss"),
                claims.get("sub"),
                exc.error,
                exc.description,
            )
            raise

    def validate_claims(self, claims: Mapping[str, Any], request: Any) -> None:
        if claims["client_id"] != request.client.client_id:
            raise InvalidGrantError("The assertion is for another client.")
        if unread := sorted(UNREAD_CLAIMS & claims.keys()):
            raise InvalidGrantError(f"Assertions with {', '.join(unread)} are not supported.")
        if int(claims["exp"]) - int(claims["iat"]) > MAX_LIFETIME:
            raise InvalidGrantError("The assertion is valid for more than an hour.")
        request.user = self.request_validator.get_linked_user(claims)
        if request.user is None or is_gone(request.user):
            raise InvalidGrantError("No active user is linked to the subject of the assertion.")

    def find_scopes(self, claims: Mapping[str, Any], request: Any) -> list[str]:
        """Return the scopes that the client asks for, or else all that the assertion grants."""
        backend, asked = get_scopes_backend(), {"application": request.client, "request": request}
        granted = str(claims["scope"]).split() if "scope" in claims else None
        if granted is None:
            granted = backend.get_default_scopes(**asked)
        available = set(granted).intersection(backend.get_available_scopes(**asked))
        known = available if request.scopes is None else backend.get_all_scopes()
        scopes = [scope for scope in request.scopes or granted if scope in known]
        if not scopes or not available.issuperset(scopes):
            raise InvalidScopeError("The assertion does not grant these scopes.")
        return list(scopes)


def read_assertion(assertion: Any, audience: str) -> Mapping[str, Any]:
    """Return the claims of an assertion that a provider of the project signed for an audience."""
    try:
        header = jwt.get_unverified_header(assertion or "")
        # Not verified yet: the issuer says whose keys verify the assertion.
        issuer = jwt.decode(assertion, options={"verify_signature": False}).get("iss")
    except (PyJWTError, RecursionError) as exc:
        raise InvalidGrantError("The assertion is no JSON Web Token.") from exc
    # RFC 7515, section 4.1.9.
    if str(header.get("typ")).lower().removeprefix("application/") != ASSERTION_TYPE:
        raise InvalidGrantError(f"The type of the assertion is not {ASSERTION_TYPE}.")
    if not isinstance(issuer, str) or issuer not in mcp_settings.IDENTITY_PROVIDERS:
        raise InvalidGrantError(f"No identity provider {str(issuer)[:200]!a} is trusted here.")
    attributes = dict(mcp_settings.IDENTITY_PROVIDERS[issuer])
    provider = type("IdentityProvider", (JWTAuthentication,), attributes)()
    try:
        claims: Mapping[str, Any] = jwt.decode(
            assertion,
            provider.get_key(assertion),
            algorithms=list(provider.algorithms),
            issuer=issuer,
            leeway=LEEWAY,
            options={"require": REQUIRED_CLAIMS, "verify_aud": False},
        )
    except PyJWKClientConnectionError as exc:
        text = "The keys of the identity provider cannot be read."
        raise TemporarilyUnavailableError(text, status_code=503) from exc
    except PyJWTError as exc:
        # RFC 6749 wants a description without double quotes.
        text = f"The assertion is not valid: {exc}".replace('"', "'")
        raise InvalidGrantError(text) from exc
    if claims["aud"] not in (audience, [audience]):
        raise InvalidGrantError(f"The audience of the assertion is not {audience} alone.")
    return claims


def choose_resources(claims: Mapping[str, Any], http_request: HttpRequest) -> list[str]:
    """Return the endpoints that the client asks for, or else all that the assertion names."""
    named = claims["resource"] if isinstance(claims["resource"], list) else [claims["resource"]]
    found = [find_resource(http_request, each) for each in named if isinstance(each, str)]
    # An assertion may name other servers too, a request may not.
    own = list(filter(None, found))
    sent = filter(None, http_request.POST.getlist("resource"))
    asked = [find_resource(http_request, each) for each in sent] or own
    if asked and set(asked) <= set(own):
        return asked
    text = "The assertion does not open this resource, or it is no endpoint of this server."
    raise CustomOAuth2Error("invalid_target", text)


def use_once(claims: Mapping[str, Any]) -> None:
    """Remember an assertion, so that no request gets a second token for it."""
    # The clock of the provider may be ahead, and that of the next request behind.
    expires = timezone.now() + timedelta(seconds=MAX_LIFETIME + 2 * LEEWAY)
    digest = hash_json([claims["iss"], claims["jti"]])
    try:
        with transaction.atomic(using=router.db_for_write(UsedAssertion)):
            UsedAssertion.objects.create(digest=digest, expires=expires)
    except IntegrityError as exc:
        raise InvalidGrantError("The assertion has been used already.") from exc
