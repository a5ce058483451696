"""A serializer as its class declares it, where an instance needs what only a request has."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

from drf_mcp.introspection.source.members import is_framework_code, unwrap_member
from drf_mcp.introspection.source.trees import FunctionSource, is_name, is_own_member

# What serializers override to choose their fields while an instance is made.
FIELD_HOOKS = (
    "__init__",
    "get_fields",
    "fields",
    "_writable_fields",
    "get_field_names",
    "get_extra_kwargs",
)
ADDING = frozenset({"update", "setdefault"})


class DeclaredClass:
    # The declared fields of a class, those of its ``Meta`` and its model.

    def __init__(self, serializer_class: Any) -> None:
        self.serializer_class = serializer_class

    def make(self, **options: Any) -> Any:
        return make_stock_class(self.serializer_class)(**options)

    @property
    def names_all(self) -> bool:
        # Whether the class's own code adds no field under a name that it computes.
        return None not in self.added

    @functools.cached_property
    def added(self) -> tuple[str | None, ...]:
        hooks = find_own_hooks(self.serializer_class)
        return tuple(name for hook in hooks for name in find_added(FunctionSource(hook)))


def find_own_hooks(owner: type) -> list[Any]:
    members = (vars(base).get(name) for base in owner.__mro__[:-1] for name in FIELD_HOOKS)
    hooks = map(unwrap_member, members)
    return [hook for hook in hooks if hook is not None and not is_framework_code(hook)]


def find_added(source: FunctionSource) -> Iterator[str | None]:
    # self.fields["name"] = ..., or fields["name"] = ... of super().get_fields(); None for a name
    # that only the running code knows.
    for node in source.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if is_fields(node.value):
                key = getattr(node.slice, "value", None)
                yield key if isinstance(key, str) else None
        elif isinstance(node, ast.Attribute) and node.attr in ADDING and is_fields(node.value):
            yield None


def is_fields(node: ast.AST) -> bool:
    return is_name(node, "fields") or (
        is_own_member(node) and getattr(node, "attr", "") == "fields"
    )


@functools.cache
def make_stock_class(serializer_class: Any) -> Any:
    # A subclass whose fields are made by REST framework's code alone.
    members = {
        name: next(
            vars(base)[name] for base in serializer_class.__mro__ if is_stock_attribute(base, name)
        )
        for name in FIELD_HOOKS
        if hasattr(serializer_class, name)
    }
    members["__module__"] = serializer_class.__module__
    return type(serializer_class.__name__, (serializer_class,), members)


def is_stock_attribute(owner: type, name: str) -> bool:
    return name in vars(owner) and owner.__module__.partition(".")[0] == "rest_framework"
