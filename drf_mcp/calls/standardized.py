"""The decorator and the builders of the "standard response" contract, for a project's functions."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from drf_mcp.codes import HANDLING, Category
from drf_mcp.envelopes.base import OwnEnvelope
from drf_mcp.envelopes.models import ResponseError, StandardMCPResponse
from drf_mcp.exceptions import catch
from drf_mcp.settings import mcp_settings

__all__ = ["ErrorFormatter", "ResponseBuilder", "format_exception", "standardized_response"]

logger = logging.getLogger("drf_mcp")

ResponseT = TypeVar("ResponseT", bound=StandardMCPResponse)
Function = TypeVar("Function", bound=Callable[..., Any])


def _to_api_exception(exc: Exception) -> exceptions.APIException | None:
    if isinstance(exc, Http404):
        return exceptions.NotFound()
    if isinstance(exc, PermissionDenied):
        return exceptions.PermissionDenied()
    return exc if isinstance(exc, exceptions.APIException) else None


def format_exception(exc: Exception, context: dict[str, Any] | None = None) -> ResponseError:
    """Return the error of an exception, without a message that may hold secrets."""
    known, mapper = _to_api_exception(exc), mcp_settings.ERROR_MAPPER_CLASS()
    if known is not None:
        failure = mapper.from_response(known.status_code, known.detail, {})
    else:
        failure = mapper.from_exception(exc)
    message, problems = failure.message, failure.problems
    if len(problems) > 1:
        message = " ".join(problem.message for problem in problems)
    elif known is None and failure.category is Category.INTERNAL:
        # The mapper's message has the request id of a call.
        message = "An internal error occurred."
    handling = HANDLING[failure.category]
    return ResponseError(
        message=message,
        suggestion=failure.remediation,
        severity=handling.severity,
        code=failure.code.lower(),
        recoverable=handling.recoverable,
        context=context,
    )


class ErrorFormatter:
    """Makes an error of an exception; override `format_exception`.

    Any class with this method can be used, and the error may be of any class with the attributes
    ``message``, ``suggestion``, ``severity``, ``error_code``, ``recoverable`` and ``context``.
    """

    def format_exception(self, exc: Exception, context: dict[str, Any] | None = None) -> Any:
        """Return the error of an exception; None for `format_exception`'s error."""
        return format_exception(exc, context)


def _add_errors(response: ResponseT, errors: Iterable[Any], seconds: float | None) -> ResponseT:
    response.metadata.execution_time = seconds
    for error in errors:
        if not isinstance(error, ResponseError):
            error = ResponseError(
                message=error.message,
                suggestion=error.suggestion,
                severity=error.severity.value,
                code=error.error_code,
                recoverable=error.recoverable,
                context=error.context,
            )
        response.add_error(error)
        response.add_suggestion(error.suggestion or "")
    return response


class ResponseBuilder:
    """Builds failed responses from exceptions and formatted errors."""

    @staticmethod
    def build_error_response(
        response_class: type[ResponseT],
        primary_error: Exception,
        context: dict[str, Any] | None = None,
        execution_time: float | None = None,
        error_formatter: Any = ErrorFormatter,
    ) -> ResponseT:
        """Return the response for an exception; the formatter is an instance or a class."""
        formatter = error_formatter() if isinstance(error_formatter, type) else error_formatter
        error = formatter.format_exception(primary_error, context)
        errors = [error or format_exception(primary_error, context)]
        return _add_errors(response_class(success=False), errors, execution_time)

    @staticmethod
    def build_from_formatted_errors(
        response_class: type[ResponseT],
        formatted_errors: Iterable[Any],
        success: bool = False,
        data: dict[str, Any] | None = None,
        execution_time: float | None = None,
    ) -> ResponseT:
        """Return the response for errors; a serious error makes it a failure."""
        response = response_class(success=success, data=data or {})
        return _add_errors(response, formatted_errors, execution_time)


def _read_returned(value: Any, response_class: type[ResponseT]) -> tuple[Any, Response]:
    reply = value if isinstance(value, Response) else Response()
    value = value.data if isinstance(value, Response) else value
    if not isinstance(value, (StandardMCPResponse, OwnEnvelope)):
        if not isinstance(value, Mapping):
            value = {} if value is None else {"result": value}
        success = bool(value.get("success", True)) and reply.status_code < 400
        value = response_class(success=success, data=dict(value))
    return value, reply


def _read_exception(
    response_class: type[ResponseT], error_formatter: Any, exc: Exception, name: str
) -> tuple[Any, Response]:
    # As REST framework's exception handler does.
    set_rollback()
    build = ResponseBuilder.build_error_response
    response = build(response_class, exc, error_formatter=error_formatter)
    known = _to_api_exception(exc)
    if known is None:
        logger.error("%s failed [%s]", name, response.metadata.request_id, exc_info=exc)
    return response, Response(status=500 if known is None else known.status_code)


def standardized_response(
    response_class: type[StandardMCPResponse], *, error_formatter: Any = ErrorFormatter
) -> Callable[[Function], Function]:
    """Decorate a callable, coroutine function or not, to answer in the standard response.

    A `StandardMCPResponse` is finalized, a dict becomes its ``data`` (and its
    ``success``, if it has that member), any other value ``{"result": value}``. An
    exception becomes a failure. The answer is a dict, or to a request a ``Response`` of it.

    Args:
        response_class: the class of the responses.
        error_formatter: an `ErrorFormatter` or its class.
    """

    def decorator(function: Function) -> Function:
        inner: Any = function
        while isinstance(inner, functools.partial):
            inner = inner.func
        name = getattr(inner, "__name__", type(inner).__name__)
        reject = functools.partial(_read_exception, response_class, error_formatter)

        def finish(response: Any, reply: Response, args: Any, started: float) -> Any:
            if not isinstance(response, OwnEnvelope):
                seconds, metadata = time.perf_counter() - started, response.metadata
                if metadata.execution_time is None:
                    metadata.execution_time = seconds
                response = response.finalize()
            reply.data = body = response
            if isinstance(body.get("metadata"), dict) and not body["metadata"].get("tool_name"):
                body["metadata"]["tool_name"] = name
            # A function with a request is a view.
            is_view = any(isinstance(argument, (HttpRequest, Request)) for argument in args)
            return reply if is_view else reply.data

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            with catch() as caught:
                return finish(
                    *_read_returned(function(*args, **kwargs), response_class), args, started
                )
            return finish(*reject(caught.exception, name), args, started)

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            with catch() as caught:
                value = await function(*args, **kwargs)
                return finish(*_read_returned(value, response_class), args, started)
            return finish(*reject(caught.exception, name), args, started)

        is_async = iscoroutinefunction(inner) or iscoroutinefunction(type(inner).__call__)
        chosen: Any = call_async if is_async else call
        chosen.__name__ = name
        return chosen  # type: ignore[no-any-return]

    return decorator
