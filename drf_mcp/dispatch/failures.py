"""Failures of calls as outcomes, what is reported of them, and what helps after them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.db import IntegrityError, connections
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework import exceptions
from rest_framework.exceptions import APIException

from drf_mcp.access.authentication import Caller
from drf_mcp.codes import HANDLING, Severity
from drf_mcp.dispatch.error_texts import CODE_REMEDIES, PROBLEM_REMEDIES
from drf_mcp.dispatch.errors import (
    REFERENCE,
    ArgumentLocator,
    ErrorMapper,
    get_exception_status,
)
from drf_mcp.dispatch.guards import find_refusal
from drf_mcp.dispatch.probe import Probe, ask_about_rows
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.response import new_request_id
from drf_mcp.exceptions import InternalError, TimeLimitExceeded, contain
from drf_mcp.features import CallState
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import get_plural_name, join_values
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Category, Failure, Outcome, Problem, RateLimit, Warning
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.binding import find_reversed
from drf_mcp.tools.arguments.call import BODY, PATH, QUERY, Argument, Call
from drf_mcp.tools.arguments.errors import ArgumentsRefused, mask_member
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")
# Of the rows of one model that a caller sees.
MOST_ROWS = 10_000
EMPTY = "EMPTY_LIST"
CHOOSING = ("filter", "search")
# What REST framework's paginators say of a page that does not exist.
MISSING_PAGES = ("invalid_page_message", "invalid_cursor_message")
EXISTING = gettext_noop("Use %(tool)s to find existing ids, then call again with one of them.")


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
        protected_rows = ProtectedRows(tool, getattr(request, "caller", None))
        failure = self.get_error_mapper(call, request).from_exception(
            exc, request_id, protected_rows.name_blockers
        )
        if isinstance(exc, IntegrityError):
            failure = name_missing_rows(failure, tool, getattr(request, "body", b""))
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
        """Return the outcome of a caller who may not call a tool, None for any other caller."""
        tool, arguments, caller = call.tool, call.arguments, call.caller
        if caller.find_narrowing(tool):
            return find_refusal(tool, caller)
        names = tool.arguments
        sent = names.use_own_names(arguments) if isinstance(arguments, Mapping) else {}
        # Of wrong arguments those in the path may be right.
        kwargs = {
            argument.parameter.name: value
            for argument, value in names.get_values(sent)
            if argument.location == PATH and isinstance(value, (str, int))
        }
        probe = Probe(caller, tool, Call({}, kwargs))

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
    # Error trackers read the exception from ``sys.exc_info()``: it has to be handled meanwhile.
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


# --- What helps after a failure or an empty list ------------------------------------------------


def quote_names(arguments: Iterable[Argument]) -> str:
    return join_values(f"'{argument.name}'" for argument in arguments)


def is_empty(outcome: Outcome) -> bool:
    """Return whether the answer is a list without rows, and no page past the last one."""
    rows, page = outcome.data, outcome.pagination
    if isinstance(rows, OBJECTS):
        rows = rows.get("results")
    return rows == [] and outcome.failure is None and not (page and page.total_count)


def explain_empty_list(tool: Tool, call: Call) -> Iterator[Warning]:
    """Yield a warning of a list without rows, which its arguments explain: no database is asked."""
    sent = tool.arguments.get_values(call.arguments)
    values = [(argument, value) for argument, value in sent if value not in (None, "", [])]
    queries = [pair for pair in values if pair[0].location == QUERY]
    sentences = []
    for problem in find_reversed(queries):
        text = f"{problem.path}: {problem.message} {problem.remediation}"
        sentences.append(_("No rows: %(problem)s") % {"problem": text})
    if names := quote_names(argument for argument, _ in values if argument.location == PATH):
        text = _("No rows, and nothing says that the object of %(names)s exists.")
        if tool.list_tool:
            text = _(
                "No rows, and nothing says that the object of %(names)s exists: %(tool)s lists"
                " those that exist."
            )
        sentences.append(text % {"names": names, "tool": tool.list_tool})
    if sentences := sentences or [*explain_filters([argument for argument, _ in queries])]:
        yield Warning(EMPTY, " ".join(sentences), Severity.INFO)


def explain_filters(arguments: Sequence[Argument]) -> Iterator[str]:
    chosen = [a for a in arguments if a.whole or a.parameter.role in CHOOSING]
    if chosen:
        yield _(
            "No rows fit %(names)s. Leave out one at a time to see rows, and how their values"
            " are written."
        ) % {"names": quote_names(chosen)}
    for argument in chosen:
        schema: Any = argument.parameter.schema
        finder = FieldSchema.of(schema.get("items", schema)).meaning.finder
        if finder:
            facts = {"tool": finder, "argument": argument.name}
            yield _("%(tool)s lists what '%(argument)s' takes.") % facts


def name_missing_rows(failure: Failure, tool: Tool, content: bytes) -> Failure:
    """Return the failure of a broken reference with the arguments whose rows do not exist."""
    if failure.message != _(REFERENCE[0]):
        return failure
    # The connection may be unusable, and a body need not be JSON.
    none: tuple[Problem, ...] = ()
    problems = attempt(tool.name, lambda: tuple(find_missing_rows(tool, content)), "", [], none)
    if not problems:
        return failure
    return replace(failure, problems=problems, remediation=problems[0].remediation)


def find_missing_rows(tool: Tool, content: bytes) -> Iterator[Problem]:
    body = json.loads(content)
    columns = () if tool.endpoint.model is None else tool.endpoint.model._meta.concrete_fields
    for argument in tool.arguments.arguments if isinstance(body, Mapping) else ():
        name = argument.parameter.name
        value = body.get(name) if argument.location == BODY else None
        column = next((each for each in columns if name in (each.name, each.attname)), None)
        model = getattr(column, "related_model", None)
        if value is None or model is None or model._base_manager.filter(pk=value).exists():
            continue
        remediation = _(PROBLEM_REMEDIES["does_not_exist"])
        if finder := tool.related.find_list(model):
            remediation = _(EXISTING) % {"tool": finder}
        yield Problem(
            code="does_not_exist",
            message=_("No object has this key."),
            pointer=argument.pointer,
            received=mask_member(argument.name, value),
            remediation=remediation,
        )


def add_hints(outcome: Outcome, tool: Any) -> Outcome:
    """Return the outcome of a failure with the list that has what was not found, or with the
    tools that change what was in the way."""
    failure = outcome.failure
    if failure is None or (failure.problems and failure.problems[0].pointer):
        # What is wrong with an argument says how to mend it.
        return outcome
    # What is said where the state of an object may be the reason.
    states = [HANDLING[each].remediation for each in (Category.VALIDATION, Category.CONFLICT)]
    if failure.remediation in (*states, _(CODE_REMEDIES["CONFLICT"])):
        changes = tool.explain_state(failure.message)
        advice = f"{failure.remediation} {changes}"
        # A problem that is no argument's says what the failure says.
        problems = tuple(
            replace(problem, remediation=advice) if not problem.pointer else problem
            for problem in failure.problems
        )
        advised = replace(failure, remediation=advice, problems=problems)
        return outcome.changed(failure=advised) if changes else outcome
    general = ("", HANDLING[Category.NOT_FOUND].remediation)
    if failure.category is not Category.NOT_FOUND or failure.remediation not in general:
        return outcome
    endpoint = tool.endpoint
    paginator = getattr(endpoint.view_class, "pagination_class", None)
    is_paged = endpoint.standard_action == "list" and paginator is not None
    # A list below an object may lack the page, or the object.
    texts = [getattr(paginator, name, "") for name in MISSING_PAGES]
    if is_paged and (tool.list_tool is None or failure.message in map(str, texts)):
        hint = _("Start at the first page, and go on with the arguments of the next.")
    elif tool.list_tool is not None:
        hint = _(EXISTING) % {"tool": tool.list_tool}
    else:
        return outcome
    return outcome.changed(failure=replace(failure, remediation=hint))


# --- Rows in the way ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows of one model, as far as the caller may see them.

    Attributes:
        model: the model's name, in the plural.
        count: how many of them the caller finds in the tool; 0 where it may not be said.
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
    """The list tools that a tool knows, as one caller sees their rows; None for no known caller.

    Args:
        kwargs: the path kwargs of the call, for the lists below the same objects.
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
        """Return rows by model in words, each model with the tool that lists its rows."""
        described = []
        for model, known in keys.items():
            name, shown = get_plural_name(model), self.find_visible(model, known)
            tool = self._find_tool(model) if shown else None
            described.append(Rows(name, len(shown), tool.name) if tool else Rows(name))
        return tuple(described)

    def find_visible(self, model: type[Model], keys: Collection[Any]) -> set[Any]:
        """Return the keys of the rows that a list shows the caller, as far as one can say."""
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

    def _ask_list(self, model: type[Model], ask: Callable[[Probe], Found | None]) -> Found | None:
        tool, caller = self._find_tool(model), self.caller
        # What takes the list away from the caller takes its rows as well.
        if tool is None or caller is None or caller.find_narrowing(tool) is not None:
            return None
        kwargs = {name: self.kwargs[name] for name in tool.endpoint.route.kwargs}
        return ask_about_rows(caller, tool, kwargs, ask)
