"""What an expression in the code of a view stands for: its request, the body, a method."""

from __future__ import annotations

import ast
from typing import TypeGuard

REQUEST = frozenset({"request", "_request", "req"})
BODY = frozenset({"data", "POST", "FILES", "body", "stream"})
QUERY = frozenset({"query_params", "GET"})


def is_own_method(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Return True for ``self.name`` and ``super().name``."""
    if not isinstance(node, ast.Attribute):
        return False
    value = node.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id == "self"


def is_request(node: ast.AST) -> bool:
    """Return True for ``request`` and ``self.request``."""
    if isinstance(node, ast.Attribute):
        return node.attr in REQUEST
    return isinstance(node, ast.Name) and node.id in REQUEST


def is_body(node: ast.AST | None) -> bool:
    """Return True for ``request.data`` and its kin."""
    return isinstance(node, ast.Attribute) and node.attr in BODY and is_request(node.value)


def is_data(node: ast.AST) -> bool:
    """Return True for ``request.data`` and ``request.POST``."""
    return is_body(node) and getattr(node, "attr", "") in ("data", "POST")


def is_files(node: ast.AST) -> bool:
    """Return True for ``request.FILES``."""
    return is_body(node) and getattr(node, "attr", "") == "FILES"


def passes_request(node: ast.Call) -> bool:
    """Return True if a call is given the request, the view, or arguments not spelled out."""
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    unpacked = any(isinstance(argument, ast.Starred) for argument in node.args)
    return unpacked or any(
        is_request(argument) or (isinstance(argument, ast.Name) and argument.id == "self")
        for argument in arguments
    )


def is_query(node: ast.AST) -> bool:
    """Return True for ``request.query_params`` and ``request.GET``."""
    return isinstance(node, ast.Attribute) and node.attr in QUERY and is_request(node.value)


def truth(node: ast.AST | None) -> bool | None:
    """Return what an optional argument comes to as a condition, None if that depends."""
    if node is None:
        return False
    return bool(node.value) if isinstance(node, ast.Constant) else None
