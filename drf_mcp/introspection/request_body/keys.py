"""Keys of a body that code reads by itself, beside the fields of a serializer."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import Any

from rest_framework.fields import empty

from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.source.overrides import CONVERSIONS, is_drf_code
from drf_mcp.introspection.source.trees import MappingReads, is_name, parse_function


def keys_beside(serializer: Any) -> list[str]:
    """Return the keys that a serializer reads of a body and that are none of its fields.

    They stand in what its own methods ask of ``self.initial_data``, and of the argument of
    `to_internal_value`, and in what a field with its own `get_value` asks for.
    """
    fields = FieldNode(serializer).sendable
    found = [key for field in fields.values() for key in asked_for(field)]
    for base in type(serializer).__mro__:
        if base.__module__.partition(".")[0] != "rest_framework":
            for member in vars(base).values():
                found += keys_of_method(member) if inspect.isfunction(member) else ()
    return [key for key in dict.fromkeys(found) if key not in fields]


@functools.lru_cache(maxsize=4096)
def keys_of_method(function: Any) -> tuple[str, ...]:
    """Return the keys that a method of a serializer reads of what was sent."""
    tree = parse_function(function.__code__)
    if tree is None:
        return ()
    found = list(MappingReads(tree, is_initial_data).keys)
    if tree.name in CONVERSIONS and len(tree.args.args) > 1:
        data = tree.args.args[1].arg
        if not is_validated(tree, data):
            found += MappingReads(tree, lambda node: is_name(node, data)).keys
    return tuple(found)


def is_initial_data(node: ast.AST) -> bool:
    """Return True for ``self.initial_data``."""
    own = isinstance(node, ast.Attribute) and is_name(node.value, "self")
    return own and getattr(node, "attr", "") == "initial_data"


def is_validated(tree: ast.AST, data: str) -> bool:
    """Return True if a variable of what was sent becomes what `super` makes of it."""
    return any(
        isinstance(node, ast.Assign)
        and any(is_name(target, data) for target in node.targets)
        and any(is_name(part, "super") for part in ast.walk(node.value))
        for node in ast.walk(tree)
    )


def asked_for(field: Any) -> list[str]:
    """Return the keys that a field's own `get_value` asks for; found by asking it."""
    if is_drf_code(type(field), "get_value"):
        return []
    asked = Asked()
    field.get_value(asked)
    asked.known[field.field_name] = ""
    field.get_value(asked)
    return list(asked.keys_asked)


class Asked(dict[str, Any]):
    """An empty body that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Any] = {}
        self.keys_asked: dict[str, Callable[..., Any] | None] = {}

    def get(self, key: Any, default: Any = None) -> Any:
        """Note a key, and have nothing but the field's own."""
        self.keys_asked[str(key)] = None
        return self.known.get(key, default)

    def __getitem__(self, key: Any) -> Any:
        return self.get(key, empty)

    def __contains__(self, key: Any) -> bool:
        self.get(key)
        return key in self.known
