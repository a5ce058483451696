"""A key of a caller with a credential."""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

from django.conf import settings
from django.db.models import Model
from rest_framework.request import Request

from drf_mcp.access.scopes import get_tenant_key, get_user_key

Identity: TypeAlias = tuple[Any, ...]


def find_identity(known: Request) -> Identity | None:
    """Return a key of a caller with a credential, None where the caller has no key.

    The first member is the user's primary key as text, "" for an anonymous user.
    """
    user, auth, request = known.user, known.auth, known._request
    key = get_user_key(user)
    if not key and user is not None and user.is_authenticated:
        return None
    headers, cookie = request.META, request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    credential = f"{headers.get('HTTP_AUTHORIZATION', '')}\n{cookie}"
    if isinstance(auth, Model) and auth.pk is not None:
        auth_key: Any = (type(auth), auth.pk)
    elif auth is None or len(credential) > 1:
        auth_key = None
    else:
        return None
    return (
        key.partition(":")[2],
        key,
        type(known.successful_authenticator),
        auth_key,
        hashlib.sha256(credential.encode()).digest() if len(credential) > 1 else b"",
        get_tenant_key(request),
        headers.get("HTTP_HOST"),
    )
