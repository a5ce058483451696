"""Return type hints as output schemas."""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import enum
import types
import typing
import uuid
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
ARRAYS = (tuple, list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
UNIONS = (typing.Union, types.UnionType)


class TypeHint:
    """A type hint, as the JSON Schema of its values."""

    def __init__(self, hint: Any) -> None:
        self.hint = hint
        self.origin = typing.get_origin(hint) or hint
        self.arguments = typing.get_args(hint)

    @classmethod
    def returned_by(cls, function: Any) -> TypeHint:
        """Return the hint of what a function returns, `Any` without one."""
        try:
            return cls(typing.get_type_hints(function).get("return", Any))
        except (NameError, TypeError, AttributeError):  # names only a type checker imports
            return cls(Any)

    @property
    def schema(self) -> Schema:
        """The schema, ``{}`` for a type that says nothing of JSON."""
        if self.hint in SCALARS:
            return {"type": SCALARS[self.hint]}
        if self.origin in UNIONS:
            return self.union
        if self.origin is typing.Literal:
            return {"enum": [v.value if isinstance(v, enum.Enum) else v for v in self.arguments]}
        if self.origin in ARRAYS:
            kinds = set(self.arguments) - {Ellipsis}
            items = TypeHint(kinds.pop()).schema if len(kinds) == 1 else {}
            return {"type": "array", "items": items}
        if self.origin in OBJECTS:
            values = TypeHint(self.arguments[1]).schema if len(self.arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        return self.typed_dict if typing.is_typeddict(self.hint) else {}

    @property
    def union(self) -> Schema:
        members = [TypeHint(argument).schema for argument in self.arguments]
        if {} in members:
            return {}
        if all(list(member) == ["type"] and isinstance(member["type"], str) for member in members):
            return {"type": list(dict.fromkeys(member["type"] for member in members))}
        return {"anyOf": members}

    @property
    def typed_dict(self) -> Schema:
        members = typing.get_type_hints(self.hint).items()
        properties = {name: TypeHint(hint).schema for name, hint in members}
        return {"type": "object", "properties": properties}
