"""The bus carries news between processes; functions and signals publish the news."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from django.conf import settings
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.utils.crypto import salted_hmac

from drf_mcp.settings import mcp_settings

LISTS = ("tools", "prompts", "resources")
EVERYTHING = json.dumps({"lists": LISTS, "everything": True})
Subscriber: TypeAlias = Callable[[str], Any]


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
    key = None if user is None else str(user.pk)
    publish({"lists": names or LISTS, "user": key})


def announce_update(subject: Any) -> None:
    """Notify clients that a resource was updated, after the commit.

    Saving and deleting an instance of a model notifies them already; ``QuerySet.update()`` does
    not.

    Args:
        subject: the URI of a resource that shows one row, or the row as an instance.
    """
    publish({"uri": subject} if isinstance(subject, str) else describe_row(subject))


def describe_row(instance: Model, *, is_deleted: bool = False) -> dict[str, Any]:
    # A view may look up its object by any field, and a field may hold a secret.
    label = instance._meta.label_lower
    values = {f.name: f.value_from_object(instance) for f in instance._meta.concrete_fields}
    row = {name: sign_value(label, name, str(v)) for name, v in values.items()}
    row["pk"] = sign_value(label, "pk", str(instance.pk))
    return {"model": label, "row": row, "deleted": is_deleted}


def sign_value(model: str, field: str, text: str) -> str:
    """Return a signature of a value, which the bus carries in place of the value."""
    salt = f"drf_mcp.contrib.subscriptions.{model}.{field}"
    return salted_hmac(salt, text, algorithm="sha256").hexdigest()[:16]


def publish(news: dict[str, Any]) -> None:
    bus = get_bus()
    if bus is not None:
        text = json.dumps(news)
        transaction.on_commit(lambda: bus.publish(text), robust=True)


# --- Signals --------------------------------------------------------------------------------


def announce_row(sender: Any, instance: Model, **kwargs: Any) -> None:
    if kwargs.get("raw"):
        return
    publish(describe_row(instance, is_deleted="created" not in kwargs))
    # Each sign-in saves ``last_login``.
    fields = set(kwargs.get("update_fields") or ("all",))
    if hasattr(instance, "is_authenticated") and fields != {"last_login"}:
        announce_list_change(user=instance)


def announce_rights(sender: Any, instance: Any, action: str, model: Any, **kwargs: Any) -> None:
    # Groups and permissions of a user or of a group.
    if not action.startswith("post_"):
        return
    if model._meta.app_label == "auth" or instance._meta.app_label == "auth":
        is_user = hasattr(instance, "is_authenticated") and not kwargs.get("reverse")
        announce_list_change(user=instance if is_user else None)


RECEIVERS = ((post_save, announce_row), (post_delete, announce_row), (m2m_changed, announce_rights))


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
