from __future__ import annotations

import logging
from collections.abc import Mapping

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404, HttpRequest
from rest_framework import exceptions
from rest_framework.exceptions import APIException

from drf_mcp.dispatch.blockers import Listings
from drf_mcp.dispatch.crashes import send_exception
from drf_mcp.dispatch.errors.exceptions import get_exception_status
from drf_mcp.dispatch.errors.mapper import ArgumentLocator, ErrorMapper
from drf_mcp.dispatch.guards import find_refusal
from drf_mcp.dispatch.list_hints import MissingRows
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import TimeLimitExceeded, contain
from drf_mcp.features import CallState
from drf_mcp.outcomes import Failure, Outcome, RateLimit
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import find_kwargs
from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")


class FailureOutcomes:
    """The outcomes of calls that a view has not answered itself."""

    def get_error_mapper(
        self,
        call: CallState | None,
        request: HttpRequest | None = None,
        arguments: ArgumentLocator | None = None,
    ) -> ErrorMapper:
        """Return the mapper of errors: by default an ERROR_MAPPER_CLASS."""
        mapper: ErrorMapper = mcp_settings.ERROR_MAPPER_CLASS(arguments)
        mapper.call, mapper.request = call, request
        return mapper

    def get_exception_outcome(
        self, call: CallState, request: ToolRequest, exc: Exception
    ) -> Outcome:
        if call.caller.is_broken_by(exc):
            raise exc
        if isinstance(exc, TimeLimitExceeded):
            return self.get_refused_outcome(call, exc)
        if explained := call.explain(exc):
            return self.get_refused_outcome(call, explained)
        return self.get_crash_outcome(call, request, exc)

    def get_crash_outcome(self, call: CallState, request: HttpRequest, exc: Exception) -> Outcome:
        tool, request_id = call.tool, call.request_id
        listings = Listings(tool, getattr(request, "caller", None))
        failure = self.get_error_mapper(call, request).from_exception(
            exc, request_id, listings.name_blockers
        )
        if isinstance(exc, IntegrityError):
            failure = MissingRows(tool, getattr(request, "body", b"")).add_to(failure)
        status = get_exception_status(exc)
        if status >= 500:
            self.report_crash(call, request, exc)
        return self.get_failed_outcome(tool, status, failure, request_id)

    def get_refused_outcome(
        self, call: CallState, exc: APIException, rate_limit: RateLimit | None = None
    ) -> Outcome:
        # As of the response that a view would give.
        seconds = getattr(exc, "wait", None)
        headers = {} if seconds is None else {"Retry-After": f"{seconds:.0f}"}
        data = exc.detail if isinstance(exc.detail, (list, dict)) else {"detail": exc.detail}
        failure = self.get_error_mapper(call).from_response(exc.status_code, data, headers)
        outcome = self.get_failed_outcome(call.tool, exc.status_code, failure)
        return outcome.changed(rate_limit=rate_limit)

    def get_failed_outcome(
        self, tool: Tool, status: int, failure: Failure, request_id: str = ""
    ) -> Outcome:
        # Without a response the view's class alone can say which version would have been read.
        route = tool.endpoint.route
        view_class = route.view_class
        version = route.initkwargs.get("mcp_version") or getattr(view_class, "mcp_version", "")
        return Outcome(
            tool.name,
            status,
            failure=failure,
            request_id=request_id,
            version=version if isinstance(version, str) else "",
        )

    def get_arguments_outcome(self, call: CallState, exc: ArgumentsRefused) -> Outcome:
        """Return the outcome of arguments that no request can be made of.

        Only a caller who may call the tool learns what is wrong with them.
        """
        tool = call.tool
        if refused := self.find_permission_refusal(call):
            return refused
        failure = self.get_error_mapper(call).from_problems(tuple(map(tool.advise, exc.problems)))
        return self.get_failed_outcome(tool, 400, failure)

    def find_permission_refusal(self, call: CallState) -> Outcome | None:
        """Return the outcome of a caller who may not call a tool, None for any other caller.

        Raises:
            APIException: if the caller is not let into the endpoint at all.
        """
        tool, arguments, caller = call.tool, call.arguments, call.caller
        if caller.find_narrowing(tool):
            return find_refusal(tool, caller)
        names = tool.arguments
        sent = names.use_own_names(arguments) if isinstance(arguments, Mapping) else arguments
        probe = Probe(caller, tool, find_kwargs(names.arguments, sent))

        def judge(exc: Exception) -> Outcome | None:
            # A permission that misses a body or an object cannot be asked: the call asks it.
            if isinstance(exc, PermissionDenied):
                return self.get_refused_outcome(call, exceptions.PermissionDenied(*exc.args))
            if isinstance(exc, Http404):
                return self.get_refused_outcome(call, exceptions.NotFound())
            if isinstance(exc, APIException) and exc.status_code in (401, 403, 404):
                return self.get_refused_outcome(call, exc)
            return None

        return contain(probe.check_permissions, judge)

    def report_crash(self, call: CallState, request: HttpRequest, exc: Exception) -> None:
        logger.error("Tool %s failed [%s]", call.tool.name, call.request_id, exc_info=exc)
        send_exception(exc, request)
