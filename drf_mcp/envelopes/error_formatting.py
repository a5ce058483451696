"""What the caller of a function is told of an exception, in the "standard response" contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions

from drf_mcp.codes import (
    HANDLING,
    Category,
    category_of_code,
    screaming_code,
    standard_code,
)
from drf_mcp.dispatch.errors.violations import violation_failure
from drf_mcp.envelopes.status_models import ResponseError, ResponseSeverity


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


class ErrorFormatter:
    """Says what the caller is told of an exception.

    A project's own says more of its own exceptions::

        class ScanErrors(ErrorFormatter):
            def format_exception(self, exc, context=None):
                if isinstance(exc, LockFileMissing):
                    return ResponseError(message="...", severity="error", code="no_lock_file")
                return super().format_exception(exc, context)

    It need not be a subclass: whatever has such a method will do, and may return an error of
    any class that has the members of `FormattedError`.
    """

    def format_exception(
        self, exc: Exception, context: dict[str, Any] | None = None
    ) -> FormattedError | ResponseError | None:
        """Return the error of an exception; None for what `format_exception` makes of it."""
        return format_exception(exc, context)


def as_response_error(formatted: FormattedError | ResponseError) -> ResponseError:
    """Return an error that somebody else formatted as one of a response."""
    if isinstance(formatted, ResponseError):
        return formatted
    return ResponseError(
        message=formatted.message,
        suggestion=formatted.suggestion,
        severity=ResponseSeverity(formatted.severity.value),
        code=formatted.error_code,
        recoverable=formatted.recoverable,
        context=formatted.context,
    )


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
        code = own_code(known) or standard_code(known.status_code).lower()
        message = " ".join(sentences(known.detail))
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
