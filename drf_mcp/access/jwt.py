"""Access tokens that are JSON Web Tokens of an authorization server elsewhere (RFC 9068).

Needs PyJWT: ``pip install "drf-mcp-server[jwt]"``.
"""

from __future__ import annotations

import functools
import logging
import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

import jwt
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from jwt.exceptions import PyJWKClientConnectionError, PyJWKClientError, PyJWKSetError, PyJWTError
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed

from drf_mcp.access.scopes import find_granted_scopes, is_gone
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

# Signatures with a public key. With a shared secret, or without a signature, anyone who has the
# public key could make tokens.
ALGORITHMS = frozenset(
    {
        "RS256",
        "RS384",
        "RS512",
        "PS256",
        "PS384",
        "PS512",
        "ES256",
        "ES384",
        "ES512",
        "EdDSA",
    }
)
REQUIRED_CLAIMS = ["exp", "iss", "aud"]


class KeysUnavailable(APIException):
    """The keys of the authorization server cannot be read, so no token can be checked."""

    status_code = 503
    default_detail = "Access tokens cannot be checked at the moment. Try again later."
    default_code = "unavailable"


class KeySet(jwt.PyJWKClient):
    """The server's public keys, read again in the background before they are five minutes old.

    While the server is unreachable or fails, the keys that were read last are good for a day. A
    key that is missing in a set that was read is refused at once. Unknown keys have the server
    asked at most every thirty seconds. After a failure it is not asked for ten seconds.
    """

    lifespan = 5 * 60
    lifespan_without_server = 24 * 60 * 60
    pause = 30
    pause_after_failure = 10

    def __init__(self, url: str) -> None:
        super().__init__(url, timeout=5, cache_jwk_set=False)
        self.keys: dict[str | None, jwt.PyJWK] = {}
        self.read_at = self.tried_at = -math.inf
        self.good_for = self.lifespan
        self.is_failing = False
        self.is_reading = threading.Lock()

    def get_signing_key(self, kid: str) -> jwt.PyJWK:
        if kid not in self.keys or self._get_age() >= self.good_for:
            self._read()
        elif self._get_age() >= self.lifespan / 2 and self._may_ask():
            threading.Thread(target=self._read, daemon=True).start()
        key = self.keys.get(kid)
        if self._get_age() >= self.good_for or (key is None and self.is_failing):
            raise PyJWKClientConnectionError("The keys cannot be read.")
        if key is None:
            raise PyJWKClientError("The server has no such key.")
        return key

    def _get_age(self) -> float:
        return time.monotonic() - self.read_at

    def _may_ask(self) -> bool:
        pause = self.pause_after_failure if self.is_failing else self.pause
        return time.monotonic() - self.tried_at >= pause

    def _read(self) -> None:
        with self.is_reading:
            # Requests that waited here have the answer to the first.
            if not self._may_ask():
                return
            self.tried_at = time.monotonic()
            try:
                self.keys = _read_keys(self.fetch_data())
            except (PyJWTError, ValueError, OSError, RecursionError) as exc:
                self._fail(exc)
            else:
                self.read_at, self.good_for = time.monotonic(), self.lifespan
                self.is_failing = False

    def _fail(self, exc: Exception) -> None:
        if not self.is_failing:
            logger.warning("The keys at %s cannot be read: %s", self.uri, exc)
        self.is_failing = True
        # 4xx and an answer that is no key set are no outage.
        status = getattr(exc.__cause__, "code", 503)
        is_outage = isinstance(exc, (PyJWKClientConnectionError, OSError))
        if is_outage and (status >= 500 or status == 429):
            self.good_for = self.lifespan_without_server


def _read_keys(document: Any) -> dict[str | None, jwt.PyJWK]:
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("The answer is no key set.")
    try:
        usable = jwt.PyJWKSet(document["keys"]).keys
    except PyJWKSetError:
        # It holds none.
        usable = []
    # Of two keys with one id the first counts.
    return {key.key_id: key for key in reversed(usable) if key.public_key_use in ("sig", None)}


# One for each address, so that all requests of a process share the keys.
get_key_set = functools.cache(KeySet)


def _read_names(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _spell_audiences(value: str | Sequence[str]) -> list[str]:
    # Many clients ask for the address with a slash at its end, and the server repeats it.
    bare = [name.rstrip("/") for name in _read_names(value)]
    return [*bare, *(f"{name}/" for name in bare)]


class AccessToken:
    """``request.auth`` of a JSON Web Token.

    Has what permissions of django-oauth-toolkit ask a token.

    Attributes:
        claims: the claims, as the server signed them.
        scopes: the names of the scopes.
        audiences: the audiences of the token for which it was taken.
    """

    def __init__(
        self, claims: Mapping[str, Any], scopes: Sequence[str], audiences: Sequence[str] = ()
    ) -> None:
        self.claims = claims
        self.scopes = tuple(scopes)
        self.scope = " ".join(self.scopes)
        self.audiences = tuple(audiences)

    def is_expired(self) -> bool:
        return False  # Authentication refuses an expired token.

    def allow_scopes(self, scopes: Sequence[str]) -> bool:
        """Return whether the token has all of the scopes."""
        return set(scopes) <= set(self.scopes)

    def is_valid(self, scopes: Sequence[str] | None = None) -> bool:
        return self.allow_scopes(scopes or ())

    def allows_audience(self, uri: str) -> bool:
        """Return whether the token may be used at an address (RFC 8707).

        An audience on the same host has to be the address, or one above it; another one is a
        name that the project gave itself.
        """
        place = urlsplit(uri)
        for audience in self.audiences:
            parts = urlsplit(audience)
            above = parts.path.rstrip("/") + "/"
            if (parts.scheme, parts.netloc) != (place.scheme, place.netloc):
                return True
            if f"{place.path}/".startswith(above):
                return True
        return False


class JWTAuthentication(BaseAuthentication):
    """Takes ``Authorization: Bearer`` with a JSON Web Token of one authorization server.

    A class for each server; for views and for endpoints alike::

        class ShopLogin(JWTAuthentication):
            issuer = "https://login.shop.example/realms/shop"
            audience = "https://shop.example/mcp"
            jwks_url = "https://login.shop.example/realms/shop/protocol/openid-connect/certs"
            username_claim = "preferred_username"

    Tokens of other issuers are left to the classes after it.

    Attributes:
        issuer: the claim ``iss``, letter by letter.
        audience: what ``aud`` must hold, or a list; ``aud`` must hold one of it. None for the
            setting RESOURCE.
        jwks_url: where the server publishes its keys.
        algorithms: of signatures, each with a public key.
        token_types: what the header ``typ`` may be. An access token has ``at+jwt`` (RFC
            9068). For a server that writes ``JWT``, or nothing, name "JWT" as well; an ID token
            with the same audience is then taken too.
        leeway: seconds by which clocks may differ.
        username_claim: the claim that names the user.
        user_field: the field of the user model that the claim is looked up in; None for its
            ``USERNAME_FIELD``.
        realm: of the challenge.
    """

    issuer: str = ""
    audience: str | Sequence[str] | None = None
    jwks_url: str = ""
    algorithms: ClassVar[Sequence[str]] = ("RS256", "ES256")
    token_types: Sequence[str] = ("at+jwt",)
    leeway: float = 30
    username_claim: str = "sub"
    user_field: str | None = None
    realm = "api"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.algorithms or not ALGORITHMS.issuperset(cls.algorithms):
            raise ImproperlyConfigured(
                f"{cls.__name__}.algorithms must hold algorithms with a public key, "
                f"not {cls.algorithms!r}."
            )

    def authenticate(self, request: Any) -> tuple[Any, AccessToken] | None:
        token = self.get_token(request)
        if token is None:
            return None
        claims = self.get_claims(token)
        user = self.get_user(claims)
        if user is None or is_gone(user):
            raise AuthenticationFailed("The access token is for a user who is not known here.")
        accepted, named = _spell_audiences(self.get_audience()), _read_names(claims["aud"])
        audiences = [name for name in named if name in accepted]
        found = AccessToken(claims, self.get_scopes(claims), audiences)
        # For the views of tools, the endpoint checks the audience against its own address.
        is_elsewhere = not getattr(request, "is_mcp_request", False)
        if is_elsewhere and not found.allows_audience(request.build_absolute_uri(request.path)):
            raise AuthenticationFailed("The access token is for another resource.")
        return user, found

    def authenticate_header(self, request: Any) -> str:
        sent = get_authorization_header(request).lower().startswith(b"bearer ")
        return f'Bearer realm="{self.realm}"' + (', error="invalid_token"' if sent else "")

    def get_token(self, request: Any) -> str | None:
        """Return the token of a request, None if it has none of this issuer."""
        if not self.issuer:
            raise ImproperlyConfigured(f"{type(self).__name__}.issuer is missing.")
        scheme, _, value = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or value.count(".") != 2:
            return None
        try:
            # Not verified yet: the issuer says which class verifies the token.
            claims = jwt.decode(value, options={"verify_signature": False})
        except (PyJWTError, RecursionError):
            return None
        return value if claims.get("iss") == self.issuer else None

    def get_claims(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a valid token.

        Raises:
            AuthenticationFailed: if the token is not valid.
            KeysUnavailable: if the server's keys cannot be read.
        """
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                self.get_key(token),
                algorithms=list(self.algorithms),
                audience=_spell_audiences(self.get_audience()),
                issuer=self.issuer,
                leeway=self.leeway,
                options={"require": REQUIRED_CLAIMS},
            )
        except PyJWKClientConnectionError as exc:
            raise KeysUnavailable() from exc
        except jwt.ExpiredSignatureError as exc:
            raise AuthenticationFailed("The access token has expired.") from exc
        except jwt.InvalidAudienceError as exc:
            raise AuthenticationFailed("The access token is for another resource.") from exc
        except PyJWTError as exc:
            raise AuthenticationFailed("The access token is not valid.") from exc
        # RFC 7515, section 4.1.9: in any case, and with or without "application/".
        written = jwt.get_unverified_header(token).get("typ") or "JWT"
        kind = str(written).lower().removeprefix("application/")
        if kind not in map(str.lower, _read_names(self.token_types)):
            # The issuer signed it, so no stranger fills the log.
            logger.warning(
                'A token of %s was refused because its header "typ" is %r. If its access tokens '
                'have this type, set %s.token_types = ("at+jwt", "JWT").',
                self.issuer,
                written,
                type(self).__qualname__,
            )
            raise AuthenticationFailed("The access token is not valid.")
        return claims

    def get_key(self, token: str) -> Any:
        """Return the public key that a token says it was signed with."""
        header = jwt.get_unverified_header(token)
        # No key is fetched for a signature that would be refused.
        if header.get("alg") not in list(self.algorithms) or not isinstance(header.get("kid"), str):
            raise PyJWKClientError("The header of the token names no key.")
        return self.get_key_set().get_signing_key(header["kid"])

    def get_key_set(self) -> jwt.PyJWKClient:
        """Return the server's keys."""
        if not self.jwks_url:
            raise ImproperlyConfigured(f"{type(self).__name__}.jwks_url is missing.")
        return get_key_set(self.jwks_url)

    def get_audience(self) -> str | Sequence[str]:
        """Return the values; the claim ``aud`` must hold one of them."""
        audience: str | Sequence[str] | None = self.audience or mcp_settings.RESOURCE
        if not audience:
            raise ImproperlyConfigured(
                f"{type(self).__name__}.audience is missing: a token for anybody else would do."
            )
        return audience

    def get_scopes(self, claims: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of the token's scopes: the claim ``scope``, or ``scp``."""
        return find_granted_scopes(claims) or ()

    def get_user(self, claims: Mapping[str, Any]) -> Any:
        """Return the user whom a token is for, None if there is none."""
        model: Any = get_user_model()
        name = claims.get(self.username_claim)
        if not isinstance(name, str) or not name:
            return None
        found = model._default_manager.filter(**{self.user_field or model.USERNAME_FIELD: name})
        # A claim that two users share names neither of them.
        users = list(found[:2])
        return users[0] if len(users) == 1 else None
