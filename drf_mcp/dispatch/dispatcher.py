"""From a bound call to an outcome, through the view's own callback.

Nothing of REST framework's lifecycle is copied: the router's callback gets the
request that a client would have sent, and its response is read.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction
from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.content import BODILESS, Content, read_response
from drf_mcp.dispatch.errors.blockers import Listings
from drf_mcp.dispatch.errors.crashes import exception_failure
from drf_mcp.dispatch.errors.mapper import not_found, refused_arguments
from drf_mcp.dispatch.middleware import (
    CallHandler,
    Passage,
    call_handler,
    thread_state_kept,
)
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.response import (
    ViewResponse,
    build_outcome,
    narrowed,
    new_request_id,
    pointed,
    unanswered,
)
from drf_mcp.exceptions import InternalError, contain
from drf_mcp.observability.telemetry import Stopwatch
from drf_mcp.outcomes import Outcome
from drf_mcp.tools import ArgumentsRefused, Tool
from drf_mcp.tools.arguments.bound_call import Call

logger = logging.getLogger("drf_mcp")

handler = BaseHandler()


def dispatch(tool: Tool, arguments: Any, caller: Caller) -> Outcome:
    """Call a tool and return what it came to; from here on failure is a value.

    Args:
        tool: the tool.
        arguments: what the caller sent as arguments, any JSON value.
        caller: who is calling.

    Raises:
        APIException: if the caller is not let into the endpoint at all.
    """
    request_id = new_request_id()
    stopwatch = Stopwatch()
    try:
        call = tool.bind(arguments)
    except ArgumentsRefused as exc:
        outcome = unanswered(tool, 400, refused_arguments(exc.problems))
    else:
        with stopwatch.watching():
            outcome = pointed(run(tool, call, caller, request_id), tool)
    if caller.refusal is not None:
        raise caller.refusal
    caller.authenticate()
    telemetry = {**stopwatch.telemetry(), **outcome.telemetry}
    return outcome.changed(request_id=outcome.request_id or request_id, telemetry=telemetry)


def run(tool: Tool, call: Call, caller: Caller, request_id: str) -> Outcome:
    """Send a bound call through the URL's own callback and read the response."""
    route = tool.endpoint.route
    if not caller.is_known_to(route.callback):
        caller.authenticate()
    path = route.build(call.kwargs)
    match = None if path is None else route.match(path, call.kwargs, caller.request)
    if path is None or match is None:
        return unanswered(tool, 404, not_found())
    request = ToolRequest(
        caller, tool.endpoint.method, path, call.query_string, call.body, call.content_type
    )
    if call.disposition:
        request.META["HTTP_CONTENT_DISPOSITION"] = call.disposition
    request.resolver_match = match

    def respond() -> Outcome:
        if middleware := call_handler():
            return through_middleware(middleware, match, tool, call, request, request_id)
        response = as_http_would(match.func)(request, *match.args, **match.kwargs)
        return read(tool, call, request, response)

    def broken(exc: Exception) -> Outcome:
        if caller.is_broken_by(exc):
            raise exc
        return failed(tool, request, exc, request_id)

    return contain(respond, broken)


def through_middleware(
    middleware: CallHandler,
    match: ResolverMatch,
    tool: Tool,
    call: Call,
    request: ToolRequest,
    request_id: str,
) -> Outcome:
    """Send a call through CALL_MIDDLEWARE and the URL's own callback and read the response."""
    with thread_state_kept():
        passage = Passage(request, match)
        response = middleware.answer(passage)
        if passage.raised is not None:
            if response is passage.substitute or request.caller.is_broken_by(passage.raised):
                raise passage.raised
            # Middleware answers in its place; who looks after crashes has to hear of it.
            if passage.substitute and passage.substitute.status_code >= 500:
                report_crash(tool, request, passage.raised, request_id)
        return read(tool, call, request, response)


def as_http_would(callback: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
    """Return the callback in the transactions that Django's handler would put it in."""
    atomic: Any = handler.make_view_atomic(callback)
    return async_to_sync(atomic) if is_asynchronous(callback) else atomic


@functools.lru_cache(maxsize=4096)
def is_asynchronous(callback: Callable[..., Any]) -> bool:
    """Return whether a callback is a coroutine function."""
    return iscoroutinefunction(callback)


def read(tool: Tool, call: Call, request: ToolRequest, response: HttpResponseBase) -> Outcome:
    """Return the outcome of a response."""
    altered = request.passage is not None and request.passage.is_altered(response)
    if not altered and has_plain_data(response):
        content = Content(response.data)  # type: ignore[attr-defined]
    else:
        render = getattr(response, "render", None)
        response = render() if render else response
        if not altered and getattr(response, "is_enveloped", False):
            content = Content(response.data)  # type: ignore[union-attr]
        else:
            content = read_response(response, request.build_absolute_uri())
    answer = ViewResponse(
        status=response.status_code,
        data=content.data,
        headers=response.headers,
        view=getattr(response, "renderer_context", {}).get("view"),
        request=request,
        excepted=getattr(response, "exception", False),
        blocks=content.blocks,
        fidelity=content.fidelity,
        warnings=content.warnings,
        query_string=call.query_string,
    )
    outcome = build_outcome(tool.name, answer, tool.pointers(call))
    return narrowed(outcome, call.fields) if call.fields else outcome


def has_plain_data(response: HttpResponseBase) -> bool:
    """Return whether ``response.data`` is to be read as it is, unrendered.

    Another renderer may change the data, and a callback waiting for the rendering,
    such as a cache's, has to be served. An error is read before its codes are lost.
    """
    if not isinstance(response, Response) or response.status_code in BODILESS:
        return False
    if (response.status_code >= 400 or response.exception) and response.data is not None:
        return True
    # A response out of a cache has forgotten its renderer.
    renderer = getattr(response, "accepted_renderer", None)
    return (
        not response.is_rendered
        and (type(renderer) is JSONRenderer or getattr(renderer, "renders_envelope", False))
        and not response._post_render_callbacks  # type: ignore[attr-defined]
    )


def failed(tool: Tool, request: HttpRequest, exc: Exception, request_id: str) -> Outcome:
    """Return the outcome of an exception that left the view; log an unexpected one."""
    listings = Listings(tool.finders, getattr(request, "caller", None))
    status, failure = exception_failure(exc, request_id, listings.named)
    if status >= 500:
        report_crash(tool, request, exc, request_id)
    return unanswered(tool, status, failure, request_id)


def report_crash(tool: Tool, request: HttpRequest, exc: Exception, request_id: str) -> None:
    """Log an unexpected exception and send the signal that error trackers listen to."""
    logger.error("Tool %s failed [%s]", tool.name, request_id, exc_info=exc)
    got_request_exception.send_robust(sender=type(handler), request=request)


def unexpected(exc: Exception, request: HttpRequest | None) -> InternalError:
    """Return the error for an exception that no view raised; log the exception under its id."""
    request_id = new_request_id()
    logger.error("A message could not be answered [%s]", request_id, exc_info=exc)
    got_request_exception.send_robust(sender=type(handler), request=request)
    message = f"An unexpected error occurred. It was logged under the id {request_id}."
    return InternalError(message, data={"request_id": request_id})


def close_broken_connections() -> None:
    """Close the database connections that a failed call left unusable, as Django does per request.

    The next call connects anew.
    """
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
