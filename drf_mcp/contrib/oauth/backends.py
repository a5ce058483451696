"""django-oauth-toolkit as the authorization server of agents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import router, transaction
from django.utils.crypto import constant_time_compare
from oauth2_provider.generators import generate_client_secret
from oauth2_provider.models import get_application_model, get_refresh_token_model
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.scopes import get_scopes_backend
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS

from drf_mcp.access import Narrowing
from drf_mcp.access.scopes import is_gone
from drf_mcp.contrib.oauth.audiences import find_called, find_resource, is_for_endpoint
from drf_mcp.contrib.oauth.documents import JWT_BEARER, OWN_GRANTS, hides_code
from drf_mcp.contrib.oauth.models import THIS_CONNECTION, LinkedIdentity
from drf_mcp.contrib.oauth.servers import OAuthServer
from drf_mcp.features import mcp_settings

# What the secret of a client begins with that introduced itself.
HASHED = "sha256$"
# The scope, among those of a code and its tokens, of a client that the person lets only read.
READ_ONLY = "drf_mcp:read_only"
READS = Narrowing(THIS_CONNECTION, read_only=True)


class ToolkitServer(OAuthServer):
    def admit(self, request: Any, user: Any, token: Any) -> Any:
        user, scopes = super().admit(request, user, token), token.scope.split()
        if oauth2_settings.DCR_REGISTRATION_SCOPE in scopes:
            # It has the user who registered a client, and nobody has consented.
            raise AuthenticationFailed("A registration access token opens nothing.")
        if READ_ONLY in scopes:
            if not is_for_endpoint(request) and request.method not in SAFE_METHODS:
                raise AuthenticationFailed("The person lets the client only read.", "invalid_token")
            token.narrowing = READS
        return user

    def get_resources(self, token: Any) -> Sequence[str]:
        return token.resource or ()

    def get_client_id(self, token: Any) -> str:
        return token.application.client_id if token.application_id else ""

    def create_client(self, name: str) -> tuple[str, str]:
        model, secret = get_application_model(), generate_client_secret()
        client = model.objects.create(
            name=name,
            client_type=model.CLIENT_CONFIDENTIAL,
            authorization_grant_type=model.GRANT_CLIENT_CREDENTIALS,
            client_secret=secret,
        )
        return client.client_id, secret

    def delete_client(self, client_id: str) -> None:
        get_application_model().objects.filter(client_id=client_id).delete()


class EndpointCore(OAuthLibCore):  # type: ignore[misc]
    """Checks the token of a tool call at the address that the client called."""

    # Read by the system check W019.
    checks_endpoints = True

    def __init__(self, server: Any = None) -> None:
        super().__init__(server)
        if mcp_settings.IDENTITY_PROVIDERS:
            # Imported here because it needs PyJWT.
            from drf_mcp.contrib.oauth.assertions import IdentityAssertionGrant

            grant = IdentityAssertionGrant(self.server.request_validator)
            self.server.grant_types[JWT_BEARER] = grant

    def _get_extra_credentials(self, request: Any) -> Any:
        # The grant of assertions needs Django's request, and leaves it out of the answer.
        return {"request": request} if request.POST.get("grant_type") == JWT_BEARER else None

    def verify_request(self, request: Any, scopes: Any) -> tuple[bool, Any]:
        called = find_called(request)
        valid, found = super().verify_request(called, scopes)
        if valid and found.access_token is not None:
            try:
                found.user = ToolkitServer().admit(called, found.user, found.access_token)
            except AuthenticationFailed as exc:
                error = {"error": "invalid_token", "error_description": str(exc.detail)}
                found.oauth2_error = error
                return False, found
        return valid, found

    def extract_body(self, request: Any) -> Any:
        if "grant_type" not in request.POST:
            # The body of a view's request.
            return super().extract_body(request)
        # RFC 6749, section 3.1: a parameter without a value counts as left out.
        sent = [(name, value) for name, value in super().extract_body(request) if value]
        # One spelling: django-oauth-toolkit compares resources letter by letter.
        return [(n, find_resource(request, v) or v if n == "resource" else v) for n, v in sent]

    def create_token_response(self, request: Any) -> tuple[Any, dict[str, str], str, int]:
        # Refusals of a resource have no headers; RFC 6749 wants every error as JSON.
        url, headers, body, status = super().create_token_response(request)
        return url, {"Content-Type": "application/json", **headers}, body, status


class AgentValidator(OAuth2Validator):  # type: ignore[misc]
    """The rules of django-oauth-toolkit, and rules for clients that introduced themselves."""

    def validate_redirect_uri(self, client_id: str, redirect_uri: str, request: Any) -> bool:
        is_known = super().validate_redirect_uri(client_id, redirect_uri, request)
        return bool(is_known) and hides_code(redirect_uri)

    def validate_grant_type(self, client_id: str, grant: str, client: Any, request: Any) -> bool:
        """Return whether a client may use a grant: without a person, if the project added it."""
        model, known = get_application_model(), request.client
        if known.registration_source != model.RegistrationSource.MANUAL and grant not in OWN_GRANTS:
            return False
        if grant == JWT_BEARER:
            kind = known.client_type, known.authorization_grant_type
            return kind == (model.CLIENT_CONFIDENTIAL, model.GRANT_AUTHORIZATION_CODE)
        return bool(super().validate_grant_type(client_id, grant, client, request))

    def validate_scopes(
        self, client_id: str, scopes: Sequence[str], client: Any, request: Any
    ) -> bool:
        """Leave out scopes that nobody has (RFC 6749, section 3.3), and ask whether a client may
        have the others; `READ_ONLY` only by the consent page.
        """
        request.scopes = asked = find_known_scopes(scopes)
        if getattr(request, "reads_only", None) is True:
            asked = [scope for scope in asked if scope != READ_ONLY]
        is_left_out = bool(scopes) and not asked
        return not is_left_out and bool(super().validate_scopes(client_id, asked, client, request))

    def validate_code(self, client_id: str, code: str, client: Any, request: Any) -> bool:
        """Return whether a code is valid: once, and only while its user is active."""
        if super().validate_code(client_id, code, client, request):
            return not is_gone(request.user)
        # Another client does not end the tokens of this one.
        end_family(code, application=client)
        return False

    def invalidate_authorization_code(self, client_id: str, code: str, request: Any) -> None:
        try:
            super().invalidate_authorization_code(client_id, code, request)
        except InvalidGrantError:
            # Another request with the same code came first.
            end_family(code, application=request.client)
            raise

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Any) -> bool:
        """Return whether a token can be refreshed: only while its user is active."""
        is_good = super().validate_refresh_token(refresh_token, client, request)
        # Where no scope is known, the request is refused: without a scope it would get all.
        if is_good and (asked := find_known_scopes((request.scope or "").split())):
            # No client names it, and without it the tokens would get all tools.
            if READ_ONLY in self.get_original_scopes(refresh_token, request):
                asked.append(READ_ONLY)
            request.scope = " ".join(asked)
        return bool(is_good) and not is_gone(request.user)

    def get_linked_user(self, claims: Mapping[str, Any]) -> Any:
        """Return the user for whom a valid assertion of an identity provider is, None for nobody.

        Override it where the project keeps elsewhere who is who. An e-mail address is no key: the
        provider may give it to another person.
        """
        named = claims["iss"], claims["sub"]
        links = LinkedIdentity.objects.filter(issuer=named[0], subject=named[1])
        # Some databases find texts in another case too.
        found = (link for link in links.select_related("user"))
        return next((each.user for each in found if (each.issuer, each.subject) == named), None)

    def save_bearer_token(self, token: Any, request: Any) -> Any:
        """Save the tokens of a request.

        A refresh token that another request used first was copied: its connection ends.
        """
        known, model = getattr(request, "refresh_token_instance", None), get_refresh_token_model()
        # With a grace period, which the project sets, it may come again within that time.
        if known is None or oauth2_settings.REFRESH_TOKEN_GRACE_PERIOD_SECONDS:
            return super().save_bearer_token(token, request)
        with transaction.atomic(using=router.db_for_write(model)):
            # Requests at the same time have all found the token unused.
            row = model.objects.select_for_update().filter(pk=known.pk).first()
            if row is not None and row.revoked is None:
                return super().save_bearer_token(token, request)
        model.revoke_family(known.token_family)
        raise InvalidGrantError(request=request)

    def _create_refresh_token(self, request: Any, *args: Any) -> Any:
        made = super()._create_refresh_token(request, *args)
        if request.grant_type == "authorization_code":
            made.token_family = _find_family(request.code)
            made.save(update_fields=["token_family"])
        return made

    def _save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        super()._save_bearer_token(token, request, *args, **kwargs)
        # Some clients refuse tokens with a scope that they did not ask for.
        token["scope"] = " ".join(s for s in token["scope"].split() if s != READ_ONLY)

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        if stored_secret.startswith(HASHED):
            return constant_time_compare(hash_secret(provided_secret), stored_secret)
        return bool(super()._check_secret(provided_secret, stored_secret))


def find_known_scopes(scopes: Sequence[str]) -> list[str]:
    """Return the scopes that the project has, and `READ_ONLY`, each once."""
    known = {READ_ONLY, *get_scopes_backend().get_all_scopes()}
    return [scope for scope in dict.fromkeys(scopes) if scope in known]


def _find_family(code: str) -> UUID:
    # The family of the tokens that a code gave: the row of the code is deleted by its use.
    return UUID(bytes=hashlib.sha256(code.encode()).digest()[:16])


def end_family(code: str, **chosen: Any) -> None:
    """End the tokens of a code that was sent again (RFC 6749, section 4.1.2)."""
    family, model = _find_family(code), get_refresh_token_model()
    found = model.objects.filter(token_family=family, **chosen)
    with transaction.atomic(using=router.db_for_write(model)):
        # Locked in one order: else the database stops one of several requests.
        if list(found.select_for_update().order_by("pk")):
            model.revoke_family(family)


def hash_secret(secret: str) -> str:
    return f"{HASHED}{hashlib.sha256(secret.encode()).hexdigest()}"


def keep_hash_of_secret(sender: Any, instance: Any, raw: bool, **kwargs: Any) -> None:
    """Keep a fast hash of the secret of a client that introduced itself.

    The toolkit's hash for passwords takes a third of a second, which anybody could ask for. The
    secret is random, so a fast hash does not help to guess it.
    """
    is_manual = instance.registration_source == sender.RegistrationSource.MANUAL
    if instance._state.adding and not is_manual and not raw:
        instance.hash_client_secret = False
        instance.client_secret = hash_secret(instance.client_secret)
