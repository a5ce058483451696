"""Answers of which only a project's own code knows who may read them."""

from __future__ import annotations

import functools
from typing import Any

from rest_framework.generics import GenericAPIView

from drf_mcp.access.authentication_reuse import is_bare
from drf_mcp.dispatch.middleware import is_asynchronous
from drf_mcp.introspection.source.members import is_drf_code, unwrap_function

# Seconds that an answer is kept of which only its own code knows who may read it.
SHORT_LIFETIME = 15 * 60
# Packages whose decorators, but for those of users, let every caller pass.
PACKAGES = frozenset({"adrf", "django", "rest_framework"})
CHOOSES_FIELDS = ("get_serializer_class", "get_serializer", "get_serializer_context")
MAKES_FIELDS = ("__init__", "get_fields", "get_field_names", "to_representation")


@functools.lru_cache(maxsize=4096)
def has_own_handler(endpoint: Any) -> bool:
    """Return whether code of the project's own makes the answer of an endpoint."""
    names = {endpoint.handler_name, endpoint.standard_action or endpoint.handler_name}
    return not is_drf_code(endpoint.view_class, *names)


@functools.lru_cache(maxsize=4096)
def shows_fields_by_caller(endpoint: Any) -> bool:
    """Return whether fields of the answer may depend on who is calling."""
    view_class = endpoint.view_class
    if not issubclass(view_class, GenericAPIView):
        return False
    own = endpoint.route.initkwargs.get("serializer_class")
    serializer_class = own or getattr(view_class, "serializer_class", None)
    is_stock = serializer_class is None or is_drf_code(serializer_class, *MAKES_FIELDS)
    return not is_stock or not is_drf_code(view_class, *CHOOSES_FIELDS)


def get_lifetime(endpoint: Any) -> int | None:
    """Return how many seconds an answer is kept at most, None for as long as any."""
    is_own = has_own_handler(endpoint) or shows_fields_by_caller(endpoint)
    return SHORT_LIFETIME if is_own else None


def keeps_answers(tool: Any) -> bool:
    """Return whether what has no room in the results of a tool is kept."""
    endpoint = tool.endpoint
    if tool.options.archive is False or getattr(endpoint.view_class, "archive", None) is False:
        return False
    return can_be_asked(endpoint)


@functools.lru_cache(maxsize=4096)
def can_be_asked(endpoint: Any) -> bool:
    """Return whether nothing around the view could refuse a caller: it would not be asked."""
    callback = endpoint.route.callback
    layers = [layer for layer, _ in unwrap_function(callback)]
    # Packages for asynchronous views make callbacks of their own.
    if is_bare(callback) or (is_asynchronous(callback) and len(layers) == 1):
        return True
    modules = [str(layer.__globals__["__name__"]) for layer in layers if not is_bare(layer)]
    return bool(layers) and all(map(is_known_package, modules))


def is_known_package(module: str) -> bool:
    is_known = module.partition(".")[0] in PACKAGES
    return is_known and not module.startswith("django.contrib.auth")
