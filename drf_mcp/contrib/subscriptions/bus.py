"""The bus carries news between processes; functions and signals publish the news.

A topic says what news are about, in a text without values.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models import Field, Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.urls import URLResolver, get_resolver
from django.utils.crypto import salted_hmac

from drf_mcp.access.resources import FoundEndpoint, find_endpoint_patterns
from drf_mcp.settings import mcp_settings
from drf_mcp.signals import subject_changed

LISTS = ("tools", "prompts", "resources")
# The topic of every list and every resource; and what precedes the topic of a row that is deleted.
EVERYTHING, DELETED = "*", "-"
# PostgreSQL takes less than 8,000 bytes.
MAX_BYTES = 7_000
OWN_APP = re.compile("drf_mcp(?:_|$)")
Subscriber: TypeAlias = Callable[[str], Any]
FindTopics: TypeAlias = Callable[[], Iterable[str]]
# A model with a table of its own and one of its fields.
Column: TypeAlias = tuple[type[Model], "Field[Any, Any]"]


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
