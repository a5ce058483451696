"""What the lists remember of a caller: which tools the permissions of the views let through.

For the lists alone, and in the memory of one process. A call asks its permissions whatever is
remembered here.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections import OrderedDict
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connections, transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from rest_framework.request import Request

from drf_mcp.access.principals import get_tenant_key, get_user_key
from drf_mcp.settings import mcp_settings

# So many users are remembered, each with so many credentials, endpoints and sets of tools.
MOST_USERS = 1024
MOST_OF_USER = 32
Identity = tuple[Any, ...]


class Verdict:
    """Which tools of an `Audience` a caller sees, as far as their permissions were asked.

    Attributes:
        state: the tools that are known, and those of them that the caller sees: two numbers,
            written at once, so that no thread sees one without the other.
        expires: the end of its time, of the monotonic clock.
    """

    def __init__(self, expires: float = 0) -> None:
        self.state = (0, 0)
        self.expires = expires


class Verdicts:
    """The verdicts of this process, by user."""

    def __init__(self) -> None:
        self.users: OrderedDict[str, dict[Any, Verdict]] = OrderedDict()
        self.lock = threading.Lock()

    def find(self, identity: Identity, audience: Any) -> Verdict:
        """Return the verdict of a caller: one that is kept, or a new one, which will be."""
        follow_rights()
        kept, now = self.get_kept(identity[0]), time.monotonic()
        verdict = kept.get((identity, audience))
        if verdict is None or verdict.expires <= now:
            if len(kept) >= MOST_OF_USER:
                kept.clear()
            seconds = min(mcp_settings.LIST_CACHE_TTL, mcp_settings.LIST_TTL)
            verdict = kept[identity, audience] = Verdict(now + seconds)
        return verdict

    def get_kept(self, user: str) -> dict[Any, Verdict]:
        # What is found out while it is forgotten is written where nobody looks any more.
        with self.lock:
            kept = self.users.setdefault(user, {})
            self.users.move_to_end(user)
            if len(self.users) > MOST_USERS:
                self.users.popitem(last=False)
            return kept

    def forget(self, user: Any = None) -> None:
        with self.lock:
            if user is None:
                self.users.clear()
            else:
                self.users.pop(str(user.pk), None)


verdicts = Verdicts()


def forget_verdicts(user: Any = None, using: str | None = None) -> None:
    """Have the lists ask the permissions again that REST framework's own classes ask.

    Call it where rights change in a way that no signal of Django's tells: by
    ``QuerySet.update()``, or in a table of your own that a backend reads. It reaches the lists of
    this process; those of others ask again when LIST_CACHE_TTL is over.

    Args:
        user: whose rights changed; None for everybody's.
        using: the alias of the database where they did.
    """
    verdicts.forget(user)
    # Another thread may read the rights as they are before the commit.
    transaction.on_commit(functools.partial(verdicts.forget, user), using=using, robust=True)


def is_kept() -> bool:
    """Return whether verdicts are kept: not those of rights that may yet be rolled back."""
    return bool(mcp_settings.LIST_CACHE_TTL and mcp_settings.LIST_TTL) and is_committed()


def is_committed() -> bool:
    return not any(each.in_atomic_block for each in connections.all(initialized_only=True))


def find_identity(known: Request) -> Identity | None:
    """Return what tells a caller and the credential from all others, None if nothing does.

    The first member is the user's primary key as text, "" for nobody.

    Args:
        known: an authenticated request.
    """
    user, auth, request = known.user, known.auth, known._request
    key = get_user_key(user)
    if not key and user is not None and user.is_authenticated:
        return None
    headers, cookie = request.META, request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    credential = f"{headers.get('HTTP_AUTHORIZATION', '')}\n{cookie}"
    if isinstance(auth, Model) and auth.pk is not None:
        stands_for: Any = (type(auth), auth.pk)
    elif auth is None or len(credential) > 1:
        stands_for = None
    else:
        return None
    kind = type(known.successful_authenticator)
    return (
        key.partition(":")[2],
        key,
        kind,
        stands_for,
        hashlib.sha256(credential.encode()).digest() if len(credential) > 1 else b"",
        get_tenant_key(request),
        headers.get("HTTP_HOST"),
    )


# --- Signals ------------------------------------------------------------------------------------


@functools.cache
def follow_rights() -> None:
    # Not before the first list: no save costs anything in a process that lists nothing.
    user_model = get_user_model()
    for model in apps.get_models():
        if issubclass(model, user_model) or model._meta.app_label == "auth":
            post_save.connect(forget_at_row, sender=model, dispatch_uid=UID)
            post_delete.connect(forget_at_row, sender=model, dispatch_uid=UID)
            for field in model._meta.local_many_to_many:
                through = field.remote_field.through
                m2m_changed.connect(forget_at_membership, sender=through, dispatch_uid=UID)


def forget_at_row(sender: Any, instance: Any, **kwargs: Any) -> None:
    # Each sign-in saves its moment.
    if set(kwargs.get("update_fields") or ()) != {"last_login"}:
        user = instance if hasattr(instance, "is_authenticated") else None
        forget_verdicts(user, kwargs.get("using"))


def forget_at_membership(sender: Any, instance: Any, action: str, **kwargs: Any) -> None:
    if action.startswith("post_"):
        is_user = hasattr(instance, "is_authenticated") and not kwargs.get("reverse")
        forget_verdicts(instance if is_user else None, kwargs.get("using"))


UID = "drf_mcp.verdicts"
