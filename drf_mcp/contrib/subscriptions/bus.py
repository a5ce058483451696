"""The bus carries news between processes; functions and signals publish the news."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.utils.crypto import get_random_string, salted_hmac

from drf_mcp.dispatch.failures import close_idle_connections
from drf_mcp.exceptions import attempt
from drf_mcp.features import mcp_settings
from drf_mcp.signals import subject_changed

logger = logging.getLogger("drf_mcp")

LISTS = ("tools", "prompts", "resources")
# How late a listener may hear, and how long news are kept for a slow process.
POLL_SECONDS, KEPT_SECONDS = 1.0, 300
LISTENING, LISTENING_SECONDS = "drf_mcp:listening", 5
# A random text that stays until the cache is emptied.
ERA = "drf_mcp:era"
# The first character of the news that a row was deleted.
DELETED = "-"
Subject: TypeAlias = tuple[str, ...]
"""What news are about, such as ``("list", "tools", "*")`` or ``("row", "shop.order", "7")``."""
Hear: TypeAlias = Callable[[Mapping[str, str]], Any]


def sign_subject(subject: Subject) -> str:
    """Return the key of a subject in the cache, which has no value of a row."""
    text = "\x1f".join(subject)
    signature = salted_hmac("drf_mcp.contrib.subscriptions", text, algorithm="sha256").hexdigest()
    return f"drf_mcp:news:{signature[:32]}"


class Bus:
    """Carries what changed to the processes where clients listen, through a cache that they share.

    A change writes a random text to the key of its subject. A process with listeners reads the
    keys of their subjects once a second.
    """

    def __init__(self, alias: str) -> None:
        self.alias = alias
        # The keys that each listener reads, with the texts that it has heard.
        self.listeners: dict[Hear, dict[str, str]] = {}
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.era: str | None = None
        # Whether a client of another process listens, and until when that is known.
        self.known: tuple[bool, float] = (False, 0.0)

    @property
    def cache(self) -> Any:
        return caches[self.alias]

    def publish(self, subjects: Iterable[Subject], mark: str = "") -> None:
        text = mark + get_random_string(16)
        self.cache.set_many(dict.fromkeys(map(sign_subject, subjects), text), KEPT_SECONDS)

    def has_listeners(self) -> bool:
        """Return whether a client of any process listens, at most a second late."""
        found, until = self.known
        if not self.listeners and until < time.monotonic():
            found = bool(self.cache.get(LISTENING))
            self.known = found, time.monotonic() + POLL_SECONDS
        return found or bool(self.listeners)

    def subscribe(self, keys: Iterable[str], hear: Hear) -> None:
        """Call a function, in another thread, with the new texts of keys."""
        known: Any = attempt(lambda: self.cache.get_many(keys), otherwise=lambda exc: {})
        with self.lock:
            self.listeners[hear] = dict.fromkeys(keys, "") | known
            if self.thread is None or not self.thread.is_alive():
                self.era = None
                self.thread = threading.Thread(target=self.poll, daemon=True)
                self.thread.start()

    def unsubscribe(self, hear: Hear) -> None:
        with self.lock:
            self.listeners.pop(hear, None)

    def poll(self) -> None:
        while True:
            with self.lock:
                if not self.listeners:
                    self.thread = None
                    return
                listeners = dict(self.listeners)
            attempt(lambda: self.read(listeners), otherwise=self._fall_behind)  # noqa: B023
            close_idle_connections()
            time.sleep(POLL_SECONDS)

    def read(self, listeners: Mapping[Hear, dict[str, str]]) -> None:
        self.cache.set(LISTENING, True, LISTENING_SECONDS)
        era = self.cache.get_or_set(ERA, get_random_string(16), None)
        # After a gap everything may have changed.
        is_behind, self.era = self.era not in (None, era), era
        found = self.cache.get_many({key for heard in listeners.values() for key in heard})
        for hear, heard in listeners.items():
            news = {key: found[key] for key in heard.keys() & found.keys()}
            news = {key: text for key, text in news.items() if text != heard[key]}
            heard.update(news)
            if is_behind:
                news = dict.fromkeys(heard, "") | news
            if news:
                hear(news)

    def _fall_behind(self, exc: Exception) -> None:
        logger.warning("The cache of subscriptions cannot be read: %s", exc)
        self.era = ""


@functools.lru_cache(maxsize=1)
def find_bus() -> Bus | None:
    """Return the bus of this process, None where no cache is shared by processes."""
    if not apps.is_installed("drf_mcp.contrib.subscriptions"):
        return None
    try:
        alias = mcp_settings.SUBSCRIPTION_CACHE
    except ImproperlyConfigured:
        # A check reports wrong settings; the start of the project does not end at them.
        return None
    return None if isinstance(caches[alias], (DummyCache, LocMemCache)) else Bus(alias)


# --- Publishing -----------------------------------------------------------------------------


def announce_list_change(*names: str, user: Any = None) -> None:
    """Notify clients that lists changed, after the commit.

    Args:
        names: of ``tools``, ``prompts`` and ``resources``; all by default.
        user: whose lists changed; None for the lists of all users.
    """
    publish(list_subjects(None if user is None else [user.pk], names or LISTS))


def announce_update(subject: Any) -> None:
    """Notify clients that a resource was updated, after the commit.

    Saving and deleting an instance of a model notifies them already; ``QuerySet.update()`` does
    not.

    Args:
        subject: the URI of a resource that shows one row, or the row as an instance.
    """
    if isinstance(subject, str):
        publish([("uri", subject)])
    else:
        publish(_row_subjects(subject), subject._state.db)


def publish(subjects: Iterable[Subject], using: str | None = None, mark: str = "") -> None:
    if (bus := find_bus()) is None:
        return
    # The instance may have another key after the commit.
    found = list(subjects)

    def send() -> None:
        if bus.has_listeners():
            bus.publish(found, mark)

    transaction.on_commit(send, using=using, robust=True)


def list_subjects(
    user_pks: Iterable[Any] | None, names: Iterable[str] = LISTS
) -> Iterator[Subject]:
    """Yield the lists of some users, None for all users."""
    keys = ["*"] if user_pks is None else list(map(str, user_pks))
    return (("list", name, key) for key in keys for name in names)


def _row_subjects(instance: Model) -> Iterator[Subject]:
    model: Any = instance._meta.concrete_model
    for each in (model, *model._meta.get_parent_list()):
        yield row_subject(each, vars(instance).get(each._meta.pk.attname))


def row_subject(model: Any, key: Any) -> Subject:
    # An instance that was made from text may have "7" for 7.
    with suppress(ValidationError):
        key = model._meta.pk.to_python(key)
    return "row", model._meta.label_lower, str(key)


# --- Signals --------------------------------------------------------------------------------


def _announce_row(sender: Any, instance: Model, using: str | None = None, **kwargs: Any) -> None:
    # Reading a resource for a client writes to the package's own tables.
    if kwargs.get("raw") or sender._meta.app_label.startswith("drf_mcp"):
        return
    is_deleted = "created" not in kwargs
    publish(_row_subjects(instance), using, DELETED if is_deleted else "")
    # A new user listens to nothing yet, and each sign-in saves ``last_login``.
    is_user = hasattr(instance, "is_authenticated") and not kwargs.get("created")
    if is_deleted and sender._meta.label_lower in ("auth.group", "auth.permission"):
        # Whose rights end with a deleted row is not known.
        publish(list_subjects(None), using)
    elif is_user and set(kwargs.get("update_fields") or ("all",)) != {"last_login"}:
        publish(list_subjects([instance.pk]), using)


def announce_rights(
    sender: Any,
    instance: Model,
    action: str,
    reverse: bool,
    pk_set: set[Any] | None,
    using: str | None = None,
    **kwargs: Any,
) -> None:
    is_users = _find_rights_tables().get(sender)
    if is_users is None or not action.startswith("post_") or pk_set == set():
        return
    # Who was in a group that changed or was cleared is not looked up.
    publish(list_subjects((pk_set if reverse else {instance.pk}) if is_users else None), using)


@functools.lru_cache(maxsize=1)
def _find_rights_tables() -> Mapping[Any, bool]:
    """Return the tables of rights: True for the rights of users, False for the rights of groups."""
    user: Any = get_user_model() if apps.is_installed("django.contrib.auth") else None
    # A user model of the project's own may have none of them.
    if not hasattr(user, "groups"):
        return {}
    group: Any = apps.get_model("auth", "Group")
    of_users = (user.groups.through, user.user_permissions.through)
    return {**dict.fromkeys(of_users, True), group.permissions.through: False}


def _announce_subject(
    sender: Any, kind: str, key: str, using: str | None = None, **kwargs: Any
) -> None:
    publish([(kind, key)], using)


def follow_models() -> None:
    # Without a bus nothing is connected: Django deletes rows one by one where a receiver is.
    is_on = find_bus() is not None
    for signal, receiver in (
        (post_save, _announce_row),
        (post_delete, _announce_row),
        (m2m_changed, announce_rights),
        (subject_changed, _announce_subject),
    ):
        connect = signal.connect if is_on else signal.disconnect
        connect(receiver, dispatch_uid=f"drf_mcp.{receiver.__name__}")


def _forget_bus(*, setting: str, **kwargs: Any) -> None:
    if setting in ("DRF_MCP", "CACHES", "INSTALLED_APPS"):
        find_bus.cache_clear()
        follow_models()


setting_changed.connect(_forget_bus)
