"""Return type hints as output schemas."""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import enum
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

from drf_mcp.introspection.types import Schema

SCALARS: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    decimal.Decimal: "number",
    None: "null",
    type(None): "null",
    uuid.UUID: "string",
    datetime.datetime: "string",
    datetime.date: "string",
    datetime.time: "string",
    datetime.timedelta: "string",
}
ARRAYS = (list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
UNIONS = (typing.Union, types.UnionType)


def returned_schema(function: Callable[..., Any]) -> Schema:
    """Return the schema of what a function's hints say it returns; ``{}`` without one."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # names only a type checker imports
        return {}
    return hint_schema(hints["return"]) if "return" in hints else {}


def hint_schema(hint: Any) -> Schema:
    """Return the schema of one type hint, ``{}`` for one that says nothing of JSON."""
    if hint in SCALARS:
        return {"type": SCALARS[hint]}
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in UNIONS:
        return union(arguments)
    if origin is typing.Literal:
        return literal(arguments)
    if origin in ARRAYS or origin is tuple:
        return array(arguments)
    if origin in OBJECTS:
        return mapping(arguments)
    return typed_dict(hint) if typing.is_typeddict(hint) else {}


def union(arguments: tuple[Any, ...]) -> Schema:
    """Return the schema of one of several types."""
    members = [hint_schema(argument) for argument in arguments]
    if {} in members:
        return {}
    if all(list(member) == ["type"] and isinstance(member["type"], str) for member in members):
        return {"type": list(dict.fromkeys(member["type"] for member in members))}
    return {"anyOf": members}


def literal(arguments: tuple[Any, ...]) -> Schema:
    """Return the schema of one of several values."""
    return {"enum": [item.value if isinstance(item, enum.Enum) else item for item in arguments]}


def array(arguments: tuple[Any, ...]) -> Schema:
    """Return the schema of a list, or of a tuple whose items are all alike."""
    kinds = set(arguments) - {Ellipsis}
    return {"type": "array", "items": hint_schema(kinds.pop()) if len(kinds) == 1 else {}}


def mapping(arguments: tuple[Any, ...]) -> Schema:
    """Return the schema of a dict."""
    values = hint_schema(arguments[1]) if len(arguments) == 2 else {}
    return {"type": "object", "additionalProperties": values} if values else {"type": "object"}


def typed_dict(hint: Any) -> Schema:
    """Return the schema of a `TypedDict`; further members are allowed."""
    members = typing.get_type_hints(hint).items()
    return {"type": "object", "properties": {name: hint_schema(kind) for name, kind in members}}
