"""What a view's own `OkResponse` or `StandardMCPResponse` tells, as an outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drf_mcp.codes import CODES, category_of_code, screaming_code
from drf_mcp.envelopes.metadata_parsing import read_meta
from drf_mcp.outcomes import Failure, Outcome, Pagination, Problem, Severity, Warning

OK_META = frozenset({"version", "next_cursor"})
SERIOUS = (Severity.ERROR, Severity.CRITICAL)


def pointer_of(field: Any) -> str:
    """Return the JSON pointer of a field written ``a[0].b``; "" for none."""
    if not field:
        return ""
    return "/" + str(field).replace("[", ".").replace("]", "").replace(".", "/").lstrip("/")


def read_ok(response: Any, status: int) -> Outcome:
    """Read an `OkResponse`; one that says no with a good HTTP status failed softly."""
    meta = response.meta
    told = read_meta(meta.model_dump(exclude_unset=True), OK_META)
    return Outcome(
        tool="",
        status=status,
        data=response.data,
        failure=None if response.ok else ok_failure(response.errors, status),
        **{
            **told,
            "pagination": ok_pagination(meta, told["pagination"]),
            "version": meta.version or told["version"],
        },
    )


def ok_failure(errors: list[Any], status: int) -> Failure:
    """Return the failure of an `OkResponse`, a problem for each of its errors."""
    first = errors[0]
    code = screaming_code(first.code)
    return Failure(
        code=code,
        category=category_of_code(code, status),
        message=first.message,
        remediation=first.fix_hint or "",
        problems=tuple(
            Problem(e.code, e.message, pointer_of(e.path), remediation=e.fix_hint or "")
            for e in errors
        ),
        soft=status < 400,
    )


def ok_pagination(meta: Any, told: Pagination | None) -> Pagination | None:
    """Return what ``meta.next_cursor`` says beside what else is told of the page."""
    if "next_cursor" not in meta.model_fields_set:
        return told
    page = told or Pagination(own=True)
    return replace(page, has_more=meta.next_cursor is not None, cursor=meta.next_cursor)


def read_status(response: Any, status: int) -> Outcome:
    """Read a `StandardMCPResponse`: errors of a success are warnings that say what to do."""
    metadata = response.metadata.model_dump(exclude_unset=True, exclude_none=True)
    seconds = metadata.get("execution_time")
    told = read_meta(metadata, {"execution_time"})
    if seconds is not None:
        told["telemetry"] = {**told["telemetry"], "duration_ms": round(seconds * 1000, 3)}
    errors = response.errors if response.success else []
    warnings = (*told["warnings"], *(Warning("WARNING", text) for text in response.warnings))
    return Outcome(
        tool="",
        status=status,
        data=response.data if response.success else None,
        failure=None if response.success else status_failure(response, status),
        **{
            **told,
            "warnings": (*map(status_warning, errors), *warnings),
            "suggestions": (*response.suggestions, *told["suggestions"]),
        },
    )


def status_warning(error: Any) -> Warning:
    """Return an error of a `StandardMCPResponse` that worked all the same."""
    return Warning(
        code=screaming_code(error.code),
        message=error.message,
        severity=error.severity,
        context=error.context or {},
        remediation=error.suggestion or "",
        recoverable=error.recoverable,
    )


def status_failure(response: Any, status: int) -> Failure:
    """Return the failure of a `StandardMCPResponse`, named after its first serious error."""
    errors, context = response.errors, response.data or {}
    if not errors:
        code, message = "INTERNAL_ERROR", "The operation failed."
        return Failure(code, CODES[code], message, "", context=context, data=response.data)
    first = next((error for error in errors if error.severity in SERIOUS), errors[0])
    code = screaming_code(first.code)
    return Failure(
        code=code,
        category=category_of_code(code, status if status >= 400 else 500),
        message=first.message,
        remediation=first.suggestion or "",
        problems=tuple(map(status_problem, errors)),
        context=context,
        data=response.data,
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
