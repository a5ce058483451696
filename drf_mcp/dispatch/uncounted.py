"""A call that its caller did not make: no throttle counts it, and it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.exceptions import APIException

from drf_mcp.dispatch.bare_callbacks import BareCallback
from drf_mcp.dispatch.middleware import (
    CallHandler,
    Passage,
    as_http_would,
    keep_thread_state,
)
from drf_mcp.dispatch.request import ToolRequest, make_unthrottled_view
from drf_mcp.dispatch.response import ViewResponse

REFUSALS = (APIException, PermissionDenied, Http404)

Made = TypeVar("Made", bound="UncountedCall")


class UncountedCall:
    """Asks a view something on behalf of a caller.

    Args:
        visibility: the `Visibility` of the caller.
        tool: the `Tool` of the view.
    """

    def __init__(
        self,
        visibility: Any,
        tool: Any,
        match: ResolverMatch,
        path: str,
        query_string: str,
    ) -> None:
        self.visibility = visibility
        self.tool = tool
        self.match = match
        self.path = path
        self.query_string = query_string

    @classmethod
    def at(
        cls: type[Made],
        visibility: Any,
        tool: Any,
        kwargs: Mapping[str, Any],
        query_string: str = "",
    ) -> Made | None:
        """Return the call with these path kwargs, None where the route refuses one of them."""
        route = tool.endpoint.route
        path = route.build(kwargs)
        match = None if path is None else route.match(path, kwargs, visibility.caller.request)
        if path is None or match is None:
            return None
        return cls(visibility, tool, match, path, query_string)

    def respond(
        self, request: ToolRequest, callback: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        middleware = CallHandler.of_settings()
        if middleware is None:
            request.resolver_match = self.match
            return callback(request, *self.match.args, **self.match.kwargs)
        with keep_thread_state():
            return middleware.answer(Passage(request, self.match, callback))

    def run(self) -> ViewResponse:
        """Return the response of the view, of which the tool has to be a read."""
        request = self.visibility.inner(self.tool, self.path, self.query_string)
        callback = self.tool.endpoint.route.callback
        if bare := BareCallback.of(callback):
            respond = bare.by(lambda: make_unthrottled_view(self.tool.endpoint, self.match))
        else:
            respond = as_http_would(callback)
        response = self.respond(request, respond)
        return ViewResponse.read(response, request, self.query_string)
