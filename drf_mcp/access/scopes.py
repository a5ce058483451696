"""The scopes of tokens, the scopes that permissions need, and keys of callers and their rights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import AND, NOT, OR, BasePermission

from drf_mcp.json_text import hash_json

# Attributes or claims of a token with its scopes; the first one counts.
NAMES = ("scope", "scopes", "scp")
OPERANDS = attrgetter("op1", "op2")


class ScopeDenied(PermissionDenied):
    """The caller's token lacks a scope."""

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(scopes)
        super().__init__(describe_scopes(self.scopes), "insufficient_scope")


def describe_scopes(scopes: Iterable[str]) -> str:
    return f"The token lacks a scope. This call needs: {' '.join(scopes)}."


def _read_scopes(value: Any) -> tuple[str, ...]:
    # Names separated by spaces, as in OAuth, or a collection of names.
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(map(str, value)) if isinstance(value, Iterable) else ()


def find_granted_scopes(auth: Any) -> tuple[str, ...] | None:
    """Return the scopes of ``request.auth``; None for a credential without scopes."""
    # djangorestframework-simplejwt keeps the claims in ``payload``.
    auth = getattr(auth, "payload", auth)
    for name in NAMES:
        value = auth.get(name) if isinstance(auth, Mapping) else getattr(auth, name, None)
        if value is not None:
            return _read_scopes(value)
    return None


def has_scopes(auth: Any, scopes: Sequence[str]) -> bool:
    # A method of the token knows which scopes include others.
    allow_scopes = getattr(auth, "allow_scopes", None)
    if callable(allow_scopes):
        return bool(allow_scopes(scopes))
    return set(scopes) <= set(find_granted_scopes(auth) or ())


class HasScopes(BasePermission):
    """Admits tokens that have the scopes in ``required_scopes`` of the permission or the view.

    For any ``request.auth`` that has scopes: from `drf_mcp.access.jwt.JWTAuthentication`, from
    django-oauth-toolkit, or a mapping of claims. Over HTTP and in tools alike.

    Attributes:
        required_scopes: the scopes, or the scopes by HTTP method; a method that is left out is
            refused. None for the view's.
    """

    required_scopes: Sequence[str] | Mapping[str, Sequence[str]] | None = None

    def get_scopes(self, request: Any, view: Any) -> Sequence[str] | None:
        """Return the scopes that a request needs; None for a method that is refused."""
        own = self.required_scopes
        wanted = getattr(view, "required_scopes", None) if own is None else own
        if wanted is None:
            raise ImproperlyConfigured(
                f"{type(self).__name__} needs required_scopes of its own, or of "
                f"{type(view).__name__}."
            )
        if isinstance(wanted, Mapping):
            wanted = wanted.get("GET" if request.method == "HEAD" else request.method)
        return None if wanted is None else _read_scopes(wanted)

    def has_permission(self, request: Any, view: Any) -> bool:
        scopes = self.get_scopes(request, view)
        return scopes is not None and request.auth is not None and has_scopes(request.auth, scopes)


def find_missing_scopes(view: Any, request: Any, permissions: Sequence[Any]) -> tuple[str, ...]:
    """Return all scopes that a refused request needs, () where scopes are not the reason.

    Scopes are the reason if every permission that refuses the request would admit a token with
    more scopes.
    """
    if find_granted_scopes(request.auth) is None:
        return ()
    granted = frozenset(find_granted_scopes(request.auth) or ())
    leaves, unread = [], list(permissions)
    while unread:
        permission = unread.pop(0)
        if isinstance(permission, (AND, OR)):
            unread += OPERANDS(permission)
        else:
            leaves.append(permission)
    reads_scopes = any(hasattr(leaf, "get_scopes") for leaf in leaves)

    def count(scopes: Iterable[str]) -> int:
        return len(set(scopes) - granted)

    def get_wanted(permission: Any) -> tuple[str, ...]:
        # The scopes that a single permission declares.
        if alternatives := getattr(permission, "get_required_alternate_scopes", None):
            ways = alternatives(request, view).get(request.method, ())
            return min(map(_read_scopes, ways), key=count, default=())
        if get_scopes := getattr(permission, "get_scopes", None):
            return _read_scopes(get_scopes(request, view))
        own = getattr(permission, "required_scopes", None)
        is_stock = type(permission).__module__.startswith("rest_framework.")
        # A permission of the project may read the scopes of the view, unless another one does.
        if own is None and not (isinstance(permission, NOT) or is_stock or reads_scopes):
            own = getattr(view, "required_scopes", None)
        return _read_scopes(own)

    def get_needed(permission: Any) -> tuple[str, ...] | None:
        # The scopes with which a permission admits the request, None if none would help.
        if isinstance(permission, AND):
            return join(map(get_needed, OPERANDS(permission)))
        if isinstance(permission, OR):
            ways = map(get_needed, OPERANDS(permission))
            return min((way for way in ways if way is not None), key=count, default=None)
        wanted = get_wanted(permission)
        return wanted if permission.has_permission(request, view) or count(wanted) else None

    def join(parts: Iterable[tuple[str, ...] | None]) -> tuple[str, ...] | None:
        joined: dict[str, None] = {}
        for part in parts:
            if part is None:
                return None
            joined.update(dict.fromkeys(part))
        return tuple(joined)

    if not any(count(get_wanted(leaf)) for leaf in leaves):
        return ()
    needed = join(map(get_needed, permissions))
    return needed if needed and count(needed) else ()


USER_FLAGS = ("is_active", "is_staff", "is_superuser")


def is_gone(user: Any) -> bool:
    """Return whether ``is_active`` of a user is false: no credential admits such a user."""
    if getattr(user, "is_active", True):
        return False
    return bool(getattr(user, "is_authenticated", True))


def find_principal(user: Any, request: Any) -> str:
    """Return a key of a user within the tenant of the request, "" for an anonymous user."""
    key = make_user_key(user)
    tenant = find_tenant_key(request) if key else ""
    return f"{tenant}/{key}" if tenant else key


def make_caller_key(user: Any, auth: Any, request: Any) -> str:
    """Return a key of an authenticated caller, "" for an anonymous one."""
    # A worker that runs a caller's task does not have the credential.
    if known := getattr(request, "mcp_principal", None):
        return known  # type: ignore[no-any-return]
    return find_principal(user, request) or make_machine_key(user, auth, request)


def make_machine_key(user: Any, auth: Any, request: Any) -> str:
    """Return a key of a credential without a user, "" where there is a user or no credential."""
    scheme, _space, credential = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if auth is None or not credential.strip() or make_user_key(user):
        return ""
    # Other spaces make no other caller.
    return hashlib.sha256(f"{scheme.lower()} {credential.strip()}".encode()).hexdigest()


def make_user_key(user: Any) -> str:
    """Return the model and the primary key of a user, "" for an anonymous one."""
    if user is None or not user.is_authenticated:
        return ""
    key = getattr(user, "pk", None)
    model = getattr(user, "_meta", None)
    # Not `type`: the user may be one of Django's lazy objects.
    kind = user.__class__
    label = model.concrete_model._meta.label if model else f"{kind.__module__}.{kind.__qualname__}"
    return "" if key is None else f"{label}:{key}"


def find_tenant_key(request: Any) -> str:
    """Return the tenant that middleware set on the request, "" without one."""
    tenant = getattr(request, "tenant", None)
    if tenant is None:
        return ""
    return str(getattr(tenant, "pk", None) or getattr(tenant, "schema_name", tenant))


def get_rights_fingerprint(request: Any, own: Any = None) -> str:
    """Return a hash of the rights of an authenticated request.

    The rights are the user's flags, groups and permissions, the credential's scopes and narrowing,
    and the tenant. A stored answer is not sent again to a caller whose rights have changed.
    """
    user, auth = request.user, request.auth
    narrowing = getattr(auth, "narrowing", None)
    groups: Any = getattr(user, "groups", None)
    find_permissions: Any = None
    has_groups = getattr(user, "pk", None) is not None and hasattr(groups, "values_list")
    # The flag of a superuser says that they have all permissions.
    if user is not None and user.is_authenticated and not getattr(user, "is_superuser", False):
        find_permissions = getattr(user, "get_all_permissions", None)
    rights = {
        "user": make_user_key(user),
        "flags": [bool(getattr(user, name, False)) for name in USER_FLAGS],
        "groups": sorted(map(str, groups.values_list("pk", flat=True))) if has_groups else [],
        "permissions": sorted(map(str, find_permissions())) if find_permissions else [],
        "scopes": sorted(find_granted_scopes(auth) or ()),
        "narrowing": narrowing and [sorted(narrowing.tools or ()), narrowing.read_only],
        "tenant": find_tenant_key(getattr(request, "_request", request)),
        "own": own,
    }
    return hash_json(rights)


def ask_view_for_rights(view: Any, request: Any) -> Any:
    """Return what the view's own `get_rights_fingerprint` says, None without one."""
    own = getattr(view, "get_rights_fingerprint", None)
    return own(request) if own else None
