"""Callers and their rights as text that can be stored or signed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from drf_mcp.access.scopes import get_granted_scopes

USER_FLAGS = ("is_active", "is_staff", "is_superuser")


def is_gone(user: Any) -> bool:
    """Return whether ``is_active`` of a user is false: no credential makes such a user a caller."""
    if getattr(user, "is_active", True):
        return False
    return bool(getattr(user, "is_authenticated", True))


def get_principal(user: Any, request: Any) -> str:
    """Return a key of a user within the tenant of the request, "" for an anonymous user.

    Args:
        user: who is calling.
        request: the request to the endpoint, on which middleware may have set ``tenant``.
    """
    key = get_user_key(user)
    tenant = get_tenant_key(request) if key else ""
    return f"{tenant}/{key}" if tenant else key


def get_caller_key(user: Any, auth: Any, request: Any) -> str:
    """Return a key of an authenticated caller, "" for an anonymous one.

    Args:
        user: who is calling.
        auth: the credential that authentication found, None for none.
        request: Django's request.
    """
    # A worker that makes the call of a caller again does not have the credential.
    if known := getattr(request, "mcp_principal", None):
        return known  # type: ignore[no-any-return]
    key = get_principal(user, request)
    credential = request.META.get("HTTP_AUTHORIZATION", "")
    if key or auth is None or not credential:
        return key
    # The credential of a machine has no user.
    return hashlib.sha256(credential.encode()).hexdigest()


def get_user_key(user: Any) -> str:
    """Return the model and the primary key of a user, "" for an anonymous one."""
    if user is None or not user.is_authenticated:
        return ""
    key = getattr(user, "pk", None)
    model = getattr(user, "_meta", None)
    # Not `type`: the user may be one of Django's lazy objects.
    kind = user.__class__
    label = model.concrete_model._meta.label if model else f"{kind.__module__}.{kind.__qualname__}"
    return "" if key is None else f"{label}:{key}"


def get_tenant_key(request: Any) -> str:
    """Return the tenant that middleware set on the request, "" without one."""
    tenant = getattr(request, "tenant", None)
    if tenant is None:
        return ""
    return str(getattr(tenant, "pk", None) or getattr(tenant, "schema_name", tenant))


def get_rights_fingerprint(request: Any, own: Any = None) -> str:
    """Return a hash of the rights of an authenticated request.

    The rights are the user's flags, groups and permissions, the credential's scopes and narrowing,
    and the tenant. A stored answer is not sent again to a caller whose rights have changed.

    Args:
        request: REST framework's request.
        own: what the view adds, see `ask_view_for_rights`.
    """
    user, auth = request.user, request.auth
    narrowing = getattr(auth, "narrowing", None)
    rights = {
        "user": get_user_key(user),
        "flags": [bool(getattr(user, name, False)) for name in USER_FLAGS],
        "groups": _find_groups(user),
        "permissions": _find_permissions(user),
        "scopes": sorted(get_granted_scopes(auth) or ()),
        "narrowing": narrowing and [sorted(narrowing.tools or ()), narrowing.read_only],
        "tenant": get_tenant_key(getattr(request, "_request", request)),
        "own": own,
    }
    text = json.dumps(rights, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _find_groups(user: Any) -> list[str]:
    groups = getattr(user, "groups", None) if getattr(user, "pk", None) is not None else None
    find = getattr(groups, "values_list", None)
    return sorted(map(str, find("pk", flat=True))) if find else []


def _find_permissions(user: Any) -> list[str]:
    # The flag of a superuser says that they have all of them.
    find = getattr(user, "get_all_permissions", None)
    known = user is not None and user.is_authenticated and not getattr(user, "is_superuser", False)
    return sorted(map(str, find())) if find and known else []


def ask_view_for_rights(view: Any, request: Any) -> Any:
    """Return what ``view.get_rights_fingerprint(request)`` returns, None of a view without it."""
    own = getattr(view, "get_rights_fingerprint", None)
    return own(request) if own else None
