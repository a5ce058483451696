"""Envelopes that a view built itself, read back so that they are never wrapped twice.

A view may return one of this package's models, or the dict of a "response-v2"; what
it says is rendered in the envelope that is active. A dict may be of any project's
making: what is not of the right type in it counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from drf_mcp.envelopes.facts import FIDELITY_LEVELS
from drf_mcp.envelopes.model_reading import pointer_of, read_ok, read_status
from drf_mcp.envelopes.response_v2 import ERROR_DATA, META, VERSION
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

STANDARD_DATA = frozenset(ERROR_DATA["properties"])
# What marks a failure of a call that worked is said by `Failure.soft` from there on.
STANDARD_META = frozenset({*META["properties"], "soft"})


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
    data, meta = envelope.get("data"), envelope["meta"]
    failure = None
    if not envelope["success"]:
        failure = response_v2_failure(envelope, mapping(data), soft=meta.get("soft") is True)
        # A soft failure has an answer where a hard one has but its context.
        data = dict(failure.context) if failure.soft and failure.context else None
    return Outcome(
        tool="",
        status=status,
        data={} if data is None and failure is None else data,
        failure=failure,
        request_id=str(meta.get("request_id") or ""),
        warnings=tuple(response_v2_warnings(meta)),
        pagination=members_of(Pagination, meta.get("pagination"), has_more=False),
        rate_limit=members_of(RateLimit, meta.get("rate_limit")),
        telemetry=mapping(meta.get("telemetry")),
        fidelity=fidelity_of(meta),
        meta={name: value for name, value in meta.items() if name not in STANDARD_META},
    )


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return the items of a list, none of anything else."""
    return list(value) if isinstance(value, (list, tuple)) else []


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
    entries = items(mapping(details).get("problems")) or [details]
    return [
        Problem(
            code=str(entry.get("code") or entry.get("constraint") or "invalid"),
            message=str(entry.get("message") or ""),
            pointer=str(entry.get("pointer") or pointer_of(entry.get("field"))),
            received=entry.get("received", MISSING),
            accepted=str(entry["accepted"]) if entry.get("accepted") else None,
            remediation=str(entry.get("remediation") or ""),
            context=mapping(entry.get("context")),
        )
        for entry in map(mapping, entries)
        if entry
    ]


def response_v2_warnings(meta: Mapping[str, Any]) -> list[Warning]:
    """Return the structured warnings, then the sentences that they do not hold."""
    details = [
        Warning(
            code=str(detail.get("code") or "WARNING"),
            message=str(detail.get("message") or detail.get("code") or ""),
            severity=severity_of(detail),
            context=mapping(detail.get("context")),
            remediation=str(detail.get("remediation") or ""),
        )
        for detail in map(mapping, items(meta.get("warning_details")))
        if detail
    ]
    told = {detail.message for detail in details}
    sentences = [text for text in map(str, items(meta.get("warnings"))) if text not in told]
    return details + [Warning("WARNING", text) for text in sentences]


def severity_of(detail: Mapping[str, Any]) -> Severity:
    """Return the severity of a structured warning, its code's by default."""
    try:
        return Severity(detail.get("severity"))
    except ValueError:
        return WARNING_SEVERITIES.get(str(detail.get("code")), Severity.WARNING)


def members_of(model: Callable[..., Any], told: Any, **defaults: Any) -> Any:
    """Return a fact of that class from the members it has, None if there are none."""
    names = {field.name for field in fields(model)}  # type: ignore[arg-type]
    known = {name: value for name, value in mapping(told).items() if name in names}
    converted = {name: converter(name)(value) for name, value in known.items()}
    said = {name: value for name, value in converted.items() if value is not None}
    return model(**{**defaults, **said}) if said else None


def number(value: Any) -> int | None:
    """Return a number of things as an integer, None if it is none."""
    if isinstance(value, (int, float)) and value == value and abs(value) != float("inf"):
        return int(value)
    return None


def text(value: Any) -> str | None:
    """Return a value as text, None for none."""
    return None if value is None else str(value)


def arguments(value: Any) -> Mapping[str, Any] | None:
    """Return arguments to send, None if there are none."""
    return mapping(value) or None


def moment(value: Any) -> int | None:
    """Return a time as seconds since the epoch, None if it is none."""
    try:
        told = parse_datetime(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return int(told.timestamp()) if isinstance(told, datetime) else number(told)


def converter(name: str) -> Callable[[Any], Any]:
    """Return what makes a member of that name of the right type."""
    return CONVERTERS.get(name, number)


CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "has_more": bool,
    "cursor": text,
    "next": arguments,
    "reset_at": moment,
}


def fidelity_of(meta: Mapping[str, Any]) -> Fidelity | None:
    """Return what the envelope says was left out, None if it says nothing."""
    level = meta.get("content_fidelity")
    if level not in FIDELITY_LEVELS:
        return None
    hashes = mapping(meta.get("content_archive_hashes"))
    return Fidelity(
        level,
        tuple(map(str, items(meta.get("dropped_content_ids")))),
        {str(name): str(value) for name, value in hashes.items()},
    )


READERS: dict[str, Callable[[Any, int], Outcome]] = {
    VERSION: read_tool_response,
    "ok": read_ok,
    "status": read_status,
}
