"""What a token opens: the endpoints of its resources (RFC 8707), and no other address."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, get_script_prefix, resolve
from django.utils.crypto import constant_time_compare
from oauth2_provider.models import get_application_model, get_grant_model, get_refresh_token_model
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import OAuth2Validator, validate_resource_as_url_prefix
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError

from drf_mcp.access.authentication import OTHER_AUDIENCE
from drf_mcp.access.resources import FoundEndpoint, WellKnownConverter, is_endpoint
from drf_mcp.access.scopes import is_gone
from drf_mcp.contrib.oauth.documents import OWN_GRANTS, PERSON, NotNow, reading_for
from drf_mcp.contrib.oauth.models import HASHED, belongs_to_client, hash_secret, recorder
from drf_mcp.features import Caller, mcp_settings

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class RefreshedMeanwhile(Exception):
    """Another request has used the refresh token since this request was validated."""

    def __init__(self, family: Any) -> None:
        self.family = family


class EndpointCore(OAuthLibCore):  # type: ignore[misc]
    """Checks the token of a tool call at the address that the client called.

    A token that a person gave a client opens tools: the views that they run take it. The same
    views over HTTP refuse it, unless RESOURCE of an endpoint names an address above them.
    """

    # Read by the system check W019.
    checks_endpoints = True

    def verify_request(self, request: Any, scopes: Any) -> tuple[bool, Any]:
        # The address and headers of a view's request are made of arguments of the tool, so the
        # token is verified for the request to the endpoint.
        caller = getattr(request, "caller", None)
        called = caller.request if isinstance(caller, Caller) else request
        valid, found = super().verify_request(called, scopes)
        if valid and belongs_to_client(found.access_token):
            if not _is_for_endpoint(called) and not _opens_address(called, found.access_token):
                text = OTHER_AUDIENCE
                found.oauth2_error = {"error": "invalid_token", "error_description": text}
                return False, found
            token = found.access_token
            recorder.record(token.user_id, token.application_id)
        return valid, found

    def create_token_response(self, request: Any) -> tuple[Any, dict[str, str], str, int]:
        # Refusals of a resource have no headers; RFC 6749 wants every error as JSON.
        url, headers, body, status = super().create_token_response(request)
        return url, {"Content-Type": "application/json", **headers}, body, status


def _find_resources(
    request: HttpRequest, resources: Sequence[str] = ()
) -> dict[str, FoundEndpoint]:
    """Return the endpoints with OAuth by their URIs.

    Args:
        resources: URIs of toolsets, which are found as well.
    """
    converter = WellKnownConverter()
    script = get_script_prefix().rstrip("/")
    # The path of a toolset has an argument, so `find_every` does not find it.
    paths = (urlsplit(resource).path.removeprefix(script).rstrip("/") for resource in resources)
    found = [*converter.find_every(), *filter(None, map(converter.find_by_path, paths))]
    return {e.describe(request).uri: e for e in found if e.view.get_authorization_servers()}


def find_endpoints_of(request: HttpRequest, resources: Sequence[str]) -> list[FoundEndpoint]:
    every = _find_resources(request, resources)
    return [e for uri, e in every.items() if validate_resource_as_url_prefix(uri, resources)]


def find_default_resources(request: HttpRequest) -> list[str]:
    """Return the resources of a token whose client names none: the endpoints."""
    uris = list(_find_resources(request))
    # An endpoint below another needs no resource: the token for the upper one opens both.
    return [
        uri
        for uri in uris
        if not any(
            validate_resource_as_url_prefix(uri, [other]) and not _is_same_resource(uri, other)
            for other in uris
        )
    ]


def is_resource(request: HttpRequest, resource: str) -> bool:
    """Return whether a resource is an endpoint, not an address above one."""
    return any(_is_same_resource(uri, resource) for uri in _find_resources(request, [resource]))


def _is_for_endpoint(request: HttpRequest) -> bool:
    """Return whether a request is for an endpoint, or for the view of a tool."""
    if getattr(request, "is_mcp_request", False):
        return True
    try:
        # Middleware authenticates before the endpoint sets ``is_mcp_request``.
        return is_endpoint(resolve(request.path_info).func)
    except Resolver404:
        return False


def _opens_address(request: HttpRequest, token: Any) -> bool:
    """Return whether RESOURCE opens an address, which is no endpoint, to a token."""
    own = [uri for uri, e in _find_resources(request).items() if e.view.get_resource()]
    own += [mcp_settings.RESOURCE] if mcp_settings.RESOURCE else []
    # A token that was given out before this app was installed names no resource.
    resources = token.resource or find_default_resources(request)
    named = [each for each in resources if any(_is_same_resource(uri, each) for uri in own)]
    address = request.build_absolute_uri(request.path)
    return bool(named) and bool(validate_resource_as_url_prefix(address, named))


def _is_same_resource(one: str, other: str) -> bool:
    # The toolkit compares without queries and default ports.
    return bool(
        validate_resource_as_url_prefix(one, [other])
        and validate_resource_as_url_prefix(other, [one])
    )


class AgentValidator(OAuth2Validator):  # type: ignore[misc]
    """The rules of django-oauth-toolkit, and rules for clients that introduced themselves."""

    def _load_application(self, client_id: str, request: Any) -> Any:
        # Documents are read for people who signed in. A client that sends a code is known already.
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
        spent = get_grant_model().objects.filter(code=_mark_spent(code), application=client)
        for family in spent.values_list("nonce", flat=True):
            _end_family(family)
        return False

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any
    ) -> None:
        # The row is kept until `cleartokens` deletes it. Its nonce, which is not needed any more,
        # becomes the family of the tokens.
        family = getattr(request, "token_family", "")
        grants = get_grant_model().objects.filter(code=code, application=request.client)
        if not grants.update(code=_mark_spent(code), nonce=family):
            # Another request with the same code came first.
            _end_family(family)
            self.validate_code(client_id, code, request.client, request)
            raise InvalidGrantError(request=request)

    def save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Save the tokens of a request.

        A refresh token that another request used first was copied: its connection ends.
        """
        try:
            return super().save_bearer_token(token, request, *args, **kwargs)
        except RefreshedMeanwhile as exc:
            # Here, where the transaction that it raised in is rolled back.
            get_refresh_token_model().revoke_family(exc.family)
            raise InvalidGrantError(request=request) from exc

    def _save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        known = getattr(request, "refresh_token_instance", None)
        if known is not None and known.revoked is None:
            # Requests at the same time have all found the token unused.
            row = get_refresh_token_model().objects.select_for_update().filter(pk=known.pk).first()
            if row is None or row.revoked is not None:
                raise RefreshedMeanwhile(known.token_family)
        return super()._save_bearer_token(token, request, *args, **kwargs)

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        if stored_secret.startswith(HASHED):
            return constant_time_compare(hash_secret(provided_secret), stored_secret)
        return bool(super()._check_secret(provided_secret, stored_secret))

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


def _mark_spent(code: str) -> str:
    return f"spent:{hashlib.sha256(code.encode()).hexdigest()}"


def _end_family(family: str) -> None:
    for token in get_refresh_token_model().objects.filter(token_family=family) if family else ():
        token.revoke()
