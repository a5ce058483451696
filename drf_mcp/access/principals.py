"""Who somebody is, as text that can be kept or signed."""

from __future__ import annotations

import hashlib
from typing import Any


def is_gone(user: Any) -> bool:
    """Return whether a user is one whose ``is_active`` is false: by no credential a caller."""
    if getattr(user, "is_active", True):
        return False
    return bool(getattr(user, "is_authenticated", True))


def get_principal(user: Any, request: Any) -> str:
    """Return what tells a user from all others, within the tenant of the request.

    Args:
        user: who is calling.
        request: the request to the endpoint, whose ``tenant`` is that of middleware.

    Returns:
        "" for an anonymous user.
    """
    key = get_user_key(user)
    tenant = get_tenant_key(request) if key else ""
    return f"{tenant}/{key}" if tenant else key


def get_caller_key(user: Any, auth: Any, request: Any) -> str:
    """Return what tells an authenticated caller from all others, "" for anybody.

    Args:
        user: who is calling.
        auth: the credential that authentication found, None for none.
        request: Django's request.
    """
    if run := getattr(request, "mcp_task", None):
        # A worker has not the credential that told who called.
        return run.principal  # type: ignore[no-any-return]
    key = get_principal(user, request)
    credential = request.META.get("HTTP_AUTHORIZATION", "")
    if key or auth is None or not credential:
        return key
    # A machine's credential stands for no user.
    return hashlib.sha256(credential.encode()).hexdigest()


def get_user_key(user: Any) -> str:
    # The class and the primary key.
    if user is None or not user.is_authenticated:
        return ""
    key = getattr(user, "pk", None)
    model = getattr(user, "_meta", None)
    # Not `type`: the user may be one of Django's lazy objects.
    kind = user.__class__
    label = model.concrete_model._meta.label if model else f"{kind.__module__}.{kind.__qualname__}"
    return "" if key is None else f"{label}:{key}"


def get_tenant_key(request: Any) -> str:
    # As middleware put it on the request.
    tenant = getattr(request, "tenant", None)
    if tenant is None:
        return ""
    return str(getattr(tenant, "pk", None) or getattr(tenant, "schema_name", tenant))
