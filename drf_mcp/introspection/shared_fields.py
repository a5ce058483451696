"""Serializer classes whose fields are the same for every caller and view are described once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from django.core.signals import setting_changed
from django.utils.translation import get_language
from rest_framework.serializers import ListSerializer, ModelSerializer, Serializer
from rest_framework.utils.serializer_helpers import BindingDict

from drf_mcp.introspection.forms import find_writable_fields
from drf_mcp.introspection.inspection import noted_queries
from drf_mcp.introspection.serializer_fields import is_recursive
from drf_mcp.introspection.source.members import depends_on_request

Value = TypeVar("Value")
# The members that serializers override to choose their fields.
FIELD_HOOKS = (
    "__init__",
    "get_fields",
    "fields",
    "_writable_fields",
    "get_field_names",
    "get_extra_kwargs",
)
# The members of serializers and fields in which code may read the request.
MEMBERS = (
    *FIELD_HOOKS,
    "__new__",
    "__deepcopy__",
    "bind",
    "choices",
    "context",
    "get_validators",
    "many_init",
    "root",
    *(name for name in dir(ModelSerializer) if name.startswith("build_")),
    "include_extra_kwargs",
)
UNSHARED = frozenset({"context", "data", "instance", "child", "partial"})
# The tools of a view share its serializers, and are described one after the other.
MOST_SHARED = 128


def describe_once(serializer: Any, around: Hashable, describe: Callable[[], Value]) -> Value:
    """Return what ``describe`` returns for a serializer, called once for all that are equal.

    Args:
        around: what the description depends on besides the serializer and the language.
    """
    shared, arguments = SharedFields.of(serializer), _freeze_arguments(serializer)
    if shared is None or arguments is None:
        return describe()
    key = type(serializer), arguments, get_language(), around
    if key not in shared.described:
        shared.give(serializer)
        with noted_queries() as queries:
            made = describe()
        if queries:  # the rows may be others next time
            return made
        shared.described[key] = made
    found: Value = shared.described[key]
    return found


class SharedFields:
    # The fields of one serializer class with the same arguments, and what was described of them.

    known: dict[Any, SharedFields | None] = {}

    def __init__(self, serializer: Any) -> None:
        self.fields = serializer.fields
        self.described: dict[Any, Any] = {}
        self.signature: Any = None

    @classmethod
    def of(cls, serializer: Any) -> SharedFields | None:
        """Return the shared fields of a serializer, None where they may be others next time."""
        row: Any = serializer.child if isinstance(serializer, ListSerializer) else serializer
        if not isinstance(row, Serializer):
            return None
        key = type(row), _freeze_arguments(row)
        if key[1] is None or (key not in cls.known and "fields" in vars(row)):
            return None
        if key not in cls.known:
            if len(cls.known) >= MOST_SHARED:
                cls.known.clear()
            cls.known[key] = None  # until it is known, for a serializer that has itself as a field
            with noted_queries() as queries:
                found = cls(row) if cls._are_shared(row) else None
            cls.known[key] = None if queries else found
        return cls.known[key]

    @classmethod
    def _are_shared(cls, serializer: Any) -> bool:
        serializer_class: Any = type(serializer)
        if depends_on_request(serializer_class, MEMBERS):
            return False
        # A project's plain property builds the fields at every read.
        if serializer.fields is not vars(serializer).get("fields"):
            return False
        return all(map(cls.is_shared, _find_inner_fields(serializer)))

    @classmethod
    def is_shared(cls, field: Any) -> bool:
        field_class: Any = type(field)
        return not depends_on_request(field_class, MEMBERS) and cls._give_nested(field)

    @classmethod
    def _give_nested(cls, field: Any) -> bool:
        """Give a field that is a serializer its shared fields; return False if it has none."""
        if not isinstance(field, Serializer) or is_recursive(field):
            return True
        shared = cls.of(field)
        if shared is not None:
            shared.give(field)
        return shared is not None

    def give(self, serializer: Any) -> None:
        # The serializer gets copies, where it would build its own.
        row: Any = serializer.child if isinstance(serializer, ListSerializer) else serializer
        if "fields" not in vars(row):
            fields = vars(row)["fields"] = BindingDict(row)
            for name, field in self.fields.items():
                fields.fields[name] = _copy_field(field, row)
            for field in _find_inner_fields(row):
                self._give_nested(field)


def _find_inner_fields(serializer: Any) -> Iterator[Any]:
    for field in find_writable_fields(serializer).values():
        yield field
        inner = getattr(field, "child_relation", None) or getattr(field, "child", None)
        if inner is not None:
            yield inner


def _copy_field(field: Any, parent: Any) -> Any:
    own = copy.copy(field)
    own.parent = parent
    vars(own).pop("fields", None)
    for name in ("child", "child_relation"):
        if name in vars(own):
            setattr(own, name, _copy_field(vars(own)[name], own))
    return own


def _forget_shared_fields(**kwargs: Any) -> None:
    """Free the fields; they are built again for what is described later."""
    SharedFields.known.clear()


setting_changed.connect(_forget_shared_fields)


def _freeze_arguments(serializer: Any) -> Any:
    # None for arguments that cannot be compared.
    own = {name: v for name, v in serializer._kwargs.items() if name not in UNSHARED}
    frozen = tuple(sorted((name, _freeze(value)) for name, value in own.items()))
    try:
        hash(frozen)
    except TypeError:
        return None
    return None if any(value is not None for value in serializer._args) else frozen


def _freeze(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, set)) else value
