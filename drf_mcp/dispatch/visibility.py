"""Which tools a caller sees: those that the views' own permissions would let run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.access.authentication import USER_PERMISSIONS, Caller, copy_identity
from drf_mcp.access.likeness import find_view_classes
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import negotiate

permission_steps = attrgetter("get_permissions", "check_permissions")
steps = attrgetter(
    "get_permissions", "check_permissions", "permission_denied", "get_authenticators"
)


class Visibility:
    """Asks the views' permissions on behalf of one caller."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.identities: dict[tuple[type, ...], Request] = {
            caller.authentication_classes: caller.authenticate()
        }
        self.answers: dict[Any, bool] = {}

    def of(self, tools: Iterable[Any], most: int | None = None) -> list[Any]:
        seen = list(islice((tool for tool in tools if self.allows(tool)), most))
        # Views that authenticate in their own way have left their user on the request.
        self.caller.request.user = self.caller.authenticate().user
        return seen

    def allows(self, tool: Any) -> bool:
        # A permission that cannot be asked without an object or a body counts as given: the call
        # asks it for certain.
        question = question_of(tool)
        if question is None:
            return self.ask(tool)
        if question not in self.answers:
            self.answers[question] = self.ask(tool)
        return self.answers[question]

    def ask(self, tool: Any) -> bool:
        view: Any = tool.endpoint.view()

        def ask() -> bool:
            view.request = self.request(tool, view)
            negotiate(view)
            view.check_permissions(view.request)
            return True

        # A call that lacks a scope alone is answered with the way to get it.
        return contain(ask, lambda exc: not turns_away(exc) or self.is_short_of_scopes(view))

    def is_short_of_scopes(self, view: Any) -> bool:
        request, permissions = view.request, view.get_permissions()
        return bool(self.caller.find_missing_scopes(view, request, permissions))

    def request(self, tool: Any, view: Any, path: str = "", query_string: str = "") -> Request:
        # By whom the view would take the caller for.
        inner = self.inner(tool, path or tool.endpoint.route.path, query_string)
        authenticators = view.get_authenticators()
        request = Request(inner, authenticators=authenticators)
        classes = tuple(type(authenticator) for authenticator in authenticators)
        known = self.identities.setdefault(classes, request)
        if known is not request:
            copy_identity(request, known)
        return request

    def inner(self, tool: Any, path: str, query_string: str) -> ToolRequest:
        return ToolRequest(self.caller, tool.endpoint.method, path, query_string)


def turns_away(exc: Exception) -> bool:
    # Not so one that just misses a body or an object.
    return isinstance(exc, PermissionDenied) or getattr(exc, "status_code", None) in (401, 403)


def is_open(tool: Any) -> bool:
    # Every caller sees the tool: nothing is asked, in REST framework's own way.
    if permission_steps(tool.endpoint.view_class) != permission_steps(APIView):
        return False
    permissions = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return permissions is not None and all(p is AllowAny for p in permissions)


def question_of(tool: Any) -> Any:
    # What decides whether a tool is seen, where that is the user and the method alone: tools with
    # one question have one answer.
    permissions = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    if permissions is None or not USER_PERMISSIONS.issuperset(permissions):
        return None
    if steps(tool.endpoint.view_class) != steps(APIView):
        return None
    authentication = find_view_classes(tool.endpoint.route.callback, "authentication_classes")
    if authentication is None:
        return None
    return permissions, authentication, tool.endpoint.method in SAFE_METHODS
