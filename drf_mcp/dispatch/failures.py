"""The outcomes of calls that fail, the reports of crashes, and the rows that prevent a deletion."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.db import IntegrityError, connections
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.exceptions import APIException

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.errors import (
    ArgumentLocator,
    ErrorMapper,
    get_exception_status,
)
from drf_mcp.dispatch.guards import find_narrowing_refusal
from drf_mcp.dispatch.next_steps import name_missing_rows
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.response import new_request_id
from drf_mcp.exceptions import InternalError, TimeLimitExceeded, catch
from drf_mcp.features import CallState
from drf_mcp.introspection.text import get_plural_name, join_values
from drf_mcp.outcomes import Failure, Outcome, RateLimit
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import PATH, Call
from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")
# With more rows in the way, the message names their model and does not count them.
MOST_ROWS = 10_000


class FailureOutcomes:
    """Makes the outcomes of calls that no response of a view answers."""

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
        protected_rows = ProtectedRows(tool, getattr(request, "caller", None))
        failure = self.get_error_mapper(call, request).from_exception(
            exc, request_id, protected_rows.name_blockers
        )
        if isinstance(exc, IntegrityError):
            failure = name_missing_rows(failure, tool, request)
        status = get_exception_status(exc)
        if status >= 500:
            self.report_crash(call, request, exc)
        return self.get_failed_outcome(tool, status, failure, request_id)

    def get_refused_outcome(
        self, call: CallState, exc: APIException, rate_limit: RateLimit | None = None
    ) -> Outcome:
        # The failure is that of the response which REST framework would make of the exception.
        seconds = getattr(exc, "wait", None)
        headers = {} if seconds is None else {"Retry-After": f"{seconds:.0f}"}
        data = exc.detail if isinstance(exc.detail, (list, dict)) else {"detail": exc.detail}
        failure = self.get_error_mapper(call).from_response(exc.status_code, data, headers)
        outcome = self.get_failed_outcome(call.tool, exc.status_code, failure)
        return outcome.changed(rate_limit=rate_limit)

    def get_failed_outcome(
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
            for argument, value in names.get_values(sent)
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
            return self.get_refused_outcome(call, exc)
        # A permission that needs the body or an object fails without them, and refuses nobody here.
        return None

    def report_crash(self, call: CallState, request: HttpRequest, exc: Exception) -> None:
        logger.error("Tool %s failed [%s]", call.tool.name, call.request_id, exc_info=exc)
        send_exception(exc, request)


def report_unexpected(exc: Exception, request: HttpRequest | None) -> InternalError:
    request_id = new_request_id()
    logger.error("A message could not be answered [%s]", request_id, exc_info=exc)
    send_exception(exc, request)
    return InternalError(InternalError.describe(request_id), data={"request_id": request_id})


def send_exception(exc: Exception, request: HttpRequest | None) -> None:
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


# --- Rows that prevent a deletion ----------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows of one model, as far as the caller may see them.

    Attributes:
        model: the model's name, in the plural.
        count: how many of them the caller sees; 0 where the caller may not learn the number.
        tool: the tool that lists them, "" for none.
    """

    model: str
    count: int = 0
    tool: str = ""

    def __str__(self) -> str:
        if not self.count:
            return self.model
        # Translators: the model is the plural of its name, such as "line items".
        return _("%(model)s (%(count)d of them in %(tool)s)") % vars(self)

    @property
    def data(self) -> Mapping[str, Any]:
        counted = {"count": self.count, "tool": self.tool} if self.count else {}
        return {"model": self.model, **counted}


class ProtectedRows:
    """Describes rows to a caller by the tools that list them, as far as the caller sees the rows.

    Args:
        tool: the tool that is called.
        caller: None for an unknown caller, who sees no rows.
        kwargs: the path kwargs of the call, for lists below the same parent objects.
    """

    def __init__(
        self, tool: Any, caller: Caller | None, kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self.tool = tool
        self.caller = caller
        self.kwargs = kwargs or {}

    def name_blockers(self, blockers: Mapping[type[Model], Collection[Any]]) -> str:
        return join_values(self.describe(blockers))

    def describe(self, keys: Mapping[type[Model], Collection[Any]]) -> tuple[Rows, ...]:
        """Return a description of the rows of each model, from their primary keys."""
        described = []
        for model, known in keys.items():
            name, shown = get_plural_name(model), self.find_visible(model, known)
            tool = self._find_tool(model) if shown else None
            described.append(Rows(name, len(shown), tool.name) if tool else Rows(name))
        return tuple(described)

    def find_visible(self, model: type[Model], keys: Collection[Any]) -> set[Any]:
        """Return the keys of the rows that a list certainly shows the caller."""
        if len(keys) > MOST_ROWS:
            return set()
        return self._ask_list(model, lambda probe: probe.find_visible_keys(model, keys)) or set()

    def shows_all(self, model: type[Model]) -> bool:
        """Return whether a list is known to show the caller every row of a model."""

        def compare(rows: QuerySet[Any]) -> bool:
            every: QuerySet[Any] = QuerySet(model, using=rows.db)
            return not every.exclude(pk__in=rows.order_by().values("pk")).exists()

        return bool(self._ask_list(model, lambda probe: probe.ask_listed_rows(compare)))

    def _find_tool(self, model: type[Model]) -> Any:
        related = self.tool.related
        name = None if related is None else related.find_list(model)
        if name is None or not related.endpoints[name].route.kwargs.keys() <= self.kwargs.keys():
            return None
        return replace(self.tool.for_endpoint(related.endpoints[name]), name=name)

    def _ask_list(self, model: type[Model], ask: Callable[[Any], Found | None]) -> Found | None:
        from drf_mcp.dispatch.list_probe import ask_about_rows

        tool, caller = self._find_tool(model), self.caller
        if tool is None or caller is None:
            return None
        kwargs = {name: self.kwargs[name] for name in tool.endpoint.route.kwargs}
        return ask_about_rows(caller, tool, kwargs, ask)
