"""The bus carries news between processes; functions and signals publish the news."""

from __future__ import annotations

import functools
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save

from drf_mcp.contrib.subscriptions.topics import (
    DELETED,
    EVERYTHING,
    row_topics,
    widen_topic,
    write_list_topic,
    write_topic,
)
from drf_mcp.settings import mcp_settings
from drf_mcp.signals import subject_changed

LISTS = ("tools", "prompts", "resources")
# PostgreSQL takes less than 8,000 bytes.
MAX_BYTES = 7_000
# Members whose clients alone hear of a change of a group.
MAX_MEMBERS = 50
OWN_APP = re.compile("drf_mcp(?:_|$)")
Subscriber: TypeAlias = Callable[[str], Any]
FindTopics: TypeAlias = Callable[[], Iterable[str]]


class Bus:
    """Carries texts to the processes where clients listen.

    SUBSCRIPTION_BUS_CLASS names a subclass.
    """

    def publish(self, text: str) -> None:
        """Send a text of at most 7,000 bytes to the subscribers of every process.

        It is called after the commit.
        """
        raise NotImplementedError(f"{type(self).__name__} must define publish().")

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Have a function called with each text, in any thread.

        Returns:
            A function that ends the subscription.
        """
        raise NotImplementedError(f"{type(self).__name__} must define subscribe().")

    def has_listeners(self) -> bool:
        """Return whether a client of any process may listen; without one nothing is published."""
        return True

    def wait(self) -> None:
        """Return when this process gets what others publish, or after some seconds.

        It is called before a client gets the confirmation that it listens.
        """


class LocalBus(Bus):
    """Reaches the subscribers of its own process: for one worker, and for development."""

    def __init__(self) -> None:
        self.subscribers: dict[object, Subscriber] = {}
        self.lock = threading.Lock()

    def publish(self, text: str) -> None:
        self.deliver(text)

    def has_listeners(self) -> bool:
        return bool(self.subscribers)

    def deliver(self, text: str) -> None:
        with self.lock:
            subscribers = list(self.subscribers.values())
        for callback in subscribers:
            callback(text)

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        key = object()
        with self.lock:
            self.subscribers[key] = callback

        def end() -> None:
            with self.lock:
                self.subscribers.pop(key, None)

        return end


@functools.lru_cache(maxsize=1)
def get_bus() -> Bus | None:
    """Return the bus of this process, None where subscriptions are off."""
    bus_class = mcp_settings.SUBSCRIPTION_BUS_CLASS
    return None if bus_class is None else bus_class()


def announce_list_change(*names: str, user: Any = None) -> None:
    """Notify clients that lists changed, after the commit.

    Args:
        names: of ``tools``, ``prompts`` and ``resources``; all by default.
        user: whose lists changed; None for the lists of all users.
    """
    key = None if user is None else user.pk
    publish(lambda: [write_list_topic(name, key) for name in names or LISTS])


def announce_update(subject: Any) -> None:
    """Notify clients that a resource was updated, after the commit.

    Saving and deleting an instance of a model notifies them already; ``QuerySet.update()`` does
    not.

    Args:
        subject: the URI of a resource that shows one row, or the row as an instance.
    """
    if isinstance(subject, str):
        publish(lambda: [write_topic("uri", subject)])
    else:
        publish(partial(row_topics.find, type(subject), dict(vars(subject))), subject._state.db)


class Notice:
    """What a write changed, published after the commit with all of its transaction.

    Args:
        find_topics: returns the topics, where a client listens.
    """

    # A savepoint that is rolled back deletes the last reference to its notices.
    waiting: ClassVar[WeakKeyDictionary[Any, WeakSet[Notice]]] = WeakKeyDictionary()

    def __init__(self, bus: Bus, connection: Any, find_topics: FindTopics) -> None:
        self.bus = bus
        self.connection = connection
        self.find_topics = find_topics
        self.waiting.setdefault(connection, WeakSet()).add(self)

    def publish(self) -> None:
        # The first notice of a transaction publishes the others.
        if self not in self.waiting.get(self.connection, ()):
            return
        notices = set(self.waiting.pop(self.connection))
        if not self.bus.has_listeners():
            return
        if topics := {topic for notice in notices for topic in notice.find_topics()}:
            self.bus.publish(write_text(topics))


def write_text(topics: set[str]) -> str:
    """Return the text of topics, of wider ones where it would be too long."""
    text = json.dumps(sorted(topics))
    if len(text) > MAX_BYTES:
        text = json.dumps(sorted(set(map(widen_topic, topics))))
    return text if len(text) <= MAX_BYTES else json.dumps([EVERYTHING])


def publish(find_topics: FindTopics, using: str | None = None) -> None:
    bus = get_bus()
    if bus is None:
        return
    connection = transaction.get_connection(using)
    if connection.in_atomic_block or bus.has_listeners():
        notice = Notice(bus, connection, find_topics)
        transaction.on_commit(notice.publish, using=using, robust=True)


# --- Signals --------------------------------------------------------------------------------


def announce_row(sender: Any, instance: Model, using: str | None = None, **kwargs: Any) -> None:
    # Reading a resource for a client writes to the package's own tables.
    if kwargs.get("raw") or OWN_APP.match(sender._meta.app_label):
        return
    is_deleted = "created" not in kwargs
    # A new user has no listener yet, and each sign-in saves ``last_login``.
    is_user = hasattr(instance, "is_authenticated") and not kwargs.get("created")
    is_user = is_user and set(kwargs.get("update_fields") or ("all",)) != {"last_login"}
    # Whose rights end with it is known no more.
    is_right = is_deleted and sender._meta.label_lower in ("auth.group", "auth.permission")
    # The instance may have other values before the commit.
    key, values = instance.pk, dict(vars(instance))

    def find_topics() -> Iterable[str]:
        topics = row_topics.find(sender, values)
        yield from (DELETED + topic for topic in topics) if is_deleted else topics
        if is_user or is_right:
            yield from write_list_topics(None if is_right else [key])

    publish(find_topics, using)


def announce_rights(
    sender: Any,
    instance: Model,
    action: str,
    reverse: bool,
    pk_set: set[Any] | None,
    using: str | None = None,
    **kwargs: Any,
) -> None:
    owner = find_rights_owners().get(sender)
    # Who had what was cleared from the other end is known no more.
    keys = pk_set if reverse else {instance.pk}
    if owner is None or not action.startswith("post_") or pk_set == set():
        return

    def find_topics() -> Iterable[str]:
        is_users = keys is None or issubclass(owner, get_user_model())
        return write_list_topics(keys if is_users else find_group_members(keys or (), using))

    publish(find_topics, using)


@functools.lru_cache(maxsize=1)
def find_rights_owners() -> Mapping[Any, type[Model]]:
    """Return the tables of rights, and whose rights they hold: those of users, or of groups."""
    if not apps.is_installed("django.contrib.auth"):
        return {}
    user, group = get_user_model(), apps.get_model("auth", "Group")
    relations = [(user, "groups"), (user, "user_permissions"), (group, "permissions")]
    # A user model of the project's own may have none of them.
    return {getattr(m, name).through: m for m, name in relations if hasattr(user, "groups")}


def find_group_members(groups: Iterable[Any], using: str | None) -> set[Any] | None:
    """Return the keys of the members of groups, None where they are many."""
    members = get_user_model()._base_manager.using(using).filter(groups__in=groups)
    found = set(members.values_list("pk", flat=True).distinct()[: MAX_MEMBERS + 1])
    return found if len(found) <= MAX_MEMBERS else None


def write_list_topics(users: Iterable[Any] | None) -> Iterable[str]:
    """Return the topics of the lists of some users, None for all users."""
    keys = [None] if users is None else users
    return [write_list_topic(name, key) for key in keys for name in LISTS]


def announce_subject(
    sender: Any, kind: str, key: str, using: str | None = None, **kwargs: Any
) -> None:
    publish(lambda: [write_topic(kind, key)], using)


RECEIVERS = (
    (post_save, announce_row),
    (post_delete, announce_row),
    (m2m_changed, announce_rights),
    (subject_changed, announce_subject),
)


def follow_settings(*, setting: str = "DRF_MCP", **kwargs: Any) -> None:
    """Connect the signals of models where SUBSCRIPTION_BUS_CLASS is set."""
    if setting != "DRF_MCP":
        return
    get_bus.cache_clear()
    project = getattr(settings, "DRF_MCP", {})
    # Wrong values are reported elsewhere.
    is_on = isinstance(project, dict) and bool(project.get("SUBSCRIPTION_BUS_CLASS"))
    for signal, receiver in RECEIVERS:
        connect = signal.connect if is_on else signal.disconnect
        connect(receiver, dispatch_uid=f"drf_mcp.{receiver.__name__}")


setting_changed.connect(follow_settings)
