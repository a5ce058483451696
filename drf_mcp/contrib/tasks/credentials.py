"""References to the rows of a caller and of the credential, useless for signing in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from django.apps import apps
from django.db.models import CharField, Model
from django.utils.crypto import salted_hmac
from rest_framework.request import Request

from drf_mcp.access.scopes import is_gone

# Headers that identify the caller, or describe the body that they came with.
LEFT_OUT = re.compile(
    r"HTTP_(?:ACCEPT$|ACCEPT_ENCODING|CONNECTION|COOKIE|ORIGIN|REFERER|RANGE|SEC_FETCH|IF_"
    r"|TRANSFER_|CONTENT_|LAST_EVENT)|AUTH|TOKEN|SECRET|PASSW|SESSION|SIGNATURE|API_?KEY|CSRF"
    r"|CREDENTIAL|ASSERTION|JWT|OIDC"
)
KEPT = frozenset({"SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_METHOD", "REMOTE_ADDR"})
KEPT |= {"SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL"}


class CallerGone(Exception):
    """The caller or the credential is no longer valid."""


def keep_environ(request: Any) -> dict[str, str]:
    """Return what the request of a caller says besides its body and its credentials."""
    kept = {}
    for name, value in request.META.items():
        # Headers of MCP repeat members of the body, and are compared with it again.
        is_harmless = name.startswith("HTTP_MCP_") or not LEFT_OUT.search(name)
        is_header = name.startswith("HTTP_") and is_harmless
        if isinstance(value, str) and (name in KEPT or is_header):
            kept[name] = value
    # An ASGI server's own environment has none of these.
    protocol = {"SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": request._get_scheme()}
    return {**protocol, **kept}


@dataclass(frozen=True)
class Credential:
    """The rows of the user and of the credential, each by its model and its key.

    Attributes:
        user: ``[label, pk]``, None for an anonymous user.
        auth: the same of ``request.auth``, None if it is none. A key that is text may be the
            secret itself, as with REST framework's own tokens: then it is the hash of the key.
    """

    user: list[Any] | None
    auth: list[Any] | None

    @classmethod
    def of(cls, request: Request) -> Credential | None:
        """Return who sent an authenticated request, None where that cannot be looked up again."""
        user, auth = request.user, request.auth
        known = bool(user and user.is_authenticated)
        if (known and not is_row(user)) or (auth is not None and not is_row(auth)):
            return None
        made = cls(_make_reference(user, user.pk) if known else None, None)
        if auth is None:
            return made
        if not isinstance(auth.pk, str):
            return replace(made, auth=_make_reference(auth, auth.pk))
        hashed = replace(made, auth=_make_reference(auth, _hash_key(auth.pk)))
        return hashed if known and hashed.find_auth(user) == auth else None

    def put_on(self, request: Any) -> None:
        """Make the rows, as they are today, the user and the credential of a request.

        Raises:
            CallerGone: if one of them is missing or no longer valid.
        """
        user = None
        if self.user is not None:
            user = _look_up(*self.user)
            if user is None or is_gone(user):
                raise CallerGone()
            request._force_auth_user = user
        if self.auth is not None:
            auth = self.find_auth(user)
            find_fault = getattr(auth, "find_fault", None)
            if auth is None or (find_fault is not None and find_fault()):
                raise CallerGone()
            request._force_auth_token = auth

    def find_auth(self, user: Any) -> Any:
        assert self.auth is not None
        label, key = self.auth
        model = apps.get_model(label)
        if not isinstance(model._meta.pk, CharField):
            return _look_up(label, key)
        owners = [f for f in model._meta.fields if f.many_to_one or f.one_to_one]
        own = [f.name for f in owners if isinstance(user, f.related_model)]
        found = (row for name in own for row in model._base_manager.filter(**{name: user}))
        return next((row for row in found if _hash_key(row.pk) == key), None)


def is_row(value: Any) -> bool:
    # Not `type`: the user may be one of Django's lazy objects.
    return issubclass(value.__class__, Model) and value.pk is not None


def _make_reference(row: Any, key: Any) -> list[Any]:
    return [row._meta.concrete_model._meta.label, str(key)]


def _hash_key(key: str) -> str:
    return salted_hmac("drf_mcp.contrib.tasks.credentials", key, algorithm="sha256").hexdigest()


def _look_up(label: str, key: str) -> Any:
    return apps.get_model(label)._base_manager.filter(pk=key).first()
