"""Envelopes that a view built itself, read back so that they are never wrapped twice.

A view may return one of this package's models, or the dict of a "response-v2"; what
it says is rendered in the envelope that is active.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from drf_mcp.envelopes.response_v2 import VERSION
from drf_mcp.outcomes import (
    MISSING,
    Category,
    Failure,
    Fidelity,
    Outcome,
    Pagination,
    Problem,
    RateLimit,
    Severity,
    Warning,
)
from drf_mcp.vocabulary import CODES, WARNING_SEVERITIES

STANDARD_DATA = frozenset({"error_code", "error_type", "remediation", "details"})


def recognised(data: Any, status: int) -> Outcome | None:
    """Return the outcome that a view's own envelope tells of, None if it is none.

    Args:
        data: what the view answered.
        status: the HTTP status it answered with.
    """
    contract = getattr(type(data), "mcp_contract", None)
    if contract is not None:
        return READERS[contract](data, status)
    if not isinstance(data, Mapping) or "success" not in data:
        return None
    meta = data.get("meta")
    if not isinstance(meta, Mapping) or meta.get("version") != VERSION:
        return None
    return read_response_v2(data, status)


def read_tool_response(response: Any, status: int) -> Outcome:
    """Read a `ToolResponse`."""
    return read_response_v2(vars(response), status)


def read_response_v2(envelope: Mapping[str, Any], status: int) -> Outcome:
    """Read the members of a "response-v2"; ``meta.soft`` marks a soft failure."""
    data, meta = envelope.get("data") or {}, envelope["meta"]
    failure = None
    if not envelope["success"]:
        failure = response_v2_failure(envelope, data, soft=meta.get("soft") is True)
    return Outcome(
        tool="",
        status=status,
        data=data if failure is None else None,
        failure=failure,
        warnings=tuple(response_v2_warnings(meta)),
        pagination=members_of(Pagination, meta.get("pagination"), has_more=False),
        rate_limit=members_of(RateLimit, meta.get("rate_limit")),
        telemetry=meta.get("telemetry") or {},
        fidelity=fidelity_of(meta),
    )


def response_v2_failure(
    envelope: Mapping[str, Any], data: Mapping[str, Any], *, soft: bool
) -> Failure:
    """Return the failure of a "response-v2" that says ``success: false``."""
    code = str(data.get("error_code") or "INTERNAL_ERROR")
    return Failure(
        code=code,
        category=category_of(data.get("error_type"), code),
        message=str(envelope.get("error") or code),
        remediation=str(data.get("remediation") or ""),
        problems=tuple(response_v2_problems(data.get("details"))),
        context={name: value for name, value in data.items() if name not in STANDARD_DATA},
        soft=soft,
    )


def category_of(named: Any, code: str) -> Category:
    """Return the category of that name, else the code's, else internal."""
    try:
        return Category(named)
    except ValueError:
        return CODES.get(code, Category.INTERNAL)


def response_v2_problems(details: Any) -> list[Problem]:
    """Return the problems of an error's ``details``, or the one that it is itself."""
    if not isinstance(details, Mapping):
        return []
    entries = details.get("problems") or [details]
    return [
        Problem(
            code=str(entry.get("code") or entry.get("constraint") or "invalid"),
            message=str(entry.get("message") or ""),
            pointer=str(entry.get("pointer") or pointer_of(entry.get("field"))),
            received=entry.get("received", MISSING),
            accepted=entry.get("accepted"),
            remediation=str(entry.get("remediation") or ""),
        )
        for entry in entries
        if isinstance(entry, Mapping)
    ]


def pointer_of(field: Any) -> str:
    """Return the JSON pointer of a field written ``a[0].b``; "" for none."""
    if not field:
        return ""
    return "/" + str(field).replace("[", ".").replace("]", "").replace(".", "/")


def response_v2_warnings(meta: Mapping[str, Any]) -> list[Warning]:
    """Return the structured warnings, then the sentences that they do not hold."""
    details = [
        Warning(
            code=str(detail.get("code") or "WARNING"),
            message=str(detail["message"]),
            severity=severity_of(detail),
            context=detail.get("context") or {},
            remediation=str(detail.get("remediation") or ""),
        )
        for detail in meta.get("warning_details") or ()
    ]
    told = {detail.message for detail in details}
    sentences = [text for text in meta.get("warnings") or () if text not in told]
    return details + [Warning("WARNING", str(text)) for text in sentences]


def severity_of(detail: Mapping[str, Any]) -> Severity:
    """Return the severity of a structured warning, its code's by default."""
    named = detail.get("severity")
    return Severity(named) if named else WARNING_SEVERITIES.get(detail.get("code", ""), Severity.WARNING)


def members_of(model: Callable[..., Any], members: Any, **defaults: Any) -> Any:
    """Return a fact of that class from the members it has, None if there are none."""
    if not isinstance(members, Mapping) or not members:
        return None
    names = {field.name for field in fields(model)}  # type: ignore[arg-type]
    return model(**{**defaults, **{n: v for n, v in members.items() if n in names}})


def fidelity_of(meta: Mapping[str, Any]) -> Fidelity | None:
    """Return what the envelope says was left out, None if it says nothing."""
    level = meta.get("content_fidelity")
    if level is None:
        return None
    return Fidelity(
        level,
        tuple(meta.get("dropped_content_ids") or ()),
        meta.get("content_archive_hashes") or {},
    )


def read_ok(response: Any, status: int) -> Outcome:
    """Read an `OkResponse`; one that says no with a good HTTP status failed softly."""
    failure = None
    if not response.ok:
        errors = response.errors
        failure = Failure(
            code=errors[0].code.upper(),
            category=CODES.get(errors[0].code.upper(), Category.VALIDATION),
            message=errors[0].message,
            remediation=errors[0].fix_hint or "",
            problems=tuple(
                Problem(e.code, e.message, pointer_of(e.path), remediation=e.fix_hint or "")
                for e in errors
            ),
            soft=status < 400,
        )
    return Outcome(
        tool="",
        status=status,
        data=response.data,
        failure=failure,
        warnings=tuple(Warning("WARNING", text) for text in response.meta.warnings or ()),
        pagination=ok_pagination(response.meta),
    )


def ok_pagination(meta: Any) -> Pagination | None:
    """Return what ``meta.next_cursor`` says, None where it was not set."""
    if "next_cursor" not in meta.model_fields_set:
        return None
    return Pagination(has_more=meta.next_cursor is not None, cursor=meta.next_cursor)


def read_status(response: Any, status: int) -> Outcome:
    """Read a `StandardMCPResponse`: lesser errors are warnings that say what to do."""
    serious = [e for e in response.errors if e.severity in (Severity.ERROR, Severity.CRITICAL)]
    lesser = [e for e in response.errors if e not in serious]
    failure = None
    if not response.success:
        failure = status_failure((serious or lesser)[:1], response)
        lesser = lesser if serious else lesser[1:]
    told = [
        Warning(e.code.upper(), e.message, e.severity, e.context or {}, e.suggestion or "")
        for e in lesser
    ]
    return Outcome(
        tool="",
        status=status,
        data=response.data,
        failure=failure,
        warnings=(*told, *(Warning("WARNING", text) for text in response.warnings)),
        suggestions=tuple(response.suggestions),
    )


def status_failure(first: list[Any], response: Any) -> Failure:
    """Return the failure of the first serious error of a `StandardMCPResponse`."""
    if not first:
        return Failure("INTERNAL_ERROR", Category.INTERNAL, "The operation failed.", "")
    error = first[0]
    code = error.code.upper()
    return Failure(
        code=code,
        category=CODES.get(code, Category.INTERNAL),
        message=error.message,
        remediation=error.suggestion or "",
        context=error.context or {},
    )


READERS: dict[str, Callable[[Any, int], Outcome]] = {
    VERSION: read_tool_response,
    "ok": read_ok,
    "status": read_status,
}
