"""A cache of which tools a caller sees, for ``tools/list``, in the memory of one process.

A call checks the permissions whatever is cached.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections import OrderedDict
from typing import Any, TypeAlias

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connections, transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from rest_framework.request import Request

from drf_mcp.access.scopes import get_tenant_key, get_user_key
from drf_mcp.settings import mcp_settings

MAX_USERS = 1024
# Of one user, who may have several credentials, endpoints and sets of tools.
MAX_ENTRIES = 32
DISPATCH_UID = "drf_mcp.visibility_cache"
Identity: TypeAlias = tuple[Any, ...]


class CachedVisibility:
    """Which tools of `ListedTools` a caller sees, as far as their permissions were checked.

    Attributes:
        state: the set of the checked tools and the set of those that the caller sees, as bits. Both
            are assigned at once, so that no thread reads one without the other.
        expires: the time by the monotonic clock.
    """

    def __init__(self, expires: float = 0) -> None:
        self.state = (0, 0)
        self.expires = expires


class VisibilityCache:
    def __init__(self) -> None:
        self.users: OrderedDict[str, dict[Any, CachedVisibility]] = OrderedDict()
        self.lock = threading.Lock()

    def find(self, identity: Identity, listed: Any) -> CachedVisibility:
        """Return the entry of a caller and `ListedTools`, a new one where there is none."""
        _connect_signals()
        now = time.monotonic()
        # A result that is found during `clear` is written into a dict that is no longer read.
        with self.lock:
            entries = self.users.setdefault(identity[0], {})
            self.users.move_to_end(identity[0])
            if len(self.users) > MAX_USERS:
                self.users.popitem(last=False)
        entry = entries.get((identity, listed))
        if entry is None or entry.expires <= now:
            if len(entries) >= MAX_ENTRIES:
                entries.clear()
            seconds = min(mcp_settings.LIST_CACHE_TTL, mcp_settings.LIST_TTL)
            entry = entries[identity, listed] = CachedVisibility(now + seconds)
        return entry

    def clear(self, user: Any = None) -> None:
        with self.lock:
            if user is None:
                self.users.clear()
            else:
                self.users.pop(str(user.pk), None)


visibility_cache = VisibilityCache()


def clear_visibility_cache(user: Any = None, using: str | None = None) -> None:
    """Have ``tools/list`` check REST framework's own permission classes again.

    Call it where rights change without a signal of Django: by ``QuerySet.update()``, or in a
    table of your own that a backend reads. It clears the cache of this process; other processes
    check again when LIST_CACHE_TTL is over.

    Args:
        user: the user whose rights changed; None for all users.
        using: the alias of the database in which they changed.
    """
    visibility_cache.clear(user)
    # Before the commit another thread still reads the old rights.
    transaction.on_commit(functools.partial(visibility_cache.clear, user), using=using, robust=True)


def can_cache() -> bool:
    """Return whether results may be cached: not in a transaction, which may be rolled back."""
    if not mcp_settings.LIST_CACHE_TTL or not mcp_settings.LIST_TTL:
        return False
    return is_committed()


def is_committed() -> bool:
    return not any(each.in_atomic_block for each in connections.all(initialized_only=True))


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


# --- Signals ------------------------------------------------------------------------------------


@functools.cache
def _connect_signals() -> None:
    # At the first list, so that saves cost nothing in a process that lists no tools.
    user_model = get_user_model()
    for model in apps.get_models():
        if issubclass(model, user_model) or model._meta.app_label == "auth":
            post_save.connect(_clear_for_row, sender=model, dispatch_uid=DISPATCH_UID)
            post_delete.connect(_clear_for_row, sender=model, dispatch_uid=DISPATCH_UID)
            for field in model._meta.local_many_to_many:
                through = field.remote_field.through
                m2m_changed.connect(_clear_for_relation, sender=through, dispatch_uid=DISPATCH_UID)


def _clear_for_row(sender: Any, instance: Any, **kwargs: Any) -> None:
    # Each login saves ``last_login``.
    if set(kwargs.get("update_fields") or ()) != {"last_login"}:
        user = instance if hasattr(instance, "is_authenticated") else None
        clear_visibility_cache(user, kwargs.get("using"))


def _clear_for_relation(sender: Any, instance: Any, action: str, **kwargs: Any) -> None:
    if action.startswith("post_"):
        is_user = hasattr(instance, "is_authenticated") and not kwargs.get("reverse")
        clear_visibility_cache(instance if is_user else None, kwargs.get("using"))
