"""What a view's own `OkResponse` or `StandardMCPResponse` tells, as an outcome."""

from __future__ import annotations

from typing import Any

from drf_mcp.outcomes import Category, Failure, Outcome, Pagination, Problem, Severity, Warning
from drf_mcp.vocabulary import CODES

SERIOUS = (Severity.ERROR, Severity.CRITICAL)


def pointer_of(field: Any) -> str:
    """Return the JSON pointer of a field written ``a[0].b``; "" for none."""
    if not field:
        return ""
    return "/" + str(field).replace("[", ".").replace("]", "").replace(".", "/").lstrip("/")


def read_ok(response: Any, status: int) -> Outcome:
    """Read an `OkResponse`; one that says no with a good HTTP status failed softly."""
    return Outcome(
        tool="",
        status=status,
        data=response.data,
        failure=None if response.ok else ok_failure(response.errors, soft=status < 400),
        warnings=tuple(Warning("WARNING", text) for text in response.meta.warnings or ()),
        pagination=ok_pagination(response.meta),
        meta=dict(response.meta.model_extra or {}),
    )


def ok_failure(errors: list[Any], *, soft: bool) -> Failure:
    """Return the failure of an `OkResponse`, a problem for each of its errors."""
    first = errors[0]
    code = first.code.upper()
    return Failure(
        code=code,
        category=CODES.get(code, Category.VALIDATION),
        message=first.message,
        remediation=first.fix_hint or "",
        problems=tuple(
            Problem(e.code, e.message, pointer_of(e.path), remediation=e.fix_hint or "")
            for e in errors
        ),
        soft=soft,
    )


def ok_pagination(meta: Any) -> Pagination | None:
    """Return what ``meta.next_cursor`` says, None where it was not set."""
    if "next_cursor" not in meta.model_fields_set:
        return None
    return Pagination(has_more=meta.next_cursor is not None, cursor=meta.next_cursor)


def read_status(response: Any, status: int) -> Outcome:
    """Read a `StandardMCPResponse`: errors of a success are warnings that say what to do."""
    metadata = response.metadata
    seconds = metadata.execution_time
    told = response.errors if response.success else []
    return Outcome(
        tool="",
        status=status,
        data=response.data if response.success else None,
        failure=None if response.success else status_failure(response),
        request_id=metadata.request_id if "request_id" in metadata.model_fields_set else "",
        warnings=(
            *(
                Warning(e.code.upper(), e.message, e.severity, e.context or {}, e.suggestion or "")
                for e in told
            ),
            *(Warning("WARNING", text) for text in response.warnings),
        ),
        suggestions=tuple(response.suggestions),
        telemetry={} if seconds is None else {"duration_ms": round(seconds * 1000, 3)},
        meta=dict(metadata.model_extra or {}),
    )


def status_failure(response: Any) -> Failure:
    """Return the failure of a `StandardMCPResponse`, named after its first serious error."""
    errors, context = response.errors, response.data or {}
    if not errors:
        code, message = "INTERNAL_ERROR", "The operation failed."
        return Failure(code, CODES[code], message, "", context=context)
    first = next((error for error in errors if error.severity in SERIOUS), errors[0])
    code = first.code.upper()
    return Failure(
        code=code,
        category=CODES.get(code, Category.INTERNAL),
        message=first.message,
        remediation=first.suggestion or "",
        problems=tuple(map(status_problem, errors)),
        context=context,
    )


def status_problem(error: Any) -> Problem:
    """Return an error of a `StandardMCPResponse` as a problem with no place of its own."""
    return Problem(
        code=error.code,
        message=error.message,
        remediation=error.suggestion or "",
        severity=error.severity,
        recoverable=error.recoverable,
        context=error.context or {},
    )
