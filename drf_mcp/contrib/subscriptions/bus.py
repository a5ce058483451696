"""The bus carries news between processes; functions and signals publish the news.

A topic says what news are about, in a text without values.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models import Field, Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.urls import URLResolver, get_resolver
from django.utils.crypto import salted_hmac

from drf_mcp.access.resources import FoundEndpoint, find_endpoint_patterns
from drf_mcp.dispatch.failures import close_idle_connections
from drf_mcp.exceptions import contain
from drf_mcp.settings import mcp_settings
from drf_mcp.signals import subject_changed

logger = logging.getLogger("drf_mcp")

LISTS = ("tools", "prompts", "resources")
# The topic of every list and every resource; and what precedes the topic of a row that is deleted.
EVERYTHING, DELETED = "*", "-"
MAX_BYTES = 7_000
# How long a listener may hear late, and how long texts are kept for a process that is slow.
POLL_SECONDS, KEPT_SECONDS = 1.0, 60
LAST, LISTENING = "drf_mcp:news", "drf_mcp:listening"
OWN_APP = re.compile("drf_mcp(?:_|$)")
Subscriber: TypeAlias = Callable[[str], Any]
FindTopics: TypeAlias = Callable[[], Iterable[str]]
# A model with a table of its own and one of its fields.
Column: TypeAlias = tuple[type[Model], "Field[Any, Any]"]


class Bus:
    """Carries texts to the processes where clients listen, through a cache that they share.

    Texts are numbered. A process with subscribers reads those that are new once a second.

    Args:
        alias: of the cache, in CACHES.
    """

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.subscribers: dict[object, Subscriber] = {}
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None
        # The number of the last text that was read, and when the first reading ended.
        self.position: int | None = None
        self.reads_since: float | None = None
        # Whether a client of any process listens, and until when that is known.
        self.known: tuple[bool, float] = (False, 0.0)

    @property
    def cache(self) -> Any:
        return caches[self.alias]

    def publish(self, text: str) -> None:
        number = self.cache.get(LAST) or int(time.time() * 1000)
        while not self.cache.add(f"{LAST}:{number + 1}", text, KEPT_SECONDS):
            number += 1
        self.cache.set(LAST, number + 1, None)

    def has_listeners(self) -> bool:
        """Return whether a client of any process listens, at most a second late."""
        found, until = self.known
        if not self.subscribers and until < time.monotonic():
            # A cache that is away must not fail the write of a row.
            found = contain(lambda: bool(self.cache.get(LISTENING)), lambda exc: False)
            self.known = found, time.monotonic() + POLL_SECONDS
        return found or bool(self.subscribers)

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Have a function called with each text, in another thread; return what ends that."""
        key = object()
        with self.lock:
            self.subscribers[key] = callback
            if self.thread is None or not self.thread.is_alive():
                self.position = self.reads_since = None
                self.thread = threading.Thread(target=self.poll, daemon=True)
                self.thread.start()

        def end() -> None:
            with self.lock:
                self.subscribers.pop(key, None)

        return end

    async def wait(self) -> None:
        """Return when all processes know that clients listen here, or after some seconds."""
        until = time.monotonic() + 5
        while self.reads_since is None and time.monotonic() < until:
            await asyncio.sleep(POLL_SECONDS / 20)
        await asyncio.sleep((self.reads_since or 0) + POLL_SECONDS - time.monotonic())

    def poll(self) -> None:
        while True:
            contain(self.receive, self.lose)
            close_idle_connections()
            time.sleep(POLL_SECONDS)
            with self.lock:
                if not self.subscribers:
                    self.thread = None
                    return

    def receive(self) -> None:
        self.cache.set(LISTENING, True, 5 * POLL_SECONDS)
        if self.position is None:
            self.position = self.find_last()
        last = self.cache.get(LAST)
        while (text := self.cache.get(f"{LAST}:{self.position + 1}")) is not None:
            self.position += 1
            self.deliver(text)
        # The cache was emptied, or the process slept: what was missed is not known.
        if last is None or last > self.position:
            self.position = self.find_last()
            self.deliver(json.dumps([EVERYTHING]))
        self.reads_since = self.reads_since or time.monotonic()

    def find_last(self) -> int:
        # Larger than any number that an emptied cache had.
        self.cache.add(LAST, int(time.time() * 1000), None)
        return int(self.cache.get(LAST))

    def lose(self, exc: Exception) -> None:
        if self.position is not None:
            logger.warning("The cache of subscriptions cannot be read: %s", exc)
            # The next reading finds a gap.
            self.position = -1

    def deliver(self, text: str) -> None:
        with self.lock:
            subscribers = list(self.subscribers.values())
        for callback in subscribers:
            callback(text)


@functools.lru_cache(maxsize=1)
def get_bus() -> Bus | None:
    """Return the bus of this process, None where no cache is shared by processes."""
    if not apps.is_installed("drf_mcp.contrib.subscriptions"):
        return None
    alias = mcp_settings.SUBSCRIPTION_CACHE
    # A wrong alias is reported by a check.
    if alias not in settings.CACHES or isinstance(caches[alias], (DummyCache, LocMemCache)):
        return None
    return Bus(alias)


# --- Topics ---------------------------------------------------------------------------------


def write_topic(kind: str, key: str) -> str:
    """Return the topic of what is neither a list nor a row, such as ``uri`` or ``task``."""
    return f"{kind}:{sign_value(kind, key)}"


def write_list_topics(user_pks: Iterable[Any] | None, names: Iterable[str] = LISTS) -> list[str]:
    """Return the topics of the lists of some users, None for all users."""
    keys = ["*"] if user_pks is None else [sign_value("user", str(key)) for key in user_pks]
    return [f"list:{name}:{key}" for key in keys for name in names]


def write_row_topic(column: Column, value: Any) -> str:
    model, field = column
    # The text of a URL, such as a UUID in capitals, has to give the topic of the row's value.
    with contextlib.suppress(ValidationError):
        value = field.to_python(value)
    name = f"{model._meta.label_lower}.{field.name}"
    return f"row:{name}:{sign_value(name, str(value))}"


def widen_topic(topic: str) -> str:
    """Return the topic of all users, rows or URIs of a kind, for the topic of one."""
    return topic.rpartition(":")[0] + ":*"


def sign_value(name: str, text: str) -> str:
    """Return a signature of a value, which the bus carries in place of the value."""
    salt = f"drf_mcp.contrib.subscriptions.{name}"
    return salted_hmac(salt, text, algorithm="sha256").hexdigest()[:16]


def find_row_topics(model: type[Model], values: Mapping[str, Any]) -> list[str]:
    models = {model._meta.concrete_model, *model._meta.get_parent_list()}
    return [
        write_row_topic((shown, field), values[field.attname])
        for shown, field in find_shown_columns()
        if shown in models and field.attname in values
    ]


def find_shown_columns() -> set[Column]:
    """Return the columns by which resources of the endpoints of ROOT_URLCONF show rows."""
    shown: set[Column] = set()
    for server in find_servers(get_resolver()):
        # A default, since the variable of the loop changes.
        def read(tools: Mapping[str, Any], server: Any = server) -> set[Column]:
            resources = server.find_capability("resources")
            routes = resources.get_routes(tools.values()) if resources else ()
            named = (route.find_lookup() for route in routes)
            return {found for each in named if each and (found := find_column(*each))}

        tools = server.registry.tools(None, server.tool_options)
        shown |= server.registry.keep("shown columns", tools, read)
    return shown


@functools.lru_cache(maxsize=1)
def find_servers(resolver: URLResolver) -> list[Any]:
    servers = []
    for _, entry in find_endpoint_patterns(resolver):
        view = FoundEndpoint("", entry.callback).view
        server = view.server_class(view.registry, view.envelope_class)
        server.tool_options = view.tool_options or server.tool_options
        servers.append(server)
    return servers


def find_column(label: str, name: str) -> Column | None:
    model = apps.get_model(label)._meta.concrete_model
    assert model is not None
    meta: Any = model._meta
    try:
        field = meta.pk if name == "pk" else meta.get_field(name)
    except FieldDoesNotExist:
        return None
    return (model, field) if field.concrete and not field.many_to_many else None


# --- Publishing -----------------------------------------------------------------------------


def announce_list_change(*names: str, user: Any = None) -> None:
    """Notify clients that lists changed, after the commit.

    Args:
        names: of ``tools``, ``prompts`` and ``resources``; all by default.
        user: whose lists changed; None for the lists of all users.
    """
    keys = None if user is None else [user.pk]
    publish(lambda: write_list_topics(keys, names or LISTS))


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
        values = dict(vars(subject))
        publish(lambda: find_row_topics(type(subject), values), subject._state.db)


def publish(find_topics: FindTopics, using: str | None = None) -> None:
    bus = get_bus()
    if bus is None:
        return
    connection = transaction.get_connection(using)
    if connection.in_atomic_block or bus.has_listeners():
        notice = Notice(bus, connection, find_topics)
        transaction.on_commit(notice.publish, using=using, robust=True)


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
        topics = {topic for notice in notices for topic in notice.find_topics()}
        for shown in (topics, set(map(widen_topic, topics)), {EVERYTHING}):
            if topics and len(text := json.dumps(sorted(shown))) <= MAX_BYTES:
                self.bus.publish(text)
                return


# --- Signals --------------------------------------------------------------------------------


def announce_row(sender: Any, instance: Model, using: str | None = None, **kwargs: Any) -> None:
    # Reading a resource for a client writes to the package's own tables.
    if kwargs.get("raw") or OWN_APP.match(sender._meta.app_label):
        return
    is_deleted = "created" not in kwargs
    # A new user listens to nothing yet, and each sign-in saves ``last_login``.
    is_user = hasattr(instance, "is_authenticated") and not kwargs.get("created")
    is_user = is_user and set(kwargs.get("update_fields") or ("all",)) != {"last_login"}
    # A row that is deleted no longer shows whose rights end.
    is_right = is_deleted and sender._meta.label_lower in ("auth.group", "auth.permission")
    # The instance may have other values before the commit.
    key, values = instance.pk, dict(vars(instance))

    def find_topics() -> Iterator[str]:
        for topic in find_row_topics(sender, values):
            yield DELETED + topic if is_deleted else topic
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
    is_users = find_rights_tables().get(sender)
    if is_users is None or not action.startswith("post_") or pk_set == set():
        return
    # All users are notified of a change of a group: its members are not looked up, and those of a
    # group that was cleared are unknown.
    keys = (pk_set if reverse else {instance.pk}) if is_users else None
    publish(lambda: write_list_topics(keys), using)


@functools.lru_cache(maxsize=1)
def find_rights_tables() -> Mapping[Any, bool]:
    """Return the tables of rights, and whether they are those of users, not of groups."""
    user: Any = get_user_model() if apps.is_installed("django.contrib.auth") else None
    # A user model of the project's own may have none of them.
    if not hasattr(user, "groups"):
        return {}
    group: Any = apps.get_model("auth", "Group")
    of_users = (user.groups.through, user.user_permissions.through)
    return {**dict.fromkeys(of_users, True), group.permissions.through: False}


def announce_subject(
    sender: Any, kind: str, key: str, using: str | None = None, **kwargs: Any
) -> None:
    publish(lambda: [write_topic(kind, key)], using)


def follow_models() -> None:
    # Without a bus nothing is connected: Django deletes rows one by one where a receiver is.
    is_on = get_bus() is not None
    for signal, receiver in (
        (post_save, announce_row),
        (post_delete, announce_row),
        (m2m_changed, announce_rights),
        (subject_changed, announce_subject),
    ):
        connect = signal.connect if is_on else signal.disconnect
        connect(receiver, dispatch_uid=f"drf_mcp.{receiver.__name__}")


def forget_bus(*, setting: str, **kwargs: Any) -> None:
    if setting in ("DRF_MCP", "CACHES", "INSTALLED_APPS"):
        get_bus.cache_clear()
        follow_models()


setting_changed.connect(forget_bus)
