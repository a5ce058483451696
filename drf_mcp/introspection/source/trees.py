"""The syntax trees of functions, and what their expressions stand for."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, TypeGuard

from django.db.models import FileField, Model

ACTIONS = {
    "alist": "list",
    "aretrieve": "retrieve",
    "acreate": "create",
    "aupdate": "update",
    "partial_aupdate": "partial_update",
    "adestroy": "destroy",
}
HOOKS = {
    "aget_object": "get_object",
    "aget_queryset": "get_queryset",
    "afilter_queryset": "filter_queryset",
    "apaginate_queryset": "paginate_queryset",
    "get_apaginated_response": "get_paginated_response",
}
TWINS = {**ACTIONS, **HOOKS}


def get_synchronous_name(name: str) -> str:
    return TWINS.get(name, name)


REQUEST = frozenset({"request", "_request", "req"})
BODY = frozenset({"data", "POST", "FILES", "body", "stream"})
QUERY = frozenset({"query_params", "GET"})


def is_own_method(node: ast.AST) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute):
        return False
    value = node.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id == "self"


def is_request(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in REQUEST
    return isinstance(node, ast.Name) and node.id in REQUEST


def is_body(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in BODY and is_request(node.value)


def is_data(node: ast.AST) -> bool:
    return is_body(node) and getattr(node, "attr", "") in ("data", "POST")


def is_files(node: ast.AST) -> bool:
    return is_body(node) and getattr(node, "attr", "") == "FILES"


def passes_request(node: ast.Call) -> bool:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    unpacked = any(isinstance(argument, ast.Starred) for argument in node.args)
    return unpacked or any(
        is_request(argument) or (isinstance(argument, ast.Name) and argument.id == "self")
        for argument in arguments
    )


def is_query(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in QUERY and is_request(node.value)


def truth(node: ast.AST | None) -> bool | None:
    if node is None:
        return False
    return bool(node.value) if isinstance(node, ast.Constant) else None


READERS = frozenset({"get", "getlist", "pop"})
COPIES = frozenset({"copy", "deepcopy", "dict"})


def keys_read(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    names = names_for(tree, holds)

    def is_mapping(node: ast.AST) -> bool:
        return holds(node) or (isinstance(node, ast.Name) and node.id in names)

    for node in ast.walk(tree):
        yield from texts(asked(node, is_mapping))
        if isinstance(node, ast.For):
            yield from keys_of_loop(node, is_mapping)


def lists_read(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    names = names_for(tree, holds)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getlist":
            yield from texts(asked(node, lambda n: holds(n) or getattr(n, "id", "") in names))


def stands_for(node: ast.AST | None, holds: Callable[[ast.AST], bool]) -> bool:
    if isinstance(node, ast.BoolOp):
        return any(stands_for(value, holds) for value in node.values)
    if isinstance(node, ast.IfExp):
        return stands_for(node.body, holds) or stands_for(node.orelse, holds)
    if isinstance(node, ast.Call):
        return holds(node) or any(holds(copied) for copied in copies(node))
    return node is not None and holds(node)


def copies(node: ast.Call) -> Iterator[ast.AST]:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in COPIES:
        yield from node.args[:1] or [getattr(node.func, "value", node)]


def names_for(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> frozenset[str]:
    assigned: dict[str, list[bool]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(stands_for(node.value, holds))
    return frozenset(name for name, values in assigned.items() if all(values))


def asked(node: ast.AST, holds: Callable[[ast.AST], bool]) -> Iterator[ast.AST]:
    mapping, keys = lookup(node)
    if mapping is not None and holds(mapping):
        yield from keys


def lookup(node: ast.AST) -> tuple[ast.AST | None, list[ast.expr]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in READERS:
            return node.func.value, node.args[:1]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value, [node.slice]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], [node.left]
    return None, []


def keys_of_loop(loop: ast.For, holds: Callable[[ast.AST], bool]) -> Iterator[str]:
    items = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else []
    names = {loop.target.id} if isinstance(loop.target, ast.Name) else set()
    keys = [key for node in ast.walk(loop) for key in asked(node, holds)]
    if any(isinstance(key, ast.Name) and key.id in names for key in keys):
        yield from texts(items)


def texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


Holds = Callable[[ast.AST], bool]
ValueOf = Callable[[ast.AST], Any]

PARTS = frozenset(
    {"chunks", "content_type", "multiple_chunks", "name", "open", "read", "readline", "readlines"}
    | {"seek", "size", "temporary_file_path"}
)
"""Attributes of an uploaded file that no value of JSON has."""


def files_used(tree: ast.AST, holds: Holds, value_of: ValueOf) -> Iterator[str]:
    names = names_for(tree, holds)
    uses = FileUses(tree, lambda node: holds(node) or getattr(node, "id", "") in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PARTS:
            yield from uses.keys_of(node.value)
        elif isinstance(node, ast.Call):
            for stored in values_stored(node, value_of):
                yield from uses.keys_of(stored)


def values_stored(node: ast.Call, value_of: ValueOf) -> Iterator[ast.AST]:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "save":
        yield from node.args[1:2]
    model = value_of(root_of(node.func))
    if inspect.isclass(model) and issubclass(model, Model):
        stored = {field.name for field in model._meta.fields if isinstance(field, FileField)}
        yield from (keyword.value for keyword in node.keywords if keyword.arg in stored)


def root_of(node: ast.AST) -> ast.AST:
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
        yield from texts(asked(node, self.holds))
        yield from self.variables.get(getattr(node, "id", ""), ())


def assigned(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        value = getattr(node, "iter", None) or getattr(node, "value", None)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.AST):
                yield target.id, value


def resolve(view_class: type, name: str, after: type | None = None) -> tuple[Any, type | None]:
    mro = view_class.__mro__
    start = mro.index(after) + 1 if after in mro else 0
    owner = next((base for base in mro[start:] if name in vars(base)), None)
    return (vars(owner)[name], owner) if owner is not None else (None, None)


@functools.lru_cache(maxsize=4096)
def parse(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return None
    statement = tree.body[0] if tree.body else None
    return statement if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def layers(function: Any) -> Iterator[tuple[Any, bool]]:
    while inspect.isfunction(function):
        wrapped = wrapped_by(function)
        yield function, wrapped is not None
        function = wrapped


def wrapped_by(function: Any) -> Any:
    if function.__module__ == "rest_framework.decorators":
        return inspect.getclosurevars(function).nonlocals.get("func")
    return getattr(function, "__wrapped__", None)


def value_of(node: ast.AST, function: Any) -> Any:
    if isinstance(node, ast.Name):
        if node.id in function.__code__.co_freevars:
            return inspect.getclosurevars(function).nonlocals.get(node.id)
        return function.__globals__.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        holder = value_of(node.value, function)
        return None if holder is None else inspect.getattr_static(holder, node.attr, None)
    return None
