"""The scopes of tokens, the scopes that permissions require, and the rights of a caller as text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import AND, NOT, OR, BasePermission

# Attributes or claims of a token that hold its scopes, the first that is there counts.
NAMES = ("scope", "scopes", "scp")
OPERANDS = attrgetter("op1", "op2")


class ScopeDenied(PermissionDenied):
    """The token is valid, and lacks these scopes."""

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(scopes)
        super().__init__(describe_scopes(self.scopes), "insufficient_scope")


def describe_scopes(scopes: Iterable[str]) -> str:
    facts = {"scopes": " ".join(scopes)}
    return _("The token lacks a scope. This call needs: %(scopes)s.") % facts


def read_scopes(value: Any) -> tuple[str, ...]:
    # A text as OAuth has it, or any collection of names.
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(map(str, value)) if isinstance(value, Iterable) else ()


def get_granted_scopes(auth: Any) -> tuple[str, ...] | None:
    """Return the scopes of ``request.auth``; None for a credential without scopes."""
    # djangorestframework-simplejwt keeps the claims in ``payload``.
    auth = getattr(auth, "payload", auth)
    for name in NAMES:
        value = auth.get(name) if isinstance(auth, Mapping) else getattr(auth, name, None)
        if value is not None:
            return read_scopes(value)
    return None


def has_scopes(auth: Any, scopes: Sequence[str]) -> bool:
    # The token's own method knows which scopes include others.
    allow_scopes = getattr(auth, "allow_scopes", None)
    if callable(allow_scopes):
        return bool(allow_scopes(scopes))
    return set(scopes) <= set(get_granted_scopes(auth) or ())


class HasScopes(BasePermission):
    """Admits tokens that have the scopes in ``required_scopes`` of the permission or the view.

    For any ``request.auth`` that has scopes: that of `drf_mcp.access.jwt.JWTAuthentication`, of
    django-oauth-toolkit, or a mapping of claims. Over HTTP and in tools alike.

    Attributes:
        required_scopes: the scopes, or the scopes by HTTP method; a method that is left out is
            refused. None for those of the view.
    """

    required_scopes: Sequence[str] | Mapping[str, Sequence[str]] | None = None

    def get_scopes(self, request: Any, view: Any) -> Sequence[str] | None:
        """Return the scopes that a request needs; None for a method that is refused."""
        own = self.required_scopes
        wanted = getattr(view, "required_scopes", None) if own is None else own
        if wanted is None:
            raise ImproperlyConfigured(
                f"{type(self).__name__} needs required_scopes, its own or those of "
                f"{type(view).__name__}."
            )
        if isinstance(wanted, Mapping):
            wanted = wanted.get("GET" if request.method == "HEAD" else request.method)
        return None if wanted is None else read_scopes(wanted)

    def has_permission(self, request: Any, view: Any) -> bool:
        scopes = self.get_scopes(request, view)
        return scopes is not None and request.auth is not None and has_scopes(request.auth, scopes)


class MissingScopes:
    """Finds out whether a request was refused because its token lacks scopes.

    That is so if every permission that refuses the request would admit a token with more scopes.
    """

    def __init__(self, view: Any, request: Any, permissions: Sequence[Any]) -> None:
        self.view = view
        self.request = request
        self.permissions = permissions
        self.granted = frozenset(get_granted_scopes(request.auth) or ())

    def find(self) -> tuple[str, ...]:
        """Return all scopes that the request needs, () if it was refused for another reason."""
        if get_granted_scopes(self.request.auth) is None:
            return ()
        if not any(self.get_missing(self.get_wanted(leaf)) for leaf in self.leaves):
            return ()
        needed = self.join(map(self.get_needed, self.permissions))
        return needed if needed and self.get_missing(needed) else ()

    def get_needed(self, permission: Any) -> tuple[str, ...] | None:
        """Return the scopes with which a permission admits the request, None if it never does."""
        if isinstance(permission, AND):
            return self.join(map(self.get_needed, OPERANDS(permission)))
        if isinstance(permission, OR):
            ways = map(self.get_needed, OPERANDS(permission))
            return min((way for way in ways if way is not None), key=self.count, default=None)
        wanted = self.get_wanted(permission)
        if permission.has_permission(self.request, self.view):
            return wanted
        return wanted if self.get_missing(wanted) else None

    def get_wanted(self, permission: Any) -> tuple[str, ...]:
        """Return the scopes that a permission, not a composed one, declares."""
        if alternatives := getattr(permission, "get_required_alternate_scopes", None):
            ways = alternatives(self.request, self.view).get(self.request.method, ())
            return min(map(read_scopes, ways), key=self.count, default=())
        if get_scopes := getattr(permission, "get_scopes", None):
            return read_scopes(get_scopes(self.request, self.view))
        own = getattr(permission, "required_scopes", None)
        if own is None and self.is_reading_the_view(permission):
            own = getattr(self.view, "required_scopes", None)
        return read_scopes(own)

    def is_reading_the_view(self, permission: Any) -> bool:
        # A permission of the project, unless another one can be what ``required_scopes`` is for.
        if isinstance(permission, NOT) or type(permission).__module__.startswith("rest_framework."):
            return False
        return not any(hasattr(other, "get_scopes") for other in self.leaves)

    @property
    def leaves(self) -> list[Any]:
        found, open_ones = [], list(self.permissions)
        while open_ones:
            permission = open_ones.pop(0)
            if isinstance(permission, (AND, OR)):
                open_ones += OPERANDS(permission)
            else:
                found.append(permission)
        return found

    def get_missing(self, scopes: Iterable[str]) -> set[str]:
        return set(scopes) - self.granted

    def count(self, scopes: Sequence[str]) -> int:
        return len(self.get_missing(scopes))

    def join(self, parts: Iterable[tuple[str, ...] | None]) -> tuple[str, ...] | None:
        joined: list[str] = []
        for part in parts:
            if part is None:
                return None
            joined += part
        return tuple(dict.fromkeys(joined))


USER_FLAGS = ("is_active", "is_staff", "is_superuser")


def is_gone(user: Any) -> bool:
    """Return whether ``is_active`` of a user is false: no credential makes such a user a caller."""
    if getattr(user, "is_active", True):
        return False
    return bool(getattr(user, "is_authenticated", True))


def get_principal(user: Any, request: Any) -> str:
    """Return a key of a user within the tenant of the request, "" for an anonymous user."""
    key = get_user_key(user)
    tenant = get_tenant_key(request) if key else ""
    return f"{tenant}/{key}" if tenant else key


def get_caller_key(user: Any, auth: Any, request: Any) -> str:
    """Return a key of an authenticated caller, "" for an anonymous one."""
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
