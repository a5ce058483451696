"""What is done after an unexpected failure."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.db import IntegrityError, connections
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework import exceptions
from rest_framework.exceptions import APIException

from drf_mcp.codes import HANDLING, Severity
from drf_mcp.dispatch.error_texts import CODE_REMEDIES, PROBLEM_REMEDIES
from drf_mcp.dispatch.errors import (
    ArgumentLocator,
    DatabaseRule,
    ErrorMapper,
    get_exception_status,
)
from drf_mcp.dispatch.guards import find_refusal
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.response import new_request_id
from drf_mcp.dispatch.visibility import Listings
from drf_mcp.exceptions import InternalError, TimeLimitExceeded, contain
from drf_mcp.features import CallState
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import join_values
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Category, Failure, Outcome, Problem, RateLimit, Warning
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import BODY, PATH, QUERY, Argument, Call, find_kwargs
from drf_mcp.tools.arguments.errors import ArgumentsRefused, mask_member
from drf_mcp.tools.arguments.values import find_reversed
from drf_mcp.tools.state_fields import StateFields
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


def report_unexpected(exc: Exception, request: HttpRequest | None) -> InternalError:
    request_id = new_request_id()
    logger.error("A message could not be answered [%s]", request_id, exc_info=exc)
    send_exception(exc, request)
    return InternalError(InternalError.describe(request_id), data={"request_id": request_id})


def send_exception(exc: Exception, request: HttpRequest | None) -> None:
    """Send Django's signal of a request that failed, while the exception is being handled.

    Error trackers read the exception from ``sys.exc_info()``.
    """
    try:
        raise exc
    except type(exc):
        got_request_exception.send_robust(sender=BaseHandler, request=request)


def close_broken_connections() -> None:
    # As between requests: the next call connects anew.
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()


EMPTY = "EMPTY_LIST"
CHOOSING = ("filter", "search")


class EmptyList:
    """A list without rows, as the arguments of its call explain it; nothing is asked of a database.

    Args:
        tool: the list tool.
        call: the call that gave no rows.
    """

    def __init__(self, tool: Tool, call: Call) -> None:
        self.tool = tool
        sent = tool.arguments.get_values(call.arguments)
        self.values = [(argument, value) for argument, value in sent if value not in (None, "", [])]

    @classmethod
    def is_outcome(cls, outcome: Outcome) -> bool:
        if outcome.failure is not None:
            return False
        data = outcome.data
        rows = data.get("results") if isinstance(data, OBJECTS) else data
        if not isinstance(rows, list) or rows:
            return False
        # A window past the last row is empty as well.
        return outcome.pagination is None or not outcome.pagination.total_count

    def find_warnings(self) -> Iterator[Warning]:
        sentences = [*self.explain_ranges(), *self.explain_parents()]
        sentences = sentences or [*self.explain_filters()]
        if sentences:
            yield Warning(EMPTY, " ".join(sentences), Severity.INFO)

    def explain_ranges(self) -> Iterator[str]:
        values = [pair for pair in self.values if pair[0].location == QUERY]
        for problem in find_reversed(values):
            sentences = f"{problem.path}: {problem.message} {problem.remediation}"
            yield _("No rows: %(problem)s") % {"problem": sentences}

    def explain_parents(self) -> Iterator[str]:
        names = self.get_names(a for a, _ in self.values if a.location == PATH)
        finder = self.tool.list_tool if names else ""
        if finder:
            yield _(
                "No rows, and nothing says that the object of %(names)s exists: %(tool)s lists"
                " those that exist."
            ) % {"names": names, "tool": finder}
        elif names:
            text = _("No rows, and nothing says that the object of %(names)s exists.")
            yield text % {"names": names}

    def explain_filters(self) -> Iterator[str]:
        arguments = [a for a, _ in self.values if a.location == QUERY]
        chosen = [a for a in arguments if a.whole or a.parameter.role in CHOOSING]
        if chosen:
            yield _(
                "No rows fit %(names)s. Leave out one at a time to see rows, and how their values"
                " are written."
            ) % {"names": self.get_names(chosen)}
        for argument in chosen:
            schema: Any = argument.parameter.schema
            finder = FieldSchema.of(schema.get("items", schema)).meaning.finder
            if finder:
                facts = {"tool": finder, "argument": argument.name}
                yield _("%(tool)s lists what '%(argument)s' takes.") % facts

    def get_names(self, arguments: Iterator[Argument] | list[Argument]) -> str:
        return join_values(f"'{argument.name}'" for argument in arguments)


class MissingRows:
    """The foreign keys in the body of a call that broke a reference.

    Args:
        tool: the tool that was called.
        content: the body of its request.
    """

    def __init__(self, tool: Tool, content: bytes) -> None:
        self.tool = tool
        self.content = content

    def add_to(self, failure: Failure) -> Failure:
        """Return the failure with the arguments whose rows do not exist."""
        if failure.message != _(DatabaseRule.REFERENCE.value[0]):
            return failure
        # The connection may be unusable, and a body need not be JSON.
        none: tuple[Problem, ...] = ()
        problems = attempt(self.tool.name, lambda: tuple(self.find_problems()), "", [], none)
        if not problems:
            return failure
        return replace(failure, problems=problems, remediation=problems[0].remediation)

    def find_problems(self) -> Iterator[Problem]:
        body = json.loads(self.content)
        for argument in self.tool.arguments.arguments if isinstance(body, Mapping) else ():
            name = argument.parameter.name
            if argument.location == BODY and body.get(name) is not None:
                model = self.find_model(name)
                if model is not None and not model._base_manager.filter(pk=body[name]).exists():
                    yield self.get_problem(argument, model, body[name])

    def find_model(self, name: str) -> Any:
        model = self.tool.endpoint.model
        columns = () if model is None else model._meta.concrete_fields
        field = next((each for each in columns if name in (each.name, each.attname)), None)
        return getattr(field, "related_model", None)

    def get_problem(self, argument: Any, model: Any, value: Any) -> Problem:
        advice = PROBLEM_REMEDIES["does_not_exist"]
        remediation = _(advice).format(name=f"'{argument.name}'")
        if finder := self.tool.related.find_list(model):
            text = _("Use %(tool)s to find existing ids, then call again with one of them.")
            remediation = text % {"tool": finder}
        return Problem(
            code="does_not_exist",
            message=_("No object has this key."),
            pointer=argument.pointer,
            received=mask_member(argument.name, value),
            remediation=remediation,
        )


STATES = (Category.VALIDATION, Category.CONFLICT)
FIRST_PAGE = gettext_noop("Start at the first page, and go on with the arguments of the next.")


class ListHint:
    """Names the list that has what was not found, or the tools that change what stood in the way.

    Args:
        tool: a `drf_mcp.tools.tool.Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def add_to(self, outcome: Outcome) -> Outcome:
        failure = outcome.failure
        if failure is None or (failure.problems and failure.problems[0].pointer):
            # What is wrong with an argument says how to mend it.
            return outcome
        if failure.remediation in get_state_advice():
            return outcome.changed(failure=self.add_changes(failure))
        if failure.category is not Category.NOT_FOUND:
            return outcome
        if failure.remediation not in ("", HANDLING[Category.NOT_FOUND].remediation):
            return outcome
        hint = self.text
        return outcome.changed(failure=replace(failure, remediation=hint)) if hint else outcome

    def add_changes(self, failure: Failure) -> Failure:
        changes = StateFields(self.tool).explain(failure.message)
        if not changes:
            return failure
        advice = f"{failure.remediation} {changes}"
        # One that is no argument's says what the failure says.
        problems = (
            replace(problem, remediation=advice) if not problem.pointer else problem
            for problem in failure.problems
        )
        return replace(failure, remediation=advice, problems=tuple(problems))

    @property
    def text(self) -> str:
        name, endpoint = self.tool.list_tool, self.tool.endpoint
        if name is not None:
            text = _("Use %(tool)s to find existing ids, then call again with one of them.")
            return text % {"tool": name}
        is_list = endpoint.standard_action == "list"
        has_pages = is_list and getattr(endpoint.view_class, "pagination_class", None)
        return _(FIRST_PAGE) if has_pages else ""


def get_state_advice() -> tuple[str, ...]:
    """Return what is said where the state of an object may be the reason."""
    advice = CODE_REMEDIES["CONFLICT"]
    return (*(HANDLING[each].remediation for each in STATES), _(advice))
