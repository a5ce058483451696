"""The keys of a body whose values code uses as files."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from drf_mcp.schemas.source.reads import asked, names_for, texts

Holds = Callable[[ast.AST], bool]

PARTS = frozenset(
    {"chunks", "content_type", "multiple_chunks", "name", "open", "read", "readline", "readlines"}
    | {"seek", "size", "temporary_file_path"}
)
"""Attributes of an uploaded file that no value of JSON has."""


def files_used(tree: ast.AST, holds: Holds) -> Iterator[str]:
    """Yield the literal keys of a mapping whose values code uses as files.

    Args:
        tree: the code, a whole function where variables are to be known.
        holds: tells whether an expression is the mapping.
    """
    names = names_for(tree, holds)
    uses = FileUses(tree, lambda node: holds(node) or getattr(node, "id", "") in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PARTS:
            yield from uses.keys_of(node.value)


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
