"""What the source of middleware does with requests before a view runs."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from drf_mcp.introspection.source.members import REQUEST, FunctionSource, find_root, list_functions

PATHS = frozenset({"path", "path_info", "get_full_path", "get_full_path_info", "resolver_match"})
OF_VIEW = frozenset({"view_func", "view_args", "view_kwargs"})
# Code that runs after the view, or when it fails.
LATER = frozenset({"process_response", "process_exception", "process_template_response"})
LOGGING = re.compile(r"(log|logger|logging|print|metric\w*|statsd|sentry\w*|warnings)\b", re.I)
ANSWERING = re.compile(r"(await )?(\w+\.)*get_response\(")
# Packages whose middleware decides nothing about the answers of an API by its path.
INDIFFERENT = frozenset(
    {
        "allauth",
        "auditlog",
        "axes",
        "corsheaders",
        "csp",
        "debug_toolbar",
        "django",
        "django_htmx",
        "django_prometheus",
        "django_structlog",
        "drf_mcp",
        "easyaudit",
        "opentelemetry",
        "pghistory",
        "sentry_sdk",
        "silk",
        "simple_history",
        "whitenoise",
    }
)


class MiddlewareCode:
    """What the source of a middleware does with the requests, before the view runs."""

    def __init__(self, middleware: Any) -> None:
        is_class = inspect.isclass(middleware)
        functions = list_functions(middleware) if is_class else iter([middleware])
        self.sources = [
            FunctionSource(each)
            for each in functions
            if find_root(each) not in INDIFFERENT and each.__name__ not in LATER | {"__init__"}
        ]

    @cached_property
    def attributes(self) -> list[str]:
        """The attributes that it sets on the request."""
        names: list[str] = []
        for node in (node for source in self.sources for node in source.nodes):
            names.append(find_named_attribute(node, "setattr"))
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.append(node.attr if is_request(node.value) else "")
        return [
            name for name in dict.fromkeys(names) if name not in ("", "user", "auth", "session")
        ]

    def decides_by_path(self, paths: list[str]) -> bool:
        """Return whether the path may matter, and is not compared alike for all of some paths."""
        for source in self.sources:
            # Variables that have the path, or a part of it, and the texts that were taken off it.
            holding: dict[str, set[str]] = {}
            for statement, expression in find_expressions(source):
                nodes = [*ast.walk(expression)]
                names = {each.id for each in nodes if isinstance(each, ast.Name)} & holding.keys()
                if not names and not any(map(reads_path, nodes)):
                    continue
                compared = filter(is_comparison, nodes)
                values = (source.find_value(n) for each in compared for n in ast.walk(each))
                texts = {text for value in values for text in find_compared_texts(value)}
                texts |= {text for name in names for text in holding[name]}
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                is_of_view = any(isinstance(n, ast.Name) and n.id in OF_VIEW for n in nodes)
                if isinstance(target, ast.Name) and not is_of_view:
                    holding[target.id] = texts
                    continue
                # A path that is used as a whole may be compared with anything.
                decides = is_of_view or not texts or any(map(partial(differ, paths), texts))
                if decides and not isinstance(target, ast.Subscript):
                    return True
        return False


def find_expressions(source: FunctionSource) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Yield the expressions of statements that run before the view, and are not for a log."""
    statements = [node for node in source.nodes if isinstance(node, ast.stmt)]
    answers = (node for node in statements if isinstance(node, ast.Assign))
    answered = [each.lineno for each in answers if ANSWERING.match(ast.unparse(each.value))]
    for statement in sorted(statements, key=lambda each: each.lineno):
        for part in ast.iter_child_nodes(statement):
            is_before = statement.lineno <= min(answered, default=sys.maxsize)
            if isinstance(part, ast.expr) and is_before and not LOGGING.match(ast.unparse(part)):
                yield statement, part


def find_compared_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a constant that a path may begin or end with."""
    for each in value if isinstance(value, (tuple, list, set, frozenset)) else (value,):
        if isinstance(each, str) and len(each) > 1:
            yield each


def differ(paths: list[str], text: str) -> bool:
    """Return whether some of the paths have a text, and others do not."""
    return len({text in path for path in paths}) > 1


def is_comparison(node: Any) -> bool:
    method = getattr(getattr(node, "func", None), "attr", "")
    return isinstance(node, ast.Compare) or method in ("startswith", "endswith")


def reads_path(node: Any) -> bool:
    if isinstance(node, ast.Name) and node.id in OF_VIEW:
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Attribute) and node.attr in PATHS and is_request(node.value)


def is_request(node: Any) -> bool:
    if isinstance(node, ast.Subscript):
        # ``self.context["request"]``
        return isinstance(node.slice, ast.Constant) and node.slice.value in REQUEST
    name = getattr(node, "attr", None) or getattr(node, "id", None)
    return name in REQUEST


def find_named_attribute(node: Any, function: str) -> str:
    """Return the attribute that ``getattr`` or ``setattr`` names of a request, "" for none."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != function:
        return ""
    given, name = [*node.args, None, None][:2]
    return str(name.value) if is_request(given) and isinstance(name, ast.Constant) else ""


def find_setting_middleware(attribute: str) -> str:
    """Return the middleware in MIDDLEWARE that sets an attribute on the request, "" for none."""
    for name in settings.MIDDLEWARE:
        if attribute in MiddlewareCode(import_string(name)).attributes:
            return str(name)
    return ""
