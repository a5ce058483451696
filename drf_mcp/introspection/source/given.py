"""What a serializer is given to read: the body as it was sent, or with members filled in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from drf_mcp.introspection.source.trees import copies, lookup, names_for, stands_for, texts

Holds = Callable[[ast.AST], bool]
VIEWS = frozenset({"keys", "values", "items"})


def filled_in(node: ast.AST | None, tree: ast.AST | None, holds: Holds) -> frozenset[str] | None:
    """Return the keys that code puts into the mapping before it gives it on.

    Args:
        node: what is given.
        tree: the function that gives it.
        holds: tells whether an expression is the mapping.

    Returns:
        None where something else is given, or where it cannot be told what is put in.
    """
    if stands_for(node, holds):
        return frozenset()
    if isinstance(node, ast.Dict):
        return beside(node, holds)
    if tree is None or not isinstance(node, ast.Name) or node.id not in names_for(tree, holds):
        return None
    return put_into(node.id, tree)


def beside(display: ast.Dict, holds: Holds) -> frozenset[str] | None:
    """Return the keys that ``{**request.data, "key": value}`` has beside the mapping."""
    pairs = list(zip(display.keys, display.values, strict=True))
    if not any(stands_for(value, holds) for key, value in pairs if key is None):
        return None
    others = [key for key, value in pairs if key is None and not stands_for(value, holds)]
    return None if others else known([key for key in display.keys if key is not None])


def put_into(name: str, tree: ast.AST) -> frozenset[str] | None:
    """Return the keys that code puts into a mapping by its variable."""
    keys: set[str] = set()
    understood: set[int] = set()
    for node in ast.walk(tree):
        for variable, put in uses(node):
            if isinstance(variable, ast.Name) and variable.id == name:
                found = known(put)
                if found is None:
                    return None
                keys |= found
                understood.add(id(variable))
    variables = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    loads = {id(node) for node in variables if isinstance(node.ctx, ast.Load)}
    return frozenset(keys) if loads <= understood else None


def uses(node: ast.AST) -> Iterator[tuple[ast.AST | None, list[ast.expr]]]:
    """Yield what code does something to by key, each with the keys it puts in."""
    yield lookup(node)[0], []
    if isinstance(node, ast.Subscript):
        yield node.value, [node.slice] if isinstance(node.ctx, ast.Store) else []
    elif isinstance(node, ast.Call):
        yield from ((keyword.value, []) for keyword in node.keywords if keyword.arg == "data")
        yield from ((copied, []) for copied in copies(node))
        if isinstance(node.func, ast.Attribute):
            yield from uses_of_method(node, node.func)


def uses_of_method(
    node: ast.Call, method: ast.Attribute
) -> Iterator[tuple[ast.AST, list[ast.expr]]]:
    """Yield the mapping whose method is called, with the keys that puts in."""
    if method.attr in VIEWS:
        yield method.value, []
    elif method.attr == "setdefault":
        yield method.value, node.args[:1]
    elif method.attr == "update" and not node.args:
        yield method.value, [ast.Constant(keyword.arg) for keyword in node.keywords]
    elif method.attr == "update" and isinstance(node.args[0], ast.Dict):
        # A key that is None spreads another mapping, whose keys are not known.
        yield method.value, [key or ast.Constant(None) for key in node.args[0].keys]


def known(keys: list[ast.expr]) -> frozenset[str] | None:
    """Return the keys, None if not all of them are written down."""
    written = list(texts(keys))
    return frozenset(written) if len(written) == len(keys) else None
