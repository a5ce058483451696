"""What the source of middleware does with requests before a view runs."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from drf_mcp.exceptions import attempt

PATHS = frozenset({"path", "path_info", "get_full_path", "get_full_path_info", "resolver_match"})
REQUESTS = frozenset({"request", "req", "_request"})
OF_VIEW = frozenset({"view_func", "view_args", "view_kwargs"})
# Code that runs after the view, or when it fails.
LATER = frozenset({"process_response", "process_exception", "process_template_response"})
ENDS = ("startswith", "endswith")
LOGGING = re.compile(r"log|logger|logging|print|metric\w*|statsd|sentry\w*|warnings", re.IGNORECASE)
# Packages whose middleware decides nothing about the answers of an API by its path.
INDIFFERENT = (
    *("django", "drf_mcp", "corsheaders", "whitenoise", "debug_toolbar", "silk", "csp"),
    *("django_prometheus", "allauth", "django_structlog", "opentelemetry", "pghistory"),
    *("auditlog", "easyaudit", "simple_history", "axes", "django_htmx", "sentry_sdk"),
)


class MiddlewareCode:
    """What the source of a middleware does with the requests, before the view runs."""

    def __init__(self, middleware: Any) -> None:
        self.middleware = middleware

    @cached_property
    def functions(self) -> list[tuple[Any, Mapping[str, Any]]]:
        """The trees of its functions that run before the view, with their globals."""
        found: list[tuple[Any, Mapping[str, Any]]] = []
        classes = inspect.isclass(self.middleware)
        for part in inspect.getmro(self.middleware) if classes else (self.middleware,):
            names = vars(sys.modules.get(part.__module__, SimpleNamespace()))
            if part.__module__.partition(".")[0] in INDIFFERENT:
                continue
            tree = parse_source(part)
            for node in ast.walk(tree):
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                if node.name not in LATER | {"__init__"}:
                    found.append((node, names))
        return found

    @cached_property
    def attributes(self) -> list[str]:
        """The attributes that it sets on the request."""
        targets = [
            node
            for function, _names in self.functions
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        ]
        names = [node.attr for node in targets if is_request(node.value)]
        every = [node for function, _names in self.functions for node in ast.walk(function)]
        names += filter(None, (find_named_attribute(node, "setattr") for node in every))
        return [name for name in dict.fromkeys(names) if name not in ("user", "auth", "session")]

    def decides_by_path(self, paths: list[str]) -> bool:
        """Return whether the path may matter, and is not compared alike for all of some paths."""
        return any(
            FunctionPaths(function, names).matters(paths) for function, names in self.functions
        )


class FunctionPaths:
    """The reads of the request's path in one function of a middleware."""

    def __init__(self, function: Any, names: Mapping[str, Any]) -> None:
        self.names = names
        self.parents: dict[Any, Any] = {
            child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
        }
        self.nodes = list(self.parents)
        # After the view has answered, the path changes no call.
        answered = [
            node.lineno
            for node in self.nodes
            if isinstance(node, ast.Assign) and calls(node.value, "get_response")
        ]
        self.last = min(answered, default=sys.maxsize)
        # Names of variables that have the path, or a part of it.
        self.variables: dict[str, ast.expr] = {}

    def matters(self, paths: list[str]) -> bool:
        reads = [node for node in self.nodes if reads_path(node) and node.lineno <= self.last]
        for node in [use for read in reads for use in self.find_uses(read)]:
            if not self.is_idle(node) and not self.is_alike(node, paths):
                return True
        return False

    def find_uses(self, node: Any) -> list[Any]:
        # A variable is used instead of its path.
        statements = (each for each in self.find_parents(node) if isinstance(each, ast.stmt))
        statement: Any = next(statements)
        targets: Any = getattr(statement, "targets", ())
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return [node]
        name = targets[0].id
        self.variables[name] = statement.value
        loads = (each for each in self.nodes if isinstance(each, ast.Name) and each.id == name)
        return [each for each in loads if isinstance(each.ctx, ast.Load)]

    def find_parents(self, node: Any) -> Iterator[Any]:
        while (node := self.parents.get(node)) is not None:
            yield node

    def is_idle(self, node: Any) -> bool:
        """Return whether a read is for a log, or for a header of the answer."""
        around = list(self.find_parents(node))
        logged = (each for each in around if isinstance(each, ast.Call))
        if any(LOGGING.fullmatch(_name_logger(each.func)) for each in logged):
            return True
        assigned = [each for each in around if isinstance(each, ast.Assign)]
        return any(isinstance(target, ast.Subscript) for a in assigned for target in a.targets)

    def is_alike(self, node: Any, paths: list[str]) -> bool:
        """Return whether a comparison with literals has the same result for all paths."""
        expression = node
        for each in self.find_parents(node):
            if isinstance(each, ast.stmt):
                break
            expression = each
            if isinstance(each, ast.Compare):
                break
            if find_method(each) in ENDS:
                break
        compared = isinstance(expression, ast.Compare) or find_method(expression) in ENDS
        parts = [expression, *self.variables.values()]
        if not compared or not all(is_simple(each) for part in parts for each in ast.walk(part)):
            return False
        code = compile(ast.Expression(expression), "middleware", "eval")

        def compare(path: str) -> Any:
            request = SimpleNamespace(path=path, path_info=path)
            request.get_full_path = request.get_full_path_info = lambda: path
            known = {**self.names, "__builtins__": {}, **dict.fromkeys(REQUESTS, request)}
            # `is_simple` allows comparisons of the path with literals, and no other code.
            for name, value in self.variables.items():
                part = compile(ast.Expression(value), name, "eval")
                known[name] = eval(part, known)  # nosec B307
            return eval(code, known)  # nosec B307

        return attempt(lambda: len(set(map(compare, paths))) <= 1, False)


def parse_source(code: Any) -> ast.AST:
    # No statements where the source cannot be read.
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def reads_path(node: Any) -> bool:
    if isinstance(node, ast.Name) and node.id in OF_VIEW:
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Attribute) and node.attr in PATHS and is_request(node.value)


def is_request(node: Any) -> bool:
    if isinstance(node, ast.Subscript):
        # ``self.context["request"]``
        return isinstance(node.slice, ast.Constant) and node.slice.value in REQUESTS
    name = getattr(node, "attr", None) or getattr(node, "id", None)
    return name in REQUESTS


def find_named_attribute(node: Any, function: str) -> str:
    """Return the attribute that ``getattr`` or ``setattr`` names of a request, "" for none."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != function:
        return ""
    given, name = [*node.args, None, None][:2]
    return str(name.value) if is_request(given) and isinstance(name, ast.Constant) else ""


def is_simple(node: Any) -> bool:
    # Only literals, constants of the module, and the methods of texts.
    known = (ast.Compare, ast.Attribute, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Set)
    if isinstance(node, ast.Call):
        return hasattr(str, find_method(node)) or find_method(node) in PATHS
    is_part = isinstance(node, (ast.cmpop, ast.expr_context, ast.Subscript, ast.Slice))
    return isinstance(node, known) or is_part


def find_method(node: Any) -> str:
    return node.func.attr if isinstance(getattr(node, "func", None), ast.Attribute) else ""


def _name_logger(node: Any) -> str:
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return getattr(node, "id", "")


def calls(node: Any, name: str) -> bool:
    node = node.value if isinstance(node, ast.Await) else node
    called = getattr(node, "func", None)
    return name in (getattr(called, "attr", None), getattr(called, "id", None))


def find_setting_middleware(attribute: str) -> str:
    """Return the middleware in MIDDLEWARE that sets an attribute on the request, "" for none."""
    for name in settings.MIDDLEWARE:
        if attribute in MiddlewareCode(import_string(name)).attributes:
            return str(name)
    return ""
