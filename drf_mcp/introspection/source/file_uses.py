"""The keys of a body whose values code uses as files."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import FileField, Model

from drf_mcp.introspection.source.reads import asked, names_for, texts

Holds = Callable[[ast.AST], bool]
ValueOf = Callable[[ast.AST], Any]

PARTS = frozenset(
    {"chunks", "content_type", "multiple_chunks", "name", "open", "read", "readline", "readlines"}
    | {"seek", "size", "temporary_file_path"}
)
"""Attributes of an uploaded file that no value of JSON has."""


def files_used(tree: ast.AST, holds: Holds, value_of: ValueOf) -> Iterator[str]:
    """Yield the literal keys of a mapping whose values code uses as files.

    Args:
        tree: the code, a whole function where variables are to be known.
        holds: tells whether an expression is the mapping.
        value_of: returns what a global name stands for, None if that is unknown.
    """
    names = names_for(tree, holds)
    uses = FileUses(tree, lambda node: holds(node) or getattr(node, "id", "") in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PARTS:
            yield from uses.keys_of(node.value)
        elif isinstance(node, ast.Call):
            for stored in values_stored(node, value_of):
                yield from uses.keys_of(stored)


def values_stored(node: ast.Call, value_of: ValueOf) -> Iterator[ast.AST]:
    """Yield what a call stores as files: ``Scan(file=...)``, ``storage.save(name, ...)``."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "save":
        yield from node.args[1:2]
    model = value_of(root_of(node.func))
    if inspect.isclass(model) and issubclass(model, Model):
        stored = {field.name for field in model._meta.fields if isinstance(field, FileField)}
        yield from (keyword.value for keyword in node.keywords if keyword.arg in stored)


def root_of(node: ast.AST) -> ast.AST:
    """Return the name that a chain of attributes and calls starts with."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node


class FileUses:
    """The variables of a function that are values of a mapping.

    Args:
        tree: the function.
        holds: tells whether an expression is the mapping.
    """

    def __init__(self, tree: ast.AST, holds: Holds) -> None:
        self.holds = holds
        self.variables: dict[str, list[str]] = {}
        for name, value in assigned(tree):
            keys = list(texts(asked(value, holds)))
            # One that is something else at times is no value of the mapping.
            known = self.variables.setdefault(name, keys)
            self.variables[name] = keys if keys == known else []

    def keys_of(self, node: ast.AST) -> Iterator[str]:
        """Yield the key of which an expression is the value, if it is one."""
        yield from texts(asked(node, self.holds))
        yield from self.variables.get(getattr(node, "id", ""), ())


def assigned(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each variable with what is assigned to it, or with what a loop runs over."""
    for node in ast.walk(tree):
        value = getattr(node, "iter", None) or getattr(node, "value", None)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.AST):
                yield target.id, value
