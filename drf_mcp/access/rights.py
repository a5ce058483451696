"""The rights of a caller, as text that is kept with an answer."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from drf_mcp.access.principals import get_tenant_key, get_user_key
from drf_mcp.access.scopes import get_granted_scopes

FLAGS = ("is_active", "is_staff", "is_superuser")


def get_rights_fingerprint(request: Any, own: Any = None) -> str:
    """Return a hash of the rights of an authenticated request.

    They are the user's flags, groups and permissions, the credential's scopes and narrowing, and
    the tenant. An answer that was made under other rights is not given again.

    Args:
        request: REST framework's request.
        own: what the view adds, see `ask_view_for_rights`.
    """
    user, auth = request.user, request.auth
    narrowing = getattr(auth, "narrowing", None)
    rights = {
        "user": get_user_key(user),
        "flags": [bool(getattr(user, name, False)) for name in FLAGS],
        "groups": find_groups(user),
        "permissions": find_permissions(user),
        "scopes": sorted(get_granted_scopes(auth) or ()),
        "narrowing": narrowing and [sorted(narrowing.tools or ()), narrowing.read_only],
        "tenant": get_tenant_key(getattr(request, "_request", request)),
        "own": own,
    }
    text = json.dumps(rights, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def find_groups(user: Any) -> list[str]:
    groups = getattr(user, "groups", None) if getattr(user, "pk", None) is not None else None
    find = getattr(groups, "values_list", None)
    return sorted(map(str, find("pk", flat=True))) if find else []


def find_permissions(user: Any) -> list[str]:
    # A superuser has all of them, which the flag says.
    find = getattr(user, "get_all_permissions", None)
    known = user is not None and user.is_authenticated and not getattr(user, "is_superuser", False)
    return sorted(map(str, find())) if find and known else []


def ask_view_for_rights(view: Any, request: Any) -> Any:
    """Return what ``view.get_rights_fingerprint(request)`` returns, None of a view without it."""
    own = getattr(view, "get_rights_fingerprint", None)
    return own(request) if own else None
