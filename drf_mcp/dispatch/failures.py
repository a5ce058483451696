"""The outcomes of calls that fail, and the reports of crashes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.db import connections
from django.http import Http404, HttpRequest
from rest_framework import exceptions
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from drf_mcp.arguments.call import PATH, Call
from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.dispatch.errors import ArgumentLocator, ErrorMapper, find_exception_status
from drf_mcp.dispatch.guards import find_narrowing_refusal
from drf_mcp.dispatch.next_steps import advise_looking
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.response import new_request_id
from drf_mcp.exceptions import InternalError, TimeLimitExceeded, attempt, catch
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import TRIAL
from drf_mcp.introspection.source.middleware import find_setting_middleware
from drf_mcp.outcomes import UNVERSIONED, Failure, Outcome, RateLimit, Source
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")


class FailureOutcomes:
    """Makes the outcomes of calls that no response of a view answers."""

    def make_error_mapper(
        self,
        call: CallState | None,
        request: HttpRequest | None = None,
        arguments: ArgumentLocator | None = None,
    ) -> ErrorMapper:
        """Return the mapper of errors: by default an ERROR_MAPPER_CLASS."""
        mapper: ErrorMapper = mcp_settings.ERROR_MAPPER_CLASS(arguments)
        mapper.call, mapper.request = call, request
        return mapper

    def find_offered(self, call: CallState) -> Any:
        """Return the tool as the caller is offered it, whose texts name only offered tools."""
        narrowings = call.caller.narrowings
        if not narrowings:
            return call.tool
        server = call.server
        if server is None or call.context is None:
            return call.tool
        tools = server.tools_capability.get_tools(call.context)
        found = server.registry.narrow(tools, narrowings).get(call.tool.name)
        # A feature may call another tool by the same name.
        is_same = type(found) is type(call.tool) and found.endpoint is call.tool.endpoint
        return found if is_same else call.tool

    def make_exception_outcome(
        self, call: CallState, request: ToolRequest, exc: Exception
    ) -> Outcome:
        if call.caller.is_broken_by(exc):
            raise exc
        if isinstance(exc, TimeLimitExceeded):
            return self.make_refused_outcome(call, exc)
        trial = TRIAL.get(call)
        if trial is not None and (explained := trial.explain(exc)):
            return self.make_refused_outcome(call, explained)
        return self.make_crash_outcome(call, request, exc)

    def make_crash_outcome(self, call: CallState, request: HttpRequest, exc: Exception) -> Outcome:
        tool, request_id = call.tool, call.request_id
        bound = vars(call).get("bound")
        arguments = None if bound is None else self.find_offered(call).pointers(bound)
        mapper = self.make_error_mapper(call, request, arguments)
        failure = mapper.from_exception(exc, request_id)
        status, failure = find_exception_status(exc), advise_looking(failure, tool)
        if status >= 500:
            self.report_crash(call, request, exc)
        return self.make_failed_outcome(tool, status, failure, request_id)

    def make_refused_outcome(
        self, call: CallState, exc: APIException, rate_limit: RateLimit | None = None
    ) -> Outcome:
        # The same failure as from REST framework's response to the exception.
        seconds = getattr(exc, "wait", None)
        headers = {} if seconds is None else {"Retry-After": f"{seconds:.0f}"}
        data = exc.detail if isinstance(exc.detail, (list, dict)) else {"detail": exc.detail}
        failure = self.make_error_mapper(call).from_response(exc.status_code, data, headers)
        outcome = self.make_failed_outcome(call.tool, exc.status_code, failure)
        return outcome.changed(rate_limit=rate_limit)

    def make_failed_outcome(
        self, tool: Tool, status: int, failure: Failure, request_id: str = ""
    ) -> Outcome:
        # Without a response, only the view's class can have the version.
        route = tool.endpoint.route
        view_class = route.view_class
        version = route.initkwargs.get("mcp_version") or getattr(view_class, "mcp_version", "")
        return Outcome(
            tool.name,
            status,
            failure=failure,
            request_id=request_id,
            source=Source(version) if version and isinstance(version, str) else UNVERSIONED,
        )

    def refuse_arguments(self, call: CallState, exc: ArgumentsRefused) -> Outcome:
        """Return the outcome of arguments that no request can be made of.

        Only a caller who may call the tool learns what is wrong with them.
        """
        tool = call.tool
        if refused := self.find_permission_refusal(call):
            return refused
        failure = self.make_error_mapper(call).from_problems(tuple(map(tool.advise, exc.problems)))
        return self.make_failed_outcome(tool, 400, failure)

    def find_permission_refusal(self, call: CallState) -> Outcome | None:
        """Return the outcome of a caller who may not call a tool, None for any other caller."""
        tool, arguments, caller = call.tool, call.arguments, call.caller
        # Only an authenticated caller has the narrowing of the credential.
        caller.authenticate()
        if refused := find_narrowing_refusal(tool, caller):
            return refused
        names = tool.arguments
        sent = names.use_own_names(arguments) if isinstance(arguments, Mapping) else {}
        # A permission may read the arguments in the path, which need not be the wrong ones.
        kwargs = {
            argument.parameter.name: value
            for argument, value in names.find_values(sent)
            if argument.location == PATH and isinstance(value, (str, int))
        }
        with catch() as caught:
            Probe(caller, tool, Call({}, kwargs)).check_permissions()
            return None
        exc = caught.exception
        if isinstance(exc, PermissionDenied):
            exc = exceptions.PermissionDenied(*exc.args)
        elif isinstance(exc, Http404):
            exc = exceptions.NotFound()
        if isinstance(exc, APIException) and exc.status_code in (401, 403, 404):
            return self.make_refused_outcome(call, exc)
        # A permission that needs the body or an object fails without them, which is no refusal.
        return None

    def report_crash(self, call: CallState, request: HttpRequest, exc: Exception) -> None:
        advice = attempt(lambda: _advise_middleware(exc), "")
        logger.error("Tool %s failed [%s]%s", call.tool.name, call.request_id, advice, exc_info=exc)
        _send_exception(exc, request)


def _advise_middleware(exc: Exception) -> str:
    """Return a sentence about the middleware that sets what the request lacks, "" for none."""
    if not isinstance(exc, AttributeError) or not isinstance(exc.obj, (HttpRequest, Request)):
        return ""
    name = find_setting_middleware(str(exc.name))
    line = f'{name} sets request.{exc.name}: add "{name}" to DRF_MCP["CALL_MIDDLEWARE"].'
    return f" {line}" if name else ""


def report_unexpected(exc: Exception, request: HttpRequest | None) -> InternalError:
    request_id = new_request_id()
    logger.error("A message could not be answered [%s]", request_id, exc_info=exc)
    _send_exception(exc, request)
    return InternalError(InternalError.describe(request_id), data={"request_id": request_id})


def _send_exception(exc: Exception, request: HttpRequest | None) -> None:
    # Error trackers read the exception from ``sys.exc_info()``.
    try:
        raise exc
    except type(exc):
        got_request_exception.send_robust(sender=BaseHandler, request=request)


def close_broken_connections() -> None:
    # As between requests: the next call connects anew.
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()


def close_idle_connections() -> None:
    """Close the connections of this thread, which needs none while it waits."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
