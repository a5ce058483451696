"""Whether a field's own conversion takes what REST framework's class takes."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from typing import Any

from drf_mcp.introspection.source.members import unwrap_member
from drf_mcp.introspection.source.trees import (
    FunctionSource,
    is_name,
    parse_function,
)

CONVERSIONS = ("to_internal_value", "run_validation")


class InputMethod:
    # A conversion whose first statement gives its argument to ``super()`` can only refuse more
    # values afterwards: the schema of REST framework's class describes it. The statement may be in
    # the branch of an ``if self.flag`` that the field takes, as in NetBox's serializers: without
    # this three in five of NetBox's tools have no schema.

    def __init__(self, function: Any) -> None:
        self.tree = FunctionSource(function).tree
        # A decorator may change what the method is called with.
        parameters = [] if self.tree is None else self.tree.args.args
        self.is_readable = len(parameters) > 1 and not hasattr(function, "__wrapped__")
        if self.is_readable:
            self.own, self.argument = parameters[0].arg, parameters[1].arg

    def begins_with_super(self, field: Any) -> bool:
        if not self.is_readable or not isinstance(self.tree, ast.FunctionDef):
            return False
        documented = ast.get_docstring(self.tree) is not None
        body = self.tree.body[1:] if documented else self.tree.body
        node = getattr(self.find_beginning(body, field), "value", None)
        inherited = rf"super\([^)]*\)\.{self.tree.name}\((\w+=)?{self.argument}\)"
        # Only the part that is always evaluated, and first, counts.
        while node is not None and not re.fullmatch(inherited, ast.unparse(node)):
            if isinstance(node, ast.Call):
                first = node.args[0] if node.args else None
                node = node.func if isinstance(node.func, ast.Attribute) else first
            else:
                is_part = isinstance(node, (ast.Attribute, ast.Subscript))
                node = node.value if is_part else None
        return node is not None

    def find_beginning(self, body: list[ast.stmt], field: Any) -> ast.stmt | None:
        """Return the first statement, in the branches of ``if self.flag`` that the field takes."""
        for statement in body:
            test = statement.test if isinstance(statement, ast.If) else None
            value: Any = None
            if isinstance(test, ast.Attribute) and is_name(test.value, self.own):
                value = inspect.getattr_static(field, test.attr, None)
            if not isinstance(statement, ast.If) or not isinstance(value, bool):
                return statement
            beginning = self.find_beginning(statement.body if value else statement.orelse, field)
            if beginning is not None:
                return beginning
        return None


@functools.lru_cache(maxsize=4096)
def list_overrides(owner: type, name: str) -> tuple[InputMethod, ...] | None:
    found: list[InputMethod] = []
    for base in owner.__mro__:
        function = unwrap_member(vars(base).get(name))
        if function is None:
            continue
        if str(function.__module__).partition(".")[0] == "rest_framework":
            return tuple(found)
        found.append(InputMethod(function))
    # REST framework's method is never reached.
    return None


def converts_like_drf(field: Any) -> bool:
    """Return whether the schema of REST framework's class says what the field takes."""
    owner: type = type(field)
    overrides = (list_overrides(owner, name) for name in CONVERSIONS)
    return all(
        found is not None and all(method.begins_with_super(field) for method in found)
        for found in overrides
    )


def forget_trees() -> None:
    """Free the syntax trees; a function that is read again is parsed again."""
    for reader in (parse_function, list_overrides):
        reader.cache_clear()
