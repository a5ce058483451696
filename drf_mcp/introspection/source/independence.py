"""Whether a project's own code decides what a class does, and whether it asks for a request."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from drf_mcp.introspection.handlers import parse
from drf_mcp.introspection.source.stock import is_stock

# Parts of names that speak of who is calling, or of what differs from call to call.
WHO = ("user", "context", "tenant", "current", "session", "auth", "language", "locale", "site")
FLAG = "swagger_fake_view"
"""What a view is marked with while it is described: no request ever finds it."""
INSTANCE = frozenset({"self", "cls"})
REQUEST = frozenset({"request", "_request"})
FRAMEWORKS = frozenset({"builtins", "django", "django_filters", "rest_framework"})


def is_left_to_frameworks(owner: type, names: Iterable[str]) -> bool:
    """Return True if no code of a project's own stands behind some members of a class."""
    return not any(True for name in names for _ in own_functions(owner, name))


@functools.cache
def is_same_for_every_request(owner: type, name: str) -> bool:
    """Return True if a member of a class, with all that it uses of it, asks for no request."""
    return all(asks_for_no_request(function) for function in used(owner, name))


@functools.cache
def is_same_without_flag(owner: type, name: str) -> bool:
    """Return True if a member of a class, with all that it uses of it, ignores `FLAG`."""
    return all(ignores_flag(function) for function in used(owner, name))


def makes_without_flag(owner: type, names: Iterable[str]) -> bool:
    """Return True if each of some members of a class does the same where `FLAG` is not set."""
    return all(is_stock(owner, name) or is_same_without_flag(owner, name) for name in names)


def used(owner: type, name: str) -> Iterator[Any]:
    """Yield the project's own functions behind a name, and those that they use of the class."""
    waiting, seen = [name], {name}
    while waiting:
        member = waiting.pop()
        for function in own_functions(owner, member):
            yield function
            for inner in members(function) - seen:
                seen.add(inner)
                waiting.append(inner)


def members(function: Any) -> set[str]:
    """Return the names of what a function uses of its own instance."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    return {
        node.attr
        for node in ast.walk(tree or ast.Module([], []))
        if isinstance(node, ast.Attribute) and is_own(node.value)
    }


def is_own(node: ast.AST) -> bool:
    """Return True for ``self``, ``cls`` and ``super()``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in INSTANCE


def own_functions(owner: type, name: str) -> Iterator[Any]:
    """Yield what a class and its bases, those of frameworks aside, define by a name."""
    for base in owner.__mro__:
        if base.__module__.partition(".")[0] in FRAMEWORKS or name not in vars(base):
            continue
        member = vars(base)[name]
        member = getattr(member, "fget", None) or getattr(member, "func", None) or member
        member = getattr(member, "__func__", member)
        if callable(member) and not inspect.isclass(member):
            yield member


def asks_for_no_request(function: Any) -> bool:
    """Return True if a function's source speaks of no caller and no request."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    return tree is not None and not any(
        speaks_of_caller(node) or hands_itself_on(node) for node in ast.walk(tree)
    )


def ignores_flag(function: Any) -> bool:
    """Return True if a function's source speaks of no `FLAG`, and asks nobody else who may."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    return tree is not None and not any(
        name_of(node) == FLAG or hands_itself_on(node) for node in ast.walk(tree)
    )


def hands_itself_on(node: ast.AST) -> bool:
    """Return True if a piece of source gives the instance to a function that may ask anything."""
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
    return not is_super and any(isinstance(g, ast.Name) and g.id in INSTANCE for g in given)


def speaks_of_caller(node: ast.AST) -> bool:
    """Return True if a piece of source names a caller, or a request."""
    name = name_of(node)
    if isinstance(node, ast.Constant):
        return name in {*REQUEST, "context"}  # kwargs["context"] holds the request
    return name in REQUEST or any(word in name.lower() for word in WHO)


def name_of(node: ast.AST) -> str:
    """Return the name that a variable, an attribute or a text is; "" for anything else."""
    name = getattr(node, "attr", None) or getattr(node, "id", None)
    if isinstance(node, ast.Constant):
        name = node.value
    return name if isinstance(name, str) else ""
