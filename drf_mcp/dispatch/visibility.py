"""Which tools a caller sees: those that the views' own permissions would let run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.exceptions import APIException
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.access.authentication import USER_PERMISSIONS, Caller, find_view_classes, is_bare
from drf_mcp.dispatch.dispatcher import as_http_would, is_asynchronous
from drf_mcp.dispatch.middleware import Passage, call_handler, thread_state_kept
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import negotiate
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")

permission_steps = attrgetter("get_permissions", "check_permissions")
steps = attrgetter(
    "get_permissions", "check_permissions", "permission_denied", "get_authenticators"
)
REFUSALS = (APIException, PermissionDenied, Http404)


class EarlierCall:
    """A call that was made before, asked about again on behalf of a caller.

    Args:
        visibility: asks for the caller.
        tool: the tool that was called.
        match: the match of the path.
        path: the path of that call.
        query_string: its encoded query.
    """

    def __init__(
        self,
        visibility: Visibility,
        tool: Tool,
        match: ResolverMatch,
        path: str,
        query_string: str,
    ) -> None:
        self.visibility = visibility
        self.tool = tool
        self.match = match
        self.path = path
        self.query_string = query_string

    def is_admitted(self) -> bool:
        """Return whether the caller may still have what the call gave.

        Raises:
            Exception: whatever the view refuses or fails with.
        """
        if self.can_be_run_again():
            return self.run_again().status_code < 300
        view = self.view()
        view.request = self.visibility.request(self.tool, view, self.path, self.query_string)
        return self.respond(view.request._request, partial(self.ask_view, view)).status_code < 300

    def ask_view(self, view: Any, request: ToolRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask what stands before the view's handler, and for the object that the path names."""
        view.initial(view.request, *args, **kwargs)
        if self.names_an_object(view):
            view.get_object()
        return HttpResponse(status=204)

    def respond(
        self, request: ToolRequest, callback: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        """Return what a callback answers, within CALL_MIDDLEWARE."""
        middleware = call_handler()
        if middleware is None:
            request.resolver_match = self.match
            return callback(request, *self.match.args, **self.match.kwargs)
        with thread_state_kept():
            passage = Passage(request, self.match, callback)
            response = middleware.answer(passage)
        if passage.raised is not None and response is passage.substitute:
            raise passage.raised
        return response

    def can_be_run_again(self) -> bool:
        """Return whether the answer itself has to be asked for, and asking changes nothing.

        REST framework's own handlers refuse nothing that `initial()` and `get_object()` do
        not; a handler of the project may check whatever it likes.
        """
        endpoint = self.tool.endpoint
        if endpoint.method not in SAFE_METHODS:
            return False
        handlers = {endpoint.action or endpoint.method.lower()}
        if issubclass(endpoint.view_class, GenericAPIView) and endpoint.action is None:
            handlers |= {"list", "retrieve"} & set(dir(endpoint.view_class))
        return not is_drf_code(endpoint.view_class, *handlers)

    def run_again(self) -> HttpResponseBase:
        """Return the view's response to the same request."""
        view, request = self.view(), self.visibility.inner(self.tool, self.path, self.query_string)
        callback = self.match.func
        if is_asynchronous(callback) or not is_bare(callback):
            return self.respond(request, as_http_would(callback))
        for method, action in getattr(view, "action_map", {}).items():
            setattr(view, method, getattr(view, action))
        return self.respond(request, as_http_would(view.dispatch))

    def view(self) -> Any:
        """Return the view, set up for the path of the call, that counts no call."""
        view: Any = self.tool.endpoint.view()
        view.args, view.kwargs = self.match.args, self.match.kwargs
        view.headers = view.default_response_headers
        # Reading what a call has given already is no further call.
        view.check_throttles = lambda request: None
        return view

    def names_an_object(self, view: Any) -> bool:
        """Return whether the path names an object of the view's queryset."""
        if not isinstance(view, GenericAPIView):
            return False
        has_rows = getattr(view, "queryset", None) is not None or not is_drf_code(
            type(view), "get_queryset"
        )
        return has_rows and (view.lookup_url_kwarg or view.lookup_field) in view.kwargs


class Visibility:
    """Asks the views' permissions on behalf of one caller.

    Args:
        caller: an authenticated caller.
    """

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.identities: dict[tuple[type, ...], Request] = {
            caller.authentication_classes: caller.authenticate()
        }
        self.answers: dict[Any, bool] = {}

    def of(self, tools: Iterable[Tool], most: int | None = None) -> list[Tool]:
        """Return the tools that the caller may call, in order, the first `most` of them."""
        seen = list(islice((tool for tool in tools if self.allows(tool)), most))
        # Views that authenticate in their own way have left their user on the request.
        self.caller.request.user = self.caller.authenticate().user
        return seen

    def allows(self, tool: Tool) -> bool:
        """Return whether a view's permissions let the caller in.

        A permission that cannot be asked without an object or a body counts as given:
        calling the tool asks it for certain.
        """
        question = question_of(tool)
        if question is None:
            return self.ask(tool)
        if question not in self.answers:
            self.answers[question] = self.ask(tool)
        return self.answers[question]

    def ask(self, tool: Tool) -> bool:
        """Ask the permissions of a tool's view."""
        view: Any = tool.endpoint.view()

        def ask() -> bool:
            view.request = self.request(tool, view)
            negotiate(view)
            view.check_permissions(view.request)
            return True

        return contain(ask, lambda exc: not turns_away(exc))

    def admits_again(self, tool: Tool, kwargs: Mapping[str, Any], query_string: str) -> bool:
        """Return whether a view would let the caller in with what an earlier call sent.

        Asked is what stands before the view's handler, throttles aside, and then the object:
        by `get_object()` where that is what the handler does, by the whole of a read where
        only its answer can tell. What cannot be asked is refused, since nothing else is
        going to ask.

        Args:
            tool: the tool that was called.
            kwargs: the path's kwargs of that call.
            query_string: its encoded query.
        """
        route = tool.endpoint.route
        path = route.build(kwargs)
        match = None if path is None else route.match(path, kwargs, self.caller.request)
        if path is None or match is None:
            return False
        again = EarlierCall(self, tool, match, path, query_string)
        return contain(again.is_admitted, partial(refused, tool))

    def request(self, tool: Tool, view: Any, path: str = "", query_string: str = "") -> Request:
        """Return a request for the tool's method by whom the view would take the caller for."""
        inner = self.inner(tool, path or tool.endpoint.route.path, query_string)
        authenticators = view.get_authenticators()
        request = Request(inner, authenticators=authenticators)
        classes = tuple(type(authenticator) for authenticator in authenticators)
        known = self.identities.setdefault(classes, request)
        if known is not request:
            request._user, request._auth = known.user, known.auth  # type: ignore[attr-defined]
            request._authenticator = known.successful_authenticator  # type: ignore[attr-defined]
            inner.__dict__["user"] = known.user
        return request

    def inner(self, tool: Tool, path: str, query_string: str) -> ToolRequest:
        """Return the request for the tool's method that HTTP would have brought."""
        return ToolRequest(self.caller, tool.endpoint.method, path, query_string)


def refused(tool: Tool, exc: Exception) -> bool:
    """Return that an exception lets nobody in; log one that is no refusal."""
    if not isinstance(exc, REFUSALS):
        logger.warning("The permissions of %s could not be asked again", tool.name, exc_info=exc)
    return False


def turns_away(exc: Exception) -> bool:
    """Return whether a permission refuses the caller, not just misses a body or an object."""
    return isinstance(exc, PermissionDenied) or getattr(exc, "status_code", None) in (401, 403)


def is_open(tool: Tool) -> bool:
    """Return whether every caller sees a tool: nothing is asked, in REST framework's own way."""
    if permission_steps(tool.endpoint.view_class) != permission_steps(APIView):
        return False
    permissions = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return permissions is not None and all(p is AllowAny for p in permissions)


def question_of(tool: Tool) -> Any:
    """Return what decides whether a tool is seen, where that is the user and the method alone.

    Tools with one question have one answer; None for a tool that has to be asked itself.
    """
    permissions = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    if permissions is None or not USER_PERMISSIONS.issuperset(permissions):
        return None
    if steps(tool.endpoint.view_class) != steps(APIView):
        return None
    authentication = find_view_classes(tool.endpoint.route.callback, "authentication_classes")
    if authentication is None:
        return None
    return permissions, authentication, tool.endpoint.method in SAFE_METHODS
