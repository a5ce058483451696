"""Return type hints in the words of JSON."""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import enum
import types
import typing
import uuid
from typing import Any

from drf_mcp.introspection.text import join_values

SCALARS: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    decimal.Decimal: "number",
    type(None): "null",
    uuid.UUID: "string",
    datetime.datetime: "string",
    datetime.date: "string",
    datetime.time: "string",
    datetime.timedelta: "string",
}
ARRAYS = (tuple, list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def name_returned_type(function: Any) -> str:
    """Return the type that a function's hint names, "" where the hint says nothing of JSON."""
    try:
        hint = typing.get_type_hints(function).get("return")
    except (NameError, TypeError, AttributeError):  # names only a type checker imports
        return ""
    return name_type(hint)


def name_type(hint: Any) -> str:
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if origin in (typing.Union, types.UnionType):
        names = [name_type(argument) for argument in arguments]
        return " or ".join(dict.fromkeys(names)) if all(names) else ""
    if origin is typing.Literal:
        values = (v.value if isinstance(v, enum.Enum) else v for v in arguments)
        return f"one of {join_values(values)}"
    if origin in ARRAYS:
        kinds = set(arguments) - {Ellipsis}
        items = name_type(kinds.pop()) if len(kinds) == 1 else ""
        return f"array of {items}" if items else "array"
    return "object" if origin in OBJECTS or typing.is_typeddict(hint) else ""
