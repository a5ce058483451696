"""Functions of your own that answer in the "standard response" contract."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback
from typing_extensions import Self

from drf_mcp.codes import HANDLING, Category, category_of_code, screaming_code, standard_code
from drf_mcp.envelopes.status_models import FormattedError, ResponseError, StandardMCPResponse
from drf_mcp.settings import mcp_settings

__all__ = [
    "ErrorFormatter",
    "ResponseBuilder",
    "format_exception",
    "standardized_response",
]

logger = logging.getLogger("drf_mcp")

ResponseT = TypeVar("ResponseT", bound=StandardMCPResponse)
Function = TypeVar("Function", bound=Callable[..., Any])


class ErrorFormatter:
    """Makes errors of exceptions; override `format_exception`.

    Any class with that method can take its place, and the error may be of any class with the
    members of `FormattedError`.
    """

    def format_exception(
        self, exc: Exception, context: dict[str, Any] | None = None
    ) -> FormattedError | ResponseError | None:
        """Return the error of an exception; None for that of `format_exception`."""
        return self.make_error(exc, context)

    def make_error(self, exc: Exception, context: dict[str, Any] | None) -> ResponseError:
        suggestion = ""
        known = to_api_exception(exc)
        if known is None:
            # The message of an unexpected exception may hold secrets, the mapper's does not.
            failure = mcp_settings.ERROR_MAPPER_CLASS().from_exception(exc)
            code, category = failure.code.lower(), failure.category
            message, suggestion = failure.message, failure.remediation
            # The mapper's message has the request id of a call.
            if category is Category.INTERNAL:
                message, suggestion = _("An internal error occurred."), ""
        else:
            codes = known.get_codes()
            # REST framework's own exceptions have the standard code of their HTTP status.
            is_framework = type(known).__module__ == exceptions.__name__
            code = codes if isinstance(codes, str) and not is_framework else ""
            code = (code or standard_code(known.status_code)).lower()
            message = " ".join(self._list_messages(known.detail))
            category = category_of_code(screaming_code(code), known.status_code)
        handling = HANDLING[category]
        return ResponseError(
            message=message,
            suggestion=suggestion or handling.remediation,
            severity=handling.severity,
            code=code,
            recoverable=handling.recoverable,
            context=context,
        )

    def _list_messages(self, detail: Any, place: str = "") -> list[str]:
        if isinstance(detail, Mapping):
            parts = [(detail[name], f"{place}{name}: ") for name in detail]
        elif isinstance(detail, (list, tuple)):
            parts = [(item, place) for item in detail]
        else:
            return [f"{place}{detail}"]
        return [text for part, inner in parts for text in self._list_messages(part, inner)]


def format_exception(exc: Exception, context: dict[str, Any] | None = None) -> ResponseError:
    """Return the error of an exception, without a message that may hold secrets."""
    return ErrorFormatter().make_error(exc, context)


def to_api_exception(exc: Exception) -> exceptions.APIException | None:
    if isinstance(exc, Http404):
        return exceptions.NotFound()
    if isinstance(exc, PermissionDenied):
        return exceptions.PermissionDenied()
    return exc if isinstance(exc, exceptions.APIException) else None


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
        response = response_class(success=False)
        response.metadata.execution_time = execution_time
        formatter = error_formatter() if isinstance(error_formatter, type) else error_formatter
        formatted = formatter.format_exception(primary_error, context)
        response.add_formatted(formatted or format_exception(primary_error, context))
        return response

    @staticmethod
    def build_from_formatted_errors(
        response_class: type[ResponseT],
        formatted_errors: Iterable[FormattedError],
        success: bool = False,
        data: dict[str, Any] | None = None,
        execution_time: float | None = None,
    ) -> ResponseT:
        """Return the response for errors; a serious error makes it a failure."""
        response = response_class(success=success, data=data or {})
        response.metadata.execution_time = execution_time
        for formatted in formatted_errors:
            response.add_formatted(formatted)
        return response


class StandardizedCall:
    # Times a call of a decorated function, and makes a response of its value or exception.

    def __init__(
        self, response_class: type[StandardMCPResponse], name: str, error_formatter: Any
    ) -> None:
        self.response_class = response_class
        self.name = name
        self.error_formatter = error_formatter
        self.response = response_class()
        self.reply = Response()

    def __enter__(self) -> Self:
        self.started = time.perf_counter()
        return self

    def __exit__(self, kind: Any, exc: BaseException | None, traceback: Any) -> bool:
        if not isinstance(exc, Exception):
            return False
        # As REST framework's exception handler does.
        known = to_api_exception(exc)
        set_rollback()
        self.reply = Response(status=500 if known is None else known.status_code)
        self.response = ResponseBuilder.build_error_response(
            self.response_class, exc, error_formatter=self.error_formatter
        )
        if known is None:
            request_id = self.response.metadata.request_id
            logger.error("%s failed [%s]", self.name, request_id, exc_info=exc)
        return True

    def set_value(self, value: Any) -> None:
        if isinstance(value, Response):
            self.reply, value = value, value.data
        if isinstance(value, StandardMCPResponse):
            self.response = value
            return
        if not isinstance(value, Mapping):
            value = {} if value is None else {"result": value}
        success = bool(value.get("success", True)) and self.reply.status_code < 400
        self.response = self.response_class(success=success, data=dict(value))

    def get_result(self, *arguments: Any) -> dict[str, Any] | Response:
        metadata = self.response.metadata
        metadata.tool_name = metadata.tool_name or self.name
        if metadata.execution_time is None:
            metadata.execution_time = time.perf_counter() - self.started
        body = self.response.finalize()
        # A function with a request is a view.
        if not any(isinstance(argument, (HttpRequest, Request)) for argument in arguments):
            return body
        self.reply.data = body
        return self.reply


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
        start = functools.partial(StandardizedCall, response_class, name, error_formatter)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with start() as current:
                current.set_value(function(*args, **kwargs))
            return current.get_result(*args)

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            with start() as current:
                current.set_value(await function(*args, **kwargs))
            return current.get_result(*args)

        is_async = iscoroutinefunction(inner) or iscoroutinefunction(type(inner).__call__)
        chosen: Any = call_async if is_async else call
        chosen.__name__ = name
        return chosen  # type: ignore[no-any-return]

    return decorator
