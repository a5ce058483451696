"""The syntax trees of functions."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import textwrap
from types import CodeType
from typing import Any

from django.conf import settings

REQUEST = frozenset({"request", "_request", "req"})
AnyFunctionDef = ast.FunctionDef | ast.AsyncFunctionDef
MISSING = object()


class FunctionSource:
    # tree: None for a function without readable source.

    def __init__(self, function: Any) -> None:
        self.function = function
        self.tree = parse_function(function.__code__) if inspect.isfunction(function) else None

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return () if self.tree is None else tuple(ast.walk(self.tree))

    def find_value(self, node: ast.AST) -> Any:
        # Only names from outside the function have a value that is known without running it.
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            found = self.find_outer(node.id)
            return None if found is MISSING else found
        if isinstance(node, ast.Attribute):
            holder = self.find_value(node.value)
            get: Any = getattr if holder is settings else inspect.getattr_static
            return None if holder is None else get(holder, node.attr, None)
        return None

    def find_outer(self, name: str) -> Any:
        """Return the value of a name from outside the function, `MISSING` for a local name."""
        function, code = self.function, self.function.__code__
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:  # not assigned yet
                return MISSING
        if name in code.co_varnames or name in code.co_cellvars:
            return MISSING
        return function.__globals__.get(name, getattr(builtins, name, MISSING))


@functools.lru_cache(maxsize=4096)
def parse_function(code: CodeType) -> AnyFunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent(read_source(code)))
    except (OSError, TypeError, SyntaxError):
        return None
    statement = tree.body[0] if tree.body else None
    return statement if isinstance(statement, AnyFunctionDef) else None


def read_source(code: CodeType) -> str:
    # `inspect.getsource` would look through every module of the process for the file's.
    if lines := linecache.getlines(code.co_filename):
        return "".join(inspect.getblock(lines[code.co_firstlineno - 1 :]))
    return inspect.getsource(code)


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def refuses_call(statement: ast.stmt) -> bool:
    """Return whether a statement raises an exception, or returns a response with an error."""
    if isinstance(statement, ast.Raise):
        return True
    answer = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(answer, ast.Call):
        return False
    values = [k.value for k in answer.keywords if k.arg in ("status", "status_code")]
    status = next(iter([*values, *answer.args[1:2]]), None)
    if isinstance(status, ast.Constant) and isinstance(status.value, int):
        return status.value >= 400
    name = getattr(status, "attr", getattr(status, "id", ""))
    return name.startswith(("HTTP_4", "HTTP_5"))
