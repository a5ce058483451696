"""System check of the middleware: which of it decides by path and does not see the calls."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register
from django.utils.module_loading import import_string

from drf_mcp.operators.checks.endpoints import mounted_endpoints
from drf_mcp.operators.checks.settings import can_read_tools
from drf_mcp.settings import mcp_settings

# What tells of a request where it goes.
PLACES = frozenset({"path", "path_info", "get_full_path", "get_full_path_info", "resolver_match"})
# Packages whose middleware decides nothing about the answers of an API by its path.
INDIFFERENT = (
    *("django", "drf_mcp", "corsheaders", "whitenoise", "debug_toolbar", "silk", "csp"),
    *("django_prometheus", "allauth", "django_structlog", "opentelemetry"),
)


@register("drf_mcp")
def check_call_middleware(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for installed middleware that reads the path and does not run around calls."""
    if not can_read_tools() or not mounted_endpoints():
        return []
    return [
        Warning(
            f"{name} reads the path of a request. Of the call of a tool it sees the path of the "
            f"MCP endpoint alone.",
            hint="Add it to DRF_MCP['CALL_MIDDLEWARE'], which runs it around each call with the "
            "path of the API, or silence this warning if that does not matter there. See "
            "docs/middleware.md.",
            id="drf_mcp.W013",
        )
        for name in settings.MIDDLEWARE
        if name.partition(".")[0] not in INDIFFERENT and decides_by_path(name)
    ]


def decides_by_path(name: str) -> bool:
    """Return whether installed middleware reads the path and is not run around calls."""
    try:
        middleware = import_string(name)
    except ImportError:  # Django itself tells of it.
        return False
    return middleware not in mcp_settings.CALL_MIDDLEWARE and PathReading(middleware).found()


class PathReading:
    """Looks through the source of middleware for readings of a request's path.

    Args:
        middleware: a class or a function.
    """

    def __init__(self, middleware: Any) -> None:
        bases = inspect.getmro(middleware) if isinstance(middleware, type) else (middleware,)
        self.waiting = [b for b in bases if b.__module__.partition(".")[0] not in INDIFFERENT]
        self.looked_at: set[Any] = set()

    def found(self) -> bool:
        """Return whether the middleware, or a function that it hands its request, reads it."""
        while self.waiting:
            part = self.waiting.pop()
            if part in self.looked_at:
                continue
            self.looked_at.add(part)
            for node in ast.walk(source_tree(part)):
                if reads_path(node):
                    return True
                if isinstance(node, ast.Call):
                    self.waiting += called_with_request(node, part)
        return False


def reads_path(node: ast.AST) -> bool:
    """Return whether code reads a request's path, or takes the view that it leads to."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name == "process_view"
    return isinstance(node, ast.Attribute) and node.attr in PLACES and is_request(node.value)


def source_tree(part: Any) -> ast.AST:
    """Return the source of a class or function, an empty one where there is none."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(part)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def is_request(node: ast.expr) -> bool:
    """Return whether an expression is a request by its name."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in ("request", "req", "_request")


def called_with_request(node: ast.Call, part: Any) -> Iterator[Any]:
    """Yield the function of the same module, or imported there, that a call gives a request."""
    if isinstance(node.func, ast.Name) and any(map(is_request, node.args)):
        function = getattr(sys.modules.get(part.__module__), node.func.id, None)
        if inspect.isfunction(function):
            yield function
