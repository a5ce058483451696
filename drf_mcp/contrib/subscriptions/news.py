"""What there is to tell, and when Django's signals tell of it."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.utils.crypto import salted_hmac

from drf_mcp.contrib.subscriptions.bus import get_bus

LISTS = ("tools", "prompts", "resources")
EVERYTHING = json.dumps({"lists": LISTS, "everything": True})


def announce_list_change(*names: str, user: Any = None) -> None:
    """Tell those who listen that lists changed, after the transaction is committed.

    Args:
        names: of ``tools``, ``prompts`` and ``resources``; all by default.
        user: whose lists they are; None for everybody's.
    """
    key = None if user is None else str(user.pk)
    publish({"lists": names or LISTS, "user": key})


def announce_update(subject: Any) -> None:
    """Tell those who subscribed to a resource that it was updated, after the commit.

    What a save or a delete of a model's instance changes is told without it; what
    ``QuerySet.update()`` changes is not.

    Args:
        subject: the URI of a resource that shows one row, or the row, a model's instance.
    """
    publish({"uri": subject} if isinstance(subject, str) else describe_row(subject))


def describe_row(instance: Model, *, is_deleted: bool = False) -> dict[str, Any]:
    # Whose value finds the object may be any field of the model, and any field may hold a secret.
    label = instance._meta.label_lower
    values = {f.name: f.value_from_object(instance) for f in instance._meta.concrete_fields}
    row = {name: sign_value(label, name, str(v)) for name, v in values.items()}
    row["pk"] = sign_value(label, "pk", str(instance.pk))
    return {"model": label, "row": row, "deleted": is_deleted}


def sign_value(model: str, field: str, text: str) -> str:
    """Return what stands on the bus for a value: the value cannot be found from it."""
    salt = f"drf_mcp.contrib.subscriptions.{model}.{field}"
    return salted_hmac(salt, text, algorithm="sha256").hexdigest()[:16]


def publish(news: dict[str, Any]) -> None:
    bus = get_bus()
    if bus is not None:
        text = json.dumps(news)
        transaction.on_commit(lambda: bus.publish(text), robust=True)


# --- Signals --------------------------------------------------------------------------------


def tell_of_row(sender: Any, instance: Model, **kwargs: Any) -> None:
    if kwargs.get("raw"):
        return
    publish(describe_row(instance, is_deleted="created" not in kwargs))
    # Each sign-in saves its moment.
    fields = set(kwargs.get("update_fields") or ("all",))
    if hasattr(instance, "is_authenticated") and fields != {"last_login"}:
        announce_list_change(user=instance)


def tell_of_rights(sender: Any, instance: Any, action: str, model: Any, **kwargs: Any) -> None:
    # Groups and permissions, of a user or of a group.
    if not action.startswith("post_"):
        return
    if model._meta.app_label == "auth" or instance._meta.app_label == "auth":
        is_user = hasattr(instance, "is_authenticated") and not kwargs.get("reverse")
        announce_list_change(user=instance if is_user else None)


RECEIVERS = ((post_save, tell_of_row), (post_delete, tell_of_row), (m2m_changed, tell_of_rights))


def follow_settings(*, setting: str = "DRF_MCP", **kwargs: Any) -> None:
    """Heed Django's signals where somebody may listen: no save costs anything elsewhere."""
    if setting != "DRF_MCP":
        return
    project = getattr(settings, "DRF_MCP", {})
    # A wrong value is none of a signal's to refuse.
    is_on = isinstance(project, dict) and bool(project.get("SUBSCRIPTION_BUS_CLASS"))
    for signal, receiver in RECEIVERS:
        connect = signal.connect if is_on else signal.disconnect
        connect(receiver, dispatch_uid=f"drf_mcp.{receiver.__name__}")


setting_changed.connect(follow_settings)
