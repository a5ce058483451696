"""What a method surely returns, as far as its source proves it.

A return hint is a claim that nothing enforces: a method hinted to return a number may
return a `Decimal`, which becomes text. So a hint counts only where every ``return`` of the
source is of an expression whose type nothing can change.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator
from typing import Any

from drf_mcp.introspection.handlers import parse

CALLS = {"str": "string", "int": "integer", "len": "integer", "bool": "boolean", "list": "array"}
"""Built-in functions that return one type whatever they are given."""

CONSTANTS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}
EXPRESSIONS: dict[type[ast.AST], str] = {
    ast.JoinedStr: "string",
    ast.List: "array",
    ast.ListComp: "array",
    ast.Dict: "object",
    ast.DictComp: "object",
}
MEMBERSHIP = (ast.In, ast.NotIn, ast.Is, ast.IsNot)


def proven_types(function: Any) -> set[str]:
    """Return the JSON types of what a function returns, null aside; none if not proven."""
    if not inspect.isfunction(function):
        return set()
    tree = parse(function.__code__)
    if not isinstance(tree, ast.FunctionDef) or tree.decorator_list or yields(function):
        return set()
    types: set[str] = set()
    for statement in returns(tree):
        found = types_of(statement.value, function)
        if not found:
            return set()
        types |= found
    return types - {"null"}


def yields(function: Any) -> bool:
    """Return True for a generator function."""
    return inspect.isgeneratorfunction(function)


def returns(node: ast.AST) -> Iterator[ast.Return]:
    """Yield the return statements of a function, not those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from returns(child)


def types_of(node: ast.AST | None, function: Any) -> set[str]:
    """Return the JSON types an expression may have, none if that cannot be told."""
    if node is None:
        return {"null"}
    if isinstance(node, ast.Constant):
        name = CONSTANTS.get(type(node.value))
        return {name} if name else set()
    if isinstance(node, ast.IfExp):
        branches = [types_of(node.body, function), types_of(node.orelse, function)]
        return branches[0] | branches[1] if all(branches) else set()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return {"boolean"}
    if isinstance(node, ast.Compare) and isinstance(node.ops[-1], MEMBERSHIP):
        return {"boolean"} if len(node.ops) == 1 else set()
    if isinstance(node, ast.Call):
        return called(node, function)
    name = EXPRESSIONS.get(type(node))
    return {name} if name else set()


def called(node: ast.Call, function: Any) -> set[str]:
    """Return the JSON type of a call to a built-in function that nothing hides."""
    if not isinstance(node.func, ast.Name) or node.func.id not in CALLS:
        return set()
    name = node.func.id
    local = name in function.__code__.co_varnames or name in function.__code__.co_freevars
    hidden = local or function.__globals__.get(name, getattr(builtins, name)) is not getattr(
        builtins, name
    )
    return set() if hidden else {CALLS[name]}
