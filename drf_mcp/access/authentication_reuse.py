"""Whether a view authenticates as the endpoint does, so that authenticating once is enough."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.http import QueryDict
from rest_framework.parsers import BaseParser
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet, ViewSetMixin

# The methods of a view that run before its permissions.
AUTHENTICATION_STEPS = (
    *("setup", "dispatch", "initial", "perform_content_negotiation", "determine_version"),
    *("perform_authentication", "get_authenticators"),
)
INITIALIZERS = (APIView.initialize_request, ViewSetMixin.initialize_request)


class SampleViewSet(ViewSet):
    # Not `ViewSet` itself: `as_view` sets attributes on the class.
    pass


# The code of the functions that `as_view` returns: a callback with other code has a decorator.
CALLBACKS: Any = (APIView.as_view(), SampleViewSet.as_view({"get": "list"}))
OUTER_CODE = CALLBACKS[0].__code__
INNER_CODES = frozenset(callback.__wrapped__.__code__ for callback in CALLBACKS)


@functools.cache
def has_same_authentication(callback: Callable[..., Any], classes: tuple[type, ...]) -> bool:
    """Return whether a view authenticates with these classes, by REST framework's steps alone."""
    view_class = callback.cls  # type: ignore[attr-defined]
    return (
        find_view_classes(callback, "authentication_classes") == classes
        and is_undecorated(callback)
        and view_class.initialize_request in INITIALIZERS
        and all(getattr(view_class, n) is getattr(APIView, n) for n in AUTHENTICATION_STEPS)
    )


def find_view_classes(callback: Any, name: str) -> tuple[Any, ...] | None:
    """Return the classes in an attribute of a view, None where only an instance has them."""
    own = getattr(callback, "initkwargs", {}).get(name)
    if own is None:
        # Not `getattr`, which would call a property of the view.
        own = next((vars(base)[name] for base in callback.cls.__mro__ if name in vars(base)), None)
    return tuple(own) if isinstance(own, (list, tuple, set, frozenset)) else None


def is_undecorated(callback: Any) -> bool:
    """Return whether a callback is what ``as_view`` returns, without a decorator around it."""
    view = getattr(callback, "__wrapped__", None)
    outer, inner = getattr(callback, "__code__", None), getattr(view, "__code__", None)
    return outer is OUTER_CODE and inner in INNER_CODES


class UnreadBody(BaseParser):
    """Parses nothing: the body is an MCP message, not a form that could hold a CSRF token."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> QueryDict:
        return QueryDict()
