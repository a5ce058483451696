"""What an exception that left the view comes to."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404
from django.http.multipartparser import MultiPartParserError

from drf_mcp.dispatch.errors.mapper import INTERNAL, INVALID, STATUSES, status_phrase
from drf_mcp.dispatch.errors.remediation import remedy
from drf_mcp.dispatch.errors.violations import Blockers, violation_failure
from drf_mcp.outcomes import Failure

# What Django itself answers when these leave a view, by type.
EXCEPTION_STATUSES: dict[type[BaseException], int] = {
    Http404: 404,
    PermissionDenied: 403,
    MultiPartParserError: 400,
    BadRequest: 400,
    SuspiciousOperation: 400,
}


def exception_failure(
    exc: BaseException, request_id: str, named: Callable[[Blockers], str] | None = None
) -> tuple[int, Failure]:
    """Return the HTTP status and the failure of an exception that left the view.

    Nothing of an unexpected exception is told but the id it was logged under.

    Args:
        exc: the exception.
        request_id: the id it is logged under.
        named: names the rows that keep others from being deleted; by their models if None.
    """
    status = next(filter(None, map(EXCEPTION_STATUSES.get, type(exc).__mro__)), 500)
    violated = violation_failure(exc, named)
    if violated is not None:
        return status, violated
    code, category = STATUSES.get(status, INTERNAL if status >= 500 else INVALID)
    message = status_phrase(status)
    if status >= 500:
        message = f"An unexpected error occurred. It was logged under the id {request_id}."
    return status, Failure(code, category, message, remedy(code, category, (), {}))
