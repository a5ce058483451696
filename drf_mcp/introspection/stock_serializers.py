"""Serializers whose fields REST framework's code alone builds: alike for any view and caller."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, TypeVar

from django.core.signals import setting_changed
from django.dispatch import receiver
from django.utils.translation import get_language
from rest_framework.serializers import Serializer

from drf_mcp.introspection.source.members import is_drf_code

Value = TypeVar("Value")
# What serializers override to choose their fields while an instance is made.
FIELD_HOOKS = (
    "__init__",
    "get_fields",
    "fields",
    "_writable_fields",
    "get_field_names",
    "get_extra_kwargs",
)
# The methods of a `ModelSerializer` that make a field of a model's.
FIELD_BUILDERS = (
    "build_field",
    "build_standard_field",
    "build_relational_field",
    "build_nested_field",
    "build_property_field",
    "build_url_field",
    "build_unknown_field",
    "include_extra_kwargs",
)
# Where the code of a field may look at the serializer around it.
FIELD_MEMBERS = (
    "__init__",
    "__new__",
    "__deepcopy__",
    "bind",
    "choices",
    "context",
    "get_validators",
    "root",
)
# Arguments that change nothing of the fields.
NEUTRAL = frozenset({"context", "data", "instance", "partial"})
# What was described, by the class and by what else it depends on.
DESCRIBED: dict[Any, Any] = {}
# The tools of a view are described one after the other.
MOST_DESCRIBED = 512


def is_stock_serializer(serializer: Any) -> bool:
    serializer_class: Any = type(serializer)
    return is_stock_class(serializer_class)


@lru_cache(maxsize=1024)
def is_stock_class(serializer_class: Any) -> bool:
    own = [name for name in (*FIELD_HOOKS, *FIELD_BUILDERS) if hasattr(serializer_class, name)]
    if not issubclass(serializer_class, Serializer) or not is_drf_code(serializer_class, *own):
        return False
    return all(map(is_stock_field, serializer_class._declared_fields.values()))


def is_stock_field(field: Any) -> bool:
    if isinstance(field, Serializer):
        return is_stock_serializer(field)
    inner = getattr(field, "child", None) or getattr(field, "child_relation", None)
    hooks = [name for name in FIELD_MEMBERS if hasattr(type(field), name)]
    return is_drf_code(type(field), *hooks) and (inner is None or is_stock_field(inner))


def describe_once(serializer: Any, around: Hashable, describe: Callable[[], Value]) -> Value:
    """Return what is described of a serializer, once for all that are alike.

    Args:
        around: what the description depends on besides the class and the language.
    """
    if not is_stock_serializer(serializer) or serializer._kwargs.keys() - NEUTRAL:
        return describe()
    key = type(serializer), get_language(), around
    if key not in DESCRIBED:
        if len(DESCRIBED) >= MOST_DESCRIBED:
            DESCRIBED.clear()
        DESCRIBED[key] = describe()
    found: Value = DESCRIBED[key]
    return found


@receiver(setting_changed)
def forget_descriptions(**kwargs: Any) -> None:
    """Free what was described; it is described again when it is needed."""
    DESCRIBED.clear()
