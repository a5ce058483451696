"""Who is calling: authenticated once, and admitted by the endpoint's permissions.

Where a tool's view authenticates the way the endpoint does, the view's own
authentication is the only one: REST framework sets ``user`` and ``auth`` on the
`ToolRequest`, which asks the endpoint's permissions then, before the view's. That
keeps ``request.user``, ``request.auth`` and ``request.successful_authenticator``
what they are over HTTP, for the price of one authentication. Everywhere else the
endpoint authenticates first and the view again.
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, QueryDict
from rest_framework import permissions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import (
    APIException,
    NotAuthenticated,
    PermissionDenied,
)
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet, ViewSetMixin

from drf_mcp.introspection.source.stock import classes_of

# Permissions that look at the user and the method only, so it does not matter to
# them which of several authenticators succeeded.
USER_PERMISSIONS = frozenset(
    {
        permissions.AllowAny,
        permissions.IsAuthenticated,
        permissions.IsAdminUser,
        permissions.IsAuthenticatedOrReadOnly,
    }
)
NO_USER = (
    "The credential is valid, but stands for no user, and the endpoint's permissions ask for one: "
    "PERMISSION_CLASSES of DRF_MCP."
)
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


class UnreadBody(BaseParser):
    """Leaves the body alone: it is a message, not a form that could hold a CSRF token."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> QueryDict:
        """Return no fields."""
        return QueryDict()


class Caller:
    """The sender of one HTTP request to the endpoint.

    Args:
        request: the request to the endpoint.
        view: the endpoint, as permissions see it.
        authentication_classes: how to find out who is calling.
        permission_classes: who may call.
    """

    def __init__(
        self,
        request: HttpRequest,
        view: Any,
        authentication_classes: Sequence[type[BaseAuthentication]],
        permission_classes: Sequence[Any],
    ) -> None:
        self.request = request
        self.view = view
        self.authentication_classes = tuple(authentication_classes)
        self.authenticators = [authenticator() for authenticator in authentication_classes]
        self.permission_classes = tuple(permission_classes)
        # Taken before anybody authenticates: what middleware gave the request.
        self.attributes = dict(vars(request))
        # An exception that somebody outside is dealing with is none of authentication's.
        self.handled = sys.exc_info()[1]
        self.refusal: APIException | None = None
        self._authenticated: Request | None = None
        self.admitted = False

    @property
    def user(self) -> Any:
        """The user, once authenticated; None before."""
        return getattr(self.request, "user", None)

    def authenticate(self) -> Request:
        """Authenticate here and ask the endpoint's permissions, once.

        Raises:
            APIException: NotAuthenticated, AuthenticationFailed or PermissionDenied.
        """
        if self._authenticated is None:
            request = self.drf_request()
            request.user  # noqa: B018 - reading it authenticates
            self._ask_permissions(request)
            self._authenticated = request
            self.admitted = True
        return self._authenticated

    def admit(self, user: Any, auth: Any) -> None:
        """Ask the endpoint's permissions about what a view's authentication found.

        Raises:
            APIException: to stop the view; it stands in `refusal` as well, for the
                door, since the view turns it into a response.
        """
        failure = sys.exc_info()[1]
        try:
            if isinstance(failure, APIException) and failure is not self.handled:
                raise failure
            request = self.drf_request()
            known = auth is not None or bool(user and user.is_authenticated)
            request._user, request._auth = user, auth  # type: ignore[attr-defined]
            request._authenticator = self.authenticators[0] if known else None  # type: ignore[attr-defined]
            self._ask_permissions(request)
        except APIException as exc:
            self.refusal = exc
            raise
        self._authenticated = self._authenticated or request
        self.admitted = True

    def is_broken_by(self, exc: Exception) -> bool:
        """Return whether an exception left a view while it found out who is calling, for us too.

        Then nobody knows whether the caller may be told what the view answers.
        """
        steps = (frame.f_code for frame, _ in traceback.walk_tb(exc.__traceback__))
        return not self.admitted and not ADMISSION.isdisjoint(steps)

    def is_known_to(self, callback: Callable[..., Any]) -> bool:
        """Return whether the view's own authentication can stand for the endpoint's."""
        classes = self.authentication_classes
        if not authenticates_alike(callback, classes):
            return False
        if len(classes) > 1 and not USER_PERMISSIONS.issuperset(self.permission_classes):
            return False
        sessions = any(issubclass(c, SessionAuthentication) for c in classes)
        return not (sessions and settings.SESSION_COOKIE_NAME in self.request.COOKIES)

    def drf_request(self) -> Request:
        """Return the request to the endpoint as REST framework sees it, not authenticated."""
        return Request(self.request, parsers=[UnreadBody()], authenticators=self.authenticators)

    def _ask_permissions(self, request: Request) -> None:
        for permission_class in self.permission_classes:
            permission = permission_class()
            if permission.has_permission(request, self.view):
                continue
            if self.authenticators and not request.successful_authenticator:
                raise NotAuthenticated()
            message = getattr(permission, "message", None)
            if self.authenticators and asks_for_a_user(permission_class, request):
                message = NO_USER
            raise PermissionDenied(message, getattr(permission, "code", None))


# What finds out who is calling, and asks whether they may, by its code.
ADMISSION = frozenset({Request._authenticate.__code__, Caller.admit.__code__})  # type: ignore[attr-defined]


def asks_for_a_user(permission_class: Any, request: Request) -> bool:
    """Return whether a permission refuses because nobody is there whom it could know."""
    user = request.user
    return permission_class in USER_PERMISSIONS and not (user and user.is_authenticated)


@functools.cache
def authenticates_alike(callback: Callable[..., Any], classes: tuple[type, ...]) -> bool:
    """Return whether a view authenticates with these classes, in REST framework's own way.

    Nothing of the project's may run before: no decorator and no step of its own.
    """
    view_class = callback.cls  # type: ignore[attr-defined]
    return (
        classes_of(callback, "authentication_classes") == classes
        and is_bare(callback)
        and view_class.initialize_request in INITIALIZERS
        and all(getattr(view_class, n) is getattr(APIView, n) for n in AUTHENTICATION_STEPS)
    )


def is_bare(callback: Any) -> bool:
    """Return whether a callback is just what ``as_view`` returned."""
    view = getattr(callback, "__wrapped__", None)
    outer, inner = getattr(callback, "__code__", None), getattr(view, "__code__", None)
    return outer is OUTER_CODE and inner in INNER_CODES
