"""The literal keys that code reads of a mapping."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

READERS = frozenset({"get", "getlist", "pop"})
COPIES = frozenset({"copy", "deepcopy", "dict"})


def keys_read(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    """Yield the literal keys that code reads of a mapping, also by a variable that is it.

    Args:
        tree: the code, a whole function where variables are to be known.
        holds: tells whether an expression is the mapping.
    """
    names = names_for(tree, holds)

    def is_mapping(node: ast.AST) -> bool:
        return holds(node) or (isinstance(node, ast.Name) and node.id in names)

    for node in ast.walk(tree):
        yield from texts(asked(node, is_mapping))
        if isinstance(node, ast.For):
            yield from keys_of_loop(node, is_mapping)


def lists_read(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    """Yield the literal keys of which code reads every value: ``data.getlist("key")``."""
    names = names_for(tree, holds)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getlist":
            yield from texts(asked(node, lambda n: holds(n) or getattr(n, "id", "") in names))


def stands_for(node: ast.AST | None, holds: Callable[[ast.AST], bool]) -> bool:
    """Return True for the mapping, a copy of it, and a choice between it and something else."""
    if isinstance(node, ast.BoolOp):
        return any(stands_for(value, holds) for value in node.values)
    if isinstance(node, ast.IfExp):
        return stands_for(node.body, holds) or stands_for(node.orelse, holds)
    if isinstance(node, ast.Call):
        return holds(node) or any(holds(copied) for copied in copies(node))
    return node is not None and holds(node)


def copies(node: ast.Call) -> Iterator[ast.AST]:
    """Yield what a call may copy: ``data.copy()``, ``data.dict()``, ``deepcopy(data)``."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in COPIES:
        yield from node.args[:1] or [getattr(node.func, "value", node)]


def names_for(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> frozenset[str]:
    """Return the variables that are the mapping, or a copy, wherever they are assigned."""
    assigned: dict[str, list[bool]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(stands_for(node.value, holds))
    return frozenset(name for name, values in assigned.items() if all(values))


def asked(node: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[ast.AST]:
    """Yield the keys that one expression asks of the mapping."""
    mapping, keys = lookup(node)
    if mapping is not None and holds(mapping):
        yield from keys


def lookup(node: ast.AST) -> tuple[ast.AST | None, list[ast.expr]]:
    """Return what an expression asks for keys, and the keys: get(), [] and ``in``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in READERS:
            return node.func.value, node.args[:1]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value, [node.slice]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], [node.left]
    return None, []


def keys_of_loop(loop: ast.For, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    """Yield the keys that a loop over texts which are written down asks for one by one."""
    items = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else []
    names = {loop.target.id} if isinstance(loop.target, ast.Name) else set()
    keys = [key for node in ast.walk(loop) for key in asked(node, holds)]
    if any(isinstance(key, ast.Name) and key.id in names for key in keys):
        yield from texts(items)


def texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the texts that are written down."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
