"""What the ``meta`` of a view's own envelope tells, as members of an `Outcome`.

It may be of any project's making: what is not of the right type in it counts for nothing,
and what has no place of its own in an `Outcome` stays beside the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from drf_mcp.codes import WARNING_SEVERITIES
from drf_mcp.envelopes.metadata import FIDELITY, FIDELITY_LEVELS, SOURCE
from drf_mcp.outcomes import (
    Fidelity,
    Pagination,
    RateLimit,
    Severity,
    Warning,
    iso_time,
    period_name,
)

# What `read_meta` finds a place for.
READ = frozenset(
    {
        "request_id",
        "warnings",
        "suggestions",
        "pagination",
        "rate_limit",
        "telemetry",
        *FIDELITY,
        *SOURCE,
    }
)
WARNING_MEMBERS = frozenset({"code", "message", "severity", "context", "remediation"})


def read_meta(meta: Mapping[str, Any], besides: Container[str] = ()) -> dict[str, Any]:
    """Return the members of an `Outcome` that ``meta`` tells.

    Args:
        meta: the facts of a view's own envelope.
        besides: names that its contract has another meaning for.
    """
    return {
        "request_id": text(meta.get("request_id")) or "",
        "warnings": tuple(warnings_of(meta)),
        "suggestions": tuple(map(str, items(meta.get("suggestions")))),
        "pagination": pagination_of_meta(mapping(meta.get("pagination"))),
        "rate_limit": members_of(RateLimit, mapping(meta.get("rate_limit"))),
        "telemetry": mapping(meta.get("telemetry")),
        "fidelity": fidelity_of(meta),
        "version": said(meta.get("content_version")),
        "content_hash": said(meta.get("content_hash")),
        "meta": {
            name: value for name, value in meta.items() if name not in READ and name not in besides
        },
    }


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return the items of a list, none of anything else."""
    return list(value) if isinstance(value, (list, tuple)) else []


def said(value: Any) -> str:
    """Return a value that is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def warnings_of(meta: Mapping[str, Any]) -> list[Warning]:
    """Return the structured warnings, then the sentences that they do not hold."""
    entries = map(mapping, items(meta.get("warning_details")))
    details = [warning_of(entry) for entry in entries if entry]
    told = {detail.message for detail in details}
    sentences = [text for text in map(str, items(meta.get("warnings"))) if text not in told]
    return details + [Warning("WARNING", text) for text in sentences]


def warning_of(detail: Mapping[str, Any]) -> Warning:
    """Return a structured warning; members that no contract names belong to its context."""
    more = {name: value for name, value in detail.items() if name not in WARNING_MEMBERS}
    return Warning(
        code=str(detail.get("code") or "WARNING"),
        message=str(detail.get("message") or detail.get("code") or ""),
        severity=severity_of(detail),
        context={**more, **mapping(detail.get("context"))},
        remediation=str(detail.get("remediation") or ""),
    )


def severity_of(detail: Mapping[str, Any]) -> Severity:
    """Return the severity of a structured warning, its code's by default."""
    try:
        return Severity(detail.get("severity"))
    except ValueError:
        return WARNING_SEVERITIES.get(str(detail.get("code")), Severity.WARNING)


def pagination_of_meta(told: Mapping[str, Any]) -> Pagination | None:
    """Return where the page stands, None if nothing is told of it."""
    page: Pagination | None = members_of(Pagination, told)
    if page is None:
        return None
    follows = page.has_more is None and (page.cursor is not None or page.next is not None)
    return replace(page, own=True, has_more=True if follows else page.has_more)


def members_of(model: Callable[..., Any], told: Mapping[str, Any]) -> Any:
    """Return a fact of that class from the members it has, None if there are none.

    Members that the class does not know are its ``more``.
    """
    names = {field.name for field in fields(model)} - {"more", "own"}  # type: ignore[arg-type]
    known = {name: converted(name, told[name]) for name in names if name in told}
    members = {name: value for name, value in known.items() if value is not None}
    more = {name: value for name, value in told.items() if name not in names}
    return model(**members, more=more) if members or more else None


def converted(name: str, value: Any) -> Any:
    """Return the value of a member in the type it has, None if it cannot be."""
    convert: Callable[[Any], Any] = CONVERTERS.get(name, number)
    return convert(value)


def number(value: Any) -> int | None:
    """Return a number of things as an integer, None if it is none."""
    return int(value) if is_number(value) else None


def is_number(value: Any) -> bool:
    """Return whether a value is a number that is finite."""
    return isinstance(value, (int, float)) and value == value and abs(value) != float("inf")


def text(value: Any) -> str | None:
    """Return a value as text, None for none."""
    return None if value is None else str(value)


def flag(value: Any) -> bool | None:
    """Return whether something is the case, None where it is not told."""
    return None if value is None else bool(value)


def arguments(value: Any) -> Mapping[str, Any] | None:
    """Return arguments to send, None if there are none."""
    return mapping(value) or None


def moment(value: Any) -> str | None:
    """Return a time as ISO 8601, None if it is none; a text that is one stays as it is."""
    try:
        if isinstance(value, str):
            return value if parse_datetime(value) else None
        if isinstance(value, datetime):
            return value.isoformat().replace("+00:00", "Z")
        return iso_time(value) if is_number(value) else None
    except (ValueError, OverflowError, OSError):
        return None


def period(value: Any) -> str | None:
    """Return the length of a period in words, None if it is none."""
    if isinstance(value, str):
        return value
    return period_name(value) if is_number(value) else None


CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "has_more": flag,
    "cursor": text,
    "next": arguments,
    "reset_at": moment,
    "period": period,
}


def fidelity_of(meta: Mapping[str, Any]) -> Fidelity | None:
    """Return what the envelope says was left out, None if it says nothing.

    One that names what was dropped and no level is partial.
    """
    level = meta.get("content_fidelity")
    dropped = tuple(map(str, items(meta.get("dropped_content_ids"))))
    hashes = mapping(meta.get("content_archive_hashes"))
    if level not in FIDELITY_LEVELS:
        if not dropped and not hashes:
            return None
        level = "partial"
    archives = {str(name): str(value) for name, value in hashes.items()}
    version = said(meta.get("content_fidelity_schema_version"))
    return Fidelity(level, dropped, archives, version or Fidelity.version)
