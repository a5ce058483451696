"""Descriptions of serializers that are made once, however many endpoints use them.

What a serializer says may depend on the view, the action and the caller. It cannot where
its class, and that of every field inside, leaves the making of fields to REST framework,
or makes them without a look at any request: then all instances are alike that were made
with the same arguments, and what was described of one holds for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from django.core.signals import setting_changed
from rest_framework.fields import Field
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.fields.serializers import is_recursive
from drf_mcp.introspection.source.overrides import is_same_for_every_request

Described = TypeVar("Described")

HARMLESS = frozenset(
    {
        "Meta",
        "create",
        "data",
        "default_error_messages",
        "get_attribute",
        "get_object",
        "get_url",
        "initial",
        "is_valid",
        "many_init",
        "run_validation",
        "save",
        "to_internal_value",
        "to_representation",
        "update",
        "use_pk_only_optimization",
        "validate",
        "_declared_fields",
    }
)
"""What a class may override without giving its instances different fields."""

OF_THE_CALL = frozenset({"instance", "data", "context", "partial", "many"})
"""What serializers are made with that does not change their fields, or counts as manner."""

KNOWN: WeakKeyDictionary[type, dict[Hashable, Any]] = WeakKeyDictionary()
"""What was described, by serializer class and manner."""


def shared(
    serializer: BaseSerializer[Any],
    manner: Hashable,
    describe: Callable[[], Described],
    findings: Sequence[Any] = (),
) -> Described:
    """Return what a step says of a serializer, asked once where all instances are alike.

    Args:
        serializer: the serializer, not nested in another one.
        manner: what beside the serializer's class decides the answer.
        describe: the step.
        findings: where the step puts what it could not describe; such an answer is not kept.
    """
    known: dict[Hashable, Any] = KNOWN.get(type(serializer), {})
    manner = (manner, given(serializer))
    if manner not in known:
        found = len(findings)
        description = describe()
        if len(findings) > found or not is_alike(serializer):
            return description
        KNOWN.setdefault(type(serializer), known)[manner] = description
    kept: Described = known[manner]
    return kept


def given(serializer: BaseSerializer[Any]) -> Hashable:
    """Return what a serializer was made with, as far as it may decide which fields it has."""
    kwargs = getattr(serializer, "_kwargs", {})
    return repr(sorted((name, kwargs[name]) for name in kwargs.keys() - OF_THE_CALL))


def is_known(serializer: BaseSerializer[Any]) -> bool:
    """Return True if something was kept of the serializer's class: its instances are alike."""
    return type(serializer) in KNOWN


def is_alike(serializer: BaseSerializer[Any]) -> bool:
    """Return True if every instance of the serializer's class has the same fields."""
    return all(leaves_fields_alone(type(field)) for field in everything_in(serializer))


def everything_in(field: Any) -> Iterator[Any]:
    """Yield a field and every field inside it, those that are only read among them."""
    yield field
    if isinstance(field, BaseSerializer) and hasattr(field, "fields"):
        members = [] if is_recursive(field) else field.fields.values()
    else:
        child = getattr(field, "child_relation", None) or getattr(field, "child", None)
        members = [child] if isinstance(child, Field) else []
    for member in members:
        yield from everything_in(member)


def leaves_fields_alone(field_class: type) -> bool:
    """Return True if nothing that a class overrides of REST framework's depends on a call.

    A field, unlike a serializer, is made once for all by what it was declared with.
    """
    harmless = HARMLESS if issubclass(field_class, BaseSerializer) else {*HARMLESS, "__init__"}
    own = [base for base in field_class.__mro__ if not is_rest_framework(base)]
    stock = [base for base in field_class.__mro__ if is_rest_framework(base)]
    overridden = {name for base in own for name in vars(base) if is_member(name, stock)}
    return all(is_same_for_every_request(field_class, name) for name in overridden - harmless)


def is_member(name: str, classes: Sequence[type]) -> bool:
    """Return True if one of some classes has an attribute of its own by the name."""
    told = name in {"__init__", "__new__"} or not name.startswith("__")
    return told and any(name in vars(base) for base in classes)


def is_rest_framework(owner: type) -> bool:
    """Return True for a class of REST framework, and for `object`."""
    return owner is object or owner.__module__.partition(".")[0] == "rest_framework"


def forget(**kwargs: Any) -> None:
    """Forget what was described: settings may have changed, or serializers in a test."""
    KNOWN.clear()


setting_changed.connect(forget)
