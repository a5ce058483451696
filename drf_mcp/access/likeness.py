"""Whether a view authenticates as the endpoint does, so that doing it once is enough."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet, ViewSetMixin

# Everything of a view that runs until the caller is known.
AUTHENTICATION_STEPS = (
    "setup",
    "dispatch",
    "initial",
    "perform_content_negotiation",
    "determine_version",
    "perform_authentication",
    "get_authenticators",
)
INITIALIZERS = (APIView.initialize_request, ViewSetMixin.initialize_request)


class SampleViewSet(ViewSet):
    """Lends its callback; REST framework sets attributes on a viewset whose callback it makes."""


# What `as_view` returns, by its code: a callback of other code is wrapped in a decorator.
CALLBACKS: Any = (APIView.as_view(), SampleViewSet.as_view({"get": "list"}))
OUTER_CODE = CALLBACKS[0].__code__
INNER_CODES = frozenset(callback.__wrapped__.__code__ for callback in CALLBACKS)


@functools.cache
def authenticates_alike(callback: Callable[..., Any], classes: tuple[type, ...]) -> bool:
    # No decorator and no step of the project's own may run before.
    view_class = callback.cls  # type: ignore[attr-defined]
    return (
        asks_alike(callback, classes)
        and view_class.initialize_request in INITIALIZERS
        and all(getattr(view_class, n) is getattr(APIView, n) for n in AUTHENTICATION_STEPS)
    )


@functools.cache
def asks_alike(callback: Callable[..., Any], classes: tuple[type, ...]) -> bool:
    """Return whether a view asks these classes who is calling, whatever it does before."""
    return (
        find_view_classes(callback, "authentication_classes") == classes
        and is_bare(callback)
        and callback.cls.get_authenticators is APIView.get_authenticators  # type: ignore[attr-defined]
    )


def find_view_classes(callback: Any, name: str) -> tuple[Any, ...] | None:
    # None if only an instance can tell, as where the attribute is a property.
    own = getattr(callback, "initkwargs", {}).get(name)
    if own is None:
        # Without calling a descriptor, which a property of the view's would be.
        own = next((vars(base)[name] for base in callback.cls.__mro__ if name in vars(base)), None)
    return tuple(own) if isinstance(own, (list, tuple, set, frozenset)) else None


def is_bare(callback: Any) -> bool:
    view = getattr(callback, "__wrapped__", None)
    outer, inner = getattr(callback, "__code__", None), getattr(view, "__code__", None)
    return outer is OUTER_CODE and inner in INNER_CODES


def lets_all_in(permission: Any) -> bool:
    """Return whether a permission is `AllowAny`; a class derived from it may ask for something."""
    methods = ("has_permission", "has_object_permission")
    kind = type(permission)
    return all(getattr(kind, name, None) is getattr(AllowAny, name) for name in methods)
