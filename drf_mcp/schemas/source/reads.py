"""The literal keys that code reads of a mapping."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

READERS = frozenset({"get", "getlist", "pop"})


def keys_read(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    """Yield the literal keys that code reads of a mapping.

    Args:
        tree: the code.
        holds: tells whether an expression is the mapping.
    """
    loops = dict(literal_loops(tree))
    for node in ast.walk(tree):
        for key in asked(node, holds):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value
            elif isinstance(key, ast.Name):
                yield from loops.get(key.id, ())


def stands_for(node: ast.AST | None, holds: Callable[[ast.AST], bool]) -> bool:
    """Return True for the mapping, a copy of it, and a choice between it and something else."""
    if isinstance(node, ast.BoolOp):
        return any(stands_for(value, holds) for value in node.values)
    if isinstance(node, ast.IfExp):
        return stands_for(node.body, holds) or stands_for(node.orelse, holds)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "copy" and holds(node.func.value)
    return node is not None and holds(node)


def asked(node: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[ast.AST]:
    """Yield the keys that one expression asks of the mapping: get(), [] and ``in``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in READERS and holds(node.func.value):
            yield from node.args[:1]
    elif isinstance(node, ast.Subscript):
        if isinstance(node.ctx, ast.Load) and holds(node.value):
            yield node.slice
    elif isinstance(node, ast.Compare) and is_membership(node) and holds(node.comparators[0]):
        yield node.left


def is_membership(node: ast.Compare) -> bool:
    """Return True for ``in`` and ``not in``."""
    return isinstance(node.ops[0], (ast.In, ast.NotIn))


def literal_loops(tree: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Yield the variables of loops over texts that are written down, each with the texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            items = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else []
            values = [item.value for item in items if isinstance(item, ast.Constant)]
            yield node.target.id, [value for value in values if isinstance(value, str)]


def truth(node: ast.AST | None) -> bool | None:
    """Return what an optional argument comes to as a condition, None if that depends."""
    if node is None:
        return False
    return bool(node.value) if isinstance(node, ast.Constant) else None
