from __future__ import annotations

import logging

from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.http import HttpRequest
from rest_framework.exceptions import APIException

from drf_mcp.dispatch.blockers import Listings
from drf_mcp.dispatch.errors.exceptions import get_exception_status
from drf_mcp.dispatch.errors.mapper import ArgumentLocator, ErrorMapper
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import NotUndone, TimeLimitExceeded
from drf_mcp.outcomes import Failure, Outcome, RateLimit
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")


class FailureOutcomes:
    """The outcomes of calls that a view has not answered itself."""

    def get_error_mapper(self, arguments: ArgumentLocator | None = None) -> ErrorMapper:
        """Return the mapper of errors: by default an ERROR_MAPPER_CLASS."""
        mapper: ErrorMapper = mcp_settings.ERROR_MAPPER_CLASS(arguments)
        return mapper

    def get_exception_outcome(
        self, tool: Tool, request: ToolRequest, exc: Exception, request_id: str
    ) -> Outcome:
        if request.caller.is_broken_by(exc):
            raise exc
        if isinstance(exc, TimeLimitExceeded):
            return self.get_refused_outcome(tool, exc)
        dry_run = request.caller.dry_run
        if dry_run is not None and dry_run.explains(exc):
            return self.get_refused_outcome(tool, NotUndone())
        return self.get_crash_outcome(tool, request, exc, request_id)

    def get_crash_outcome(
        self, tool: Tool, request: HttpRequest, exc: Exception, request_id: str
    ) -> Outcome:
        listings = Listings(tool, getattr(request, "caller", None))
        failure = self.get_error_mapper().from_exception(exc, request_id, listings.name_blockers)
        status = get_exception_status(exc)
        if status >= 500:
            self.report_crash(tool, request, exc, request_id)
        return self.get_failed_outcome(tool, status, failure, request_id)

    def get_refused_outcome(
        self, tool: Tool, exc: APIException, rate_limit: RateLimit | None = None
    ) -> Outcome:
        # As of the response that a view would give.
        seconds = getattr(exc, "wait", None)
        headers = {} if seconds is None else {"Retry-After": f"{seconds:.0f}"}
        data = exc.detail if isinstance(exc.detail, (list, dict)) else {"detail": exc.detail}
        failure = self.get_error_mapper().from_response(exc.status_code, data, headers)
        outcome = self.get_failed_outcome(tool, exc.status_code, failure)
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

    def report_crash(
        self, tool: Tool, request: HttpRequest, exc: Exception, request_id: str
    ) -> None:
        logger.error("Tool %s failed [%s]", tool.name, request_id, exc_info=exc)
        got_request_exception.send_robust(sender=BaseHandler, request=request)
