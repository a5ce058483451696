"""Classes with their own way to read input: which of them REST framework's own code describes.

An override whose first statement gives its argument to ``super()`` can only refuse more
afterwards, so what REST framework's own code takes describes the class. Any other override
may take anything. An ``if self.flag`` before that statement counts as the branch that the flag of
the instance chooses: serializers that look an object up where they are nested, such as those of
NetBox, begin so, and without it three in five of NetBox's tools lose their schemas.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from drf_mcp.introspection.handlers import parse
from drf_mcp.introspection.source.stock import function_behind

CONVERSIONS = ("to_internal_value", "run_validation")
"""The methods of a field, or of a serializer, that read input."""


def reads_as_stock(field: Any) -> bool:
    """Return True if a field takes nothing that REST framework's own code would refuse."""
    return all(reaches_rest_framework(field, method) for method in CONVERSIONS)


def reaches_rest_framework(field: Any, method: str) -> bool:
    # False too for a package that writes the method anew, without a word of REST framework's.
    for base in type(field).__mro__:
        function = function_behind(vars(base).get(method))
        if function is None:
            continue
        if str(function.__module__).partition(".")[0] == "rest_framework":
            return True
        if not begins_with_super(function, method, field):
            return False
    return False


def begins_with_super(function: Any, method: str, field: Any) -> bool:
    # A decorator may change what the method is given.
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return False
    tree = parse(function.__code__)
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) < 2:
        return False
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    beginning = first_statement(body, tree.args.args[0].arg, field)
    return evaluates_super(getattr(beginning, "value", None), method, tree.args.args[1].arg)


def first_statement(body: list[ast.stmt], own: str, field: Any) -> ast.stmt | None:
    for statement in body:
        flag = flag_of(statement.test, own, field) if isinstance(statement, ast.If) else None
        if not isinstance(statement, ast.If) or flag is None:
            return statement
        chosen = first_statement(statement.body if flag else statement.orelse, own, field)
        if chosen is not None:
            return chosen
    return None


def flag_of(test: ast.expr, own: str, field: Any) -> bool | None:
    if not isinstance(test, ast.Attribute) or not is_name(test.value, own):
        return None
    value = inspect.getattr_static(field, test.attr, None)
    return value if isinstance(value, bool) else None


def evaluates_super(node: ast.AST | None, method: str, argument: str) -> bool:
    # Only what is evaluated in any case counts, and before anything else.
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return evaluates_super(node.value, method, argument)
    if not isinstance(node, ast.Call):
        return False
    if is_super_call(node, method, argument):
        return True
    if isinstance(node.func, ast.Attribute):
        return evaluates_super(node.func, method, argument)
    return bool(node.args) and evaluates_super(node.args[0], method, argument)


def is_super_call(node: ast.Call, method: str, argument: str) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.func.attr != method:
        return False
    owner = node.func.value
    handed_on = [*node.args, *(keyword.value for keyword in node.keywords)]
    return (
        isinstance(owner, ast.Call)
        and is_name(owner.func, "super")
        and len(handed_on) == 1
        and is_name(handed_on[0], argument)
    )


def is_name(node: ast.AST, name: str) -> bool:
    """Return True for a variable of a name."""
    return isinstance(node, ast.Name) and node.id == name
