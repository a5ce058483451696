"""Query parameters that code reads by itself, beside those of filters and paginators."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from rest_framework.settings import api_settings

from drf_mcp.schemas.source.expressions import is_query
from drf_mcp.schemas.source.handlers import Reader, resolve
from drf_mcp.schemas.source.reads import keys_read


def query_keys(view_class: type, name: str, method: str) -> list[str]:
    """Return the query parameters that a handler, and the methods it comes to call, read by name.

    Args:
        view_class: the class of the view.
        name: the handler's name, an action or an HTTP method in lower case.
        method: the HTTP method in upper case, to leave out what the handler does for others.
    """
    function, owner = resolve(view_class, name)
    reader = QueryReader(view_class, method)
    if inspect.isfunction(function):
        reader.follow(function, owner)
    return [key for key in reader.keys if key != api_settings.URL_FORMAT_OVERRIDE]


class QueryReader(Reader):
    """Gathers the keys of the query, through REST framework's own hooks as well."""

    def walk(self, tree: ast.AST, function: Any, owner: type | None, is_wrapper: bool) -> None:
        """Read one function's body."""
        self.keys.update(dict.fromkeys(keys_read(tree, is_query)))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self.read_call(node, function, owner, is_wrapper)

    def read_method(self, node: ast.Call, function: Any, name: str, after: type | None) -> None:
        """Follow a call of one of the view's own methods."""
        method, owner = resolve(self.view_class, name, after)
        if inspect.isfunction(method):
            self.follow(method, owner)
