"""Functions of your own that answer in the "standard response" contract.

For a plain function the answer is a dict; for one called with a request, such as the
method of a view, it is a REST framework ``Response`` of that dict. Give tools whose
views answer like this the `PlainEnvelope`: their body is an envelope already.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Protocol, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback
from typing_extensions import Self

from drf_mcp.envelopes.status_models import ResponseError, ResponseSeverity, StandardMCPResponse
from drf_mcp.violations import violation_failure
from drf_mcp.vocabulary import CODES, HANDLING, Category, standard_code

logger = logging.getLogger("drf_mcp")

ResponseT = TypeVar("ResponseT", bound=StandardMCPResponse)
Function = TypeVar("Function", bound=Callable[..., Any])


class HasValue(Protocol):
    """An enum member whose ``value`` is info, warning, error or critical."""

    @property
    def value(self) -> str:
        """The severity in lower case."""


class FormattedError(Protocol):
    """An error ready to be shown, of whatever class."""

    message: str
    suggestion: str | None
    severity: HasValue
    error_code: str
    recoverable: bool
    context: dict[str, Any] | None


class ResponseBuilder:
    """Builds failed responses from exceptions and from errors that others formatted."""

    @staticmethod
    def build_error_response(
        response_class: type[ResponseT],
        primary_error: Exception,
        context: dict[str, Any] | None = None,
        execution_time: float | None = None,
    ) -> ResponseT:
        """Return the response for an exception; see `format_exception`."""
        response = response_class(success=False)
        response.metadata.execution_time = execution_time
        add_error(response, format_exception(primary_error, context))
        return response

    @staticmethod
    def build_from_formatted_errors(
        response_class: type[ResponseT],
        formatted_errors: Iterable[FormattedError],
        success: bool = False,
        data: dict[str, Any] | None = None,
        execution_time: float | None = None,
    ) -> ResponseT:
        """Return the response for errors; a serious one makes it a failure."""
        response = response_class(success=success, data=data or {})
        response.metadata.execution_time = execution_time
        for formatted in formatted_errors:
            error = ResponseError(
                message=formatted.message,
                suggestion=formatted.suggestion,
                severity=ResponseSeverity(formatted.severity.value),
                code=formatted.error_code,
                recoverable=formatted.recoverable,
                context=formatted.context,
            )
            add_error(response, error)
        return response


def add_error(response: StandardMCPResponse, error: ResponseError) -> None:
    """Add an error and its suggestion to a response."""
    response.add_error(error)
    response.add_suggestion(error.suggestion or "")


def format_exception(exc: Exception, context: dict[str, Any] | None = None) -> ResponseError:
    """Return what the caller may know of an exception.

    REST framework's exceptions, and Django's two that it knows, tell their own
    sentence, and what broke a rule of the database tells which. Any other tells none,
    since it may hold secrets.
    """
    suggestion = ""
    known, violated = api_exception(exc), violation_failure(exc)
    if violated is not None:
        code, message = violated.code.lower(), violated.message
        category, suggestion = violated.category, violated.remediation
    elif known is None:
        code, message = "internal_error", "An internal error occurred."
        category = Category.INTERNAL
    else:
        standard = standard_code(known.status_code)
        code, message = own_code(known) or standard.lower(), " ".join(sentences(known.detail))
        category = CODES.get(code.upper(), CODES[standard])
    handling = HANDLING[category]
    return ResponseError(
        message=message,
        suggestion=suggestion or handling.remediation,
        severity=handling.severity,
        code=code,
        recoverable=handling.recoverable,
        context=context,
    )


def api_exception(exc: Exception) -> exceptions.APIException | None:
    """Return REST framework's form of an exception that it turns into a response."""
    if isinstance(exc, Http404):
        return exceptions.NotFound()
    if isinstance(exc, PermissionDenied):
        return exceptions.PermissionDenied()
    return exc if isinstance(exc, exceptions.APIException) else None


def own_code(exc: exceptions.APIException) -> str | None:
    """Return the code of a project's own exception class; None for a stock one."""
    codes = exc.get_codes()
    stock = type(exc).__module__ == exceptions.__name__
    return codes.lower() if isinstance(codes, str) and not stock else None


def sentences(detail: Any, place: str = "") -> list[str]:
    """Return every message of an exception's detail, led by its place."""
    if isinstance(detail, Mapping):
        return [text for name in detail for text in sentences(detail[name], f"{place}{name}: ")]
    if isinstance(detail, (list, tuple)):
        return [text for item in detail for text in sentences(item, place)]
    return [f"{place}{detail}"]


class Run:
    """One call of a decorated function: timed, its answer or exception a response.

    Use it as a context manager around the call and read `result` afterwards. What
    the call raises ends here: it is logged unless REST framework knows it, and the
    transaction is marked for rollback as REST framework's own handler does.
    """

    def __init__(self, response_class: type[StandardMCPResponse], name: str) -> None:
        self.response_class = response_class
        self.name = name
        self.response = response_class()
        self.reply = Response()

    def __enter__(self) -> Self:
        self.started = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(exc, Exception):
            return False
        known = api_exception(exc)
        if known is None:
            logger.error("%s failed", self.name, exc_info=exc)
        set_rollback()
        self.reply = Response(status=500 if known is None else known.status_code)
        self.response = ResponseBuilder.build_error_response(self.response_class, exc)
        return True

    def answer(self, value: Any) -> None:
        """Take what the function returned."""
        if isinstance(value, Response):
            self.reply, value = value, value.data
        if isinstance(value, StandardMCPResponse):
            self.response = value
            return
        if not isinstance(value, Mapping):
            value = {} if value is None else {"result": value}
        success = bool(value.get("success", True)) and self.reply.status_code < 400
        self.response = self.response_class(success=success, data=dict(value))

    def result(self, *arguments: Any) -> dict[str, Any] | Response:
        """Return the dict, or the ``Response`` if a request is among the arguments."""
        metadata = self.response.metadata
        metadata.tool_name = metadata.tool_name or self.name
        if metadata.execution_time is None:
            metadata.execution_time = time.perf_counter() - self.started
        body = self.response.finalize()
        if not any(isinstance(argument, (HttpRequest, Request)) for argument in arguments):
            return body
        self.reply.data = body
        return self.reply


def standardized_response(
    response_class: type[StandardMCPResponse],
) -> Callable[[Function], Function]:
    """Decorate a function, coroutine or not, to answer in the standard response.

    A `StandardMCPResponse` is finalized, a dict becomes its ``data`` (and its
    ``success``, if it has that member), any other value ``{"result": value}``. An
    exception becomes a failure.
    """

    def decorator(function: Function) -> Function:
        make_run = functools.partial(Run, response_class, function.__name__)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with make_run() as run:
                run.answer(function(*args, **kwargs))
            return run.result(*args)

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            with make_run() as run:
                run.answer(await function(*args, **kwargs))
            return run.result(*args)

        return call_async if inspect.iscoroutinefunction(function) else call  # type: ignore[return-value]

    return decorator
