"""Whether a view authenticates as the endpoint does, so that authenticating once is enough."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.http import QueryDict
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet, ViewSetMixin

# The methods of a view that run before its permissions.
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
# What authentication sets on a request of REST framework.
REQUEST_IDENTITY = frozenset({"_user", "_auth", "_authenticator"})


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
        has_same_authenticators(callback, classes)
        and view_class.initialize_request in INITIALIZERS
        and all(getattr(view_class, n) is getattr(APIView, n) for n in AUTHENTICATION_STEPS)
    )


@functools.cache
def has_same_authenticators(callback: Callable[..., Any], classes: tuple[type, ...]) -> bool:
    """Return whether a view authenticates with these classes, maybe after steps of its own."""
    return (
        find_view_classes(callback, "authentication_classes") == classes
        and is_undecorated(callback)
        and callback.cls.get_authenticators is APIView.get_authenticators  # type: ignore[attr-defined]
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


def lets_all_in(permission: Any) -> bool:
    """Return whether a permission is `AllowAny`; a subclass may override its methods."""
    methods = ("has_permission", "has_object_permission")
    kind = type(permission)
    return all(getattr(kind, name, None) is getattr(AllowAny, name) for name in methods)


class UnreadBody(BaseParser):
    """Parses nothing: the body is an MCP message, not a form that could hold a CSRF token."""

    media_type = "*/*"
    was_read = False

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> QueryDict:
        self.was_read = True
        return QueryDict()


def pre_authenticate(request: Any) -> list[BaseAuthentication] | None:
    """Authenticate the request of a view before the view's code runs.

    Returns:
        Authenticators for the view, which return what was found now. None where the view has to
        authenticate itself: an authenticator read the body, or set an attribute on REST
        framework's request.

    Raises:
        APIException: if the credential or the caller is refused.
    """
    body = UnreadBody()
    authenticators = [each() for each in request.caller.authentication_classes]
    drf_request: Any = Request(request, parsers=[body], authenticators=authenticators)
    names = {*vars(drf_request), *REQUEST_IDENTITY}
    before = dict(vars(request))
    drf_request.user  # noqa: B018 - reading it authenticates
    # Until the view authenticates, it sees the user that middleware set. The view may change
    # ``META``, so ``headers`` and ``GET`` are made of ``META`` again.
    for name in ("user", "auth", "headers", "GET"):
        vars(request).pop(name, None)
        if name in before:
            vars(request)[name] = before[name]
    if body.was_read or not names.issuperset(vars(drf_request)):
        return None
    for each in drf_request.authenticators:
        is_successful = each is drf_request.successful_authenticator
        found = (drf_request.user, drf_request.auth) if is_successful else None
        each.authenticate = lambda request, found=found: found
    return list(drf_request.authenticators)
