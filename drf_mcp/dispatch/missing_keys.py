"""The argument that code of a view reads by ``[...]`` and that the call did not send."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.source.trees import find_assignments, parse_function
from drf_mcp.json_text import walk_objects
from drf_mcp.outcomes import MISSING

Path = tuple[str | int, ...]
# What an expression may read of a request, and what leads to one or has what a call sent.
OF_REQUEST = frozenset({"data", "query_params", "GET", "POST", "FILES"})
LEADING = frozenset({"request", "_request", "context", "initial_data"})
# Methods of a serializer that get what it made of the body.
VALIDATED, TAKING = "validated_data", frozenset({"validate", "create", "update", "save"})
METHODS = frozenset({"pop", "__getitem__", "format", "format_map"})
# The most values of a body that are compared with what the code read.
MOST_VALUES = 10_000


def find_missing_key(exc: BaseException) -> Path | None:
    """Return the path of the value whose lack raised an exception, None for any other reason."""
    is_none = isinstance(exc, (AttributeError, TypeError)) and "NoneType" in str(exc)
    if not is_none and not isinstance(exc, KeyError):
        return None
    return attempt(lambda: MissingKey(exc).find_path(), None)


def is_of_wrong_body(exc: BaseException) -> bool:
    """Return whether code failed because the body that the call sent is no object."""
    if not isinstance(exc, (AttributeError, TypeError)):
        return False
    return attempt(lambda: MissingKey(exc).reads_wrong_body(), False)


class MissingKey:
    """The expression that raised an exception, in the last frame that is no lookup of Django's.

    Args:
        exc: a KeyError, or an exception of None instead of a value; with the traceback of the
            whole view.
    """

    def __init__(self, exc: BaseException) -> None:
        self.exc, trace = exc, exc.__traceback__
        steps = list(traceback.walk_tb(trace))
        self.requests = [
            each
            for frame, _line in steps
            for each in frame.f_locals.values()
            if isinstance(each, Request)
        ]
        frames = list(zip(_iterate_tracebacks(trace), steps, strict=True))
        # The code that reads a form or a query is Django's.
        while len(frames) > 1 and _is_lookup(frames[-1][1][0]):
            frames.pop()
        last, (self.frame, _line) = frames[-1]
        self.node = _find_expression(self.frame, last.tb_lasti)

    def find_path(self) -> Path | None:
        if self.node is None or not self.requests:
            return None
        for node, key in self._find_lookups(self.node):
            read = self.evaluate(node)
            if not isinstance(key, str) or not isinstance(read, Mapping) or key in read:
                continue
            if self._is_validated(node):
                return (key,)
            for place, value in self._find_sent():
                if is_same(read, value):
                    return (*place, key)
        return None

    def reads_wrong_body(self) -> bool:
        body = self.requests[-1].data if self.requests else {}
        if isinstance(body, Mapping):
            return False
        if isinstance(self.exc, AttributeError):
            return self.exc.obj is body
        is_item = isinstance(self.node, ast.Subscript)
        return is_item and self.evaluate(self.node.value) is body  # type: ignore[union-attr]

    def _find_lookups(self, node: ast.AST) -> Iterator[tuple[ast.AST, Any]]:
        """Yield the expressions that are read by a key, with the key."""
        if isinstance(self.exc, KeyError):
            yield from ((each, self.exc.args[0]) for each in find_read(node))
            return
        for child in ast.iter_child_nodes(node):
            each = self.find_value(child) if isinstance(child, ast.Name) else child
            if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute):
                continue
            if each.func.attr == "get" and each.args:
                yield each.func.value, self.evaluate(each.args[0])

    def find_value(self, name: ast.Name) -> ast.AST | None:
        """Return what a variable that is None was set to, None for anything but one assignment."""
        if self.frame.f_locals.get(name.id, MISSING) is not None:
            return None
        tree = parse_function(self.frame.f_code)
        found = find_assignments(ast.walk(tree)) if tree is not None else ()
        values = [value for variable, value in found if variable == name.id]
        return values[0] if len(values) == 1 else None

    def _is_validated(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == VALIDATED
        code, names = self.frame.f_code, self.frame.f_locals
        taken = code.co_varnames[1 : code.co_argcount] if code.co_name in TAKING else ()
        is_taken = isinstance(node, ast.Name) and node.id in taken
        return is_taken and isinstance(names.get(code.co_varnames[0]), BaseSerializer)

    def _find_sent(self) -> Iterator[tuple[Path, Any]]:
        """Yield the objects that the call sent, with their paths."""
        request: Any = self.requests[-1]
        yield from (((), each) for each in (request.query_params, request.POST, request.FILES))
        yield from islice(walk_objects(request.data), MOST_VALUES)

    def evaluate(self, node: ast.AST) -> Any:
        """Return the value of an expression that only reads names, attributes and items."""
        if isinstance(node, ast.Name):
            return self.frame.f_locals.get(node.id, MISSING)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            owner = self.evaluate(node.value)
            if node.attr == VALIDATED:
                return getattr(owner, "_validated_data", MISSING)
            is_request = isinstance(owner, (Request, HttpRequest))
            is_read = node.attr in LEADING or (is_request and node.attr in OF_REQUEST)
            return getattr(owner, node.attr, MISSING) if is_read else MISSING
        if isinstance(node, ast.Subscript):
            owner, key = self.evaluate(node.value), self.evaluate(node.slice)
            is_plain = type(owner) in (dict, list) or isinstance(owner, MultiValueDict)
            return owner[key] if is_plain and key is not MISSING else MISSING
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # A copy is compared by its members.
            return self.evaluate(node.func.value) if node.func.attr in ("copy", "dict") else MISSING
        return MISSING


def _iterate_tracebacks(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_lookup(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") == MultiValueDict.__module__


def _find_expression(frame: FrameType, instruction: int) -> ast.AST | None:
    """Return the expression that an instruction of a frame evaluates, None without its source."""
    positions = next(islice(frame.f_code.co_positions(), instruction // 2, None), None)
    if positions is None or None in positions:
        return None
    first, last, start, end = positions
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]  # type: ignore[operator]
    if not lines:
        return None
    encoded = [line.encode() for line in lines]
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][start:]
    text = b"".join(encoded).decode()
    try:
        return ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return None


def find_read(node: ast.AST) -> Sequence[ast.AST]:
    """Return the expressions that an expression reads a key of."""
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.BinOp):
        return [node.right]
    if isinstance(node, ast.Call):
        method = node.func if isinstance(node.func, ast.Attribute) else None
        owner = [method.value] if method is not None and method.attr in METHODS else []
        return [*owner, *node.args, *(each.value for each in node.keywords if each.arg is None)]
    return []


def is_same(read: Any, sent: Any) -> bool:
    # A copy of an empty object shows nothing, unless it is a copy of a query or a form.
    is_copy = bool(read) or isinstance(read, MultiValueDict)
    return read is sent or (is_copy and isinstance(sent, Mapping) and read == sent)
