"""The metadata that the contracts share: its JSON Schema, its validation and its parsing."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from drf_mcp.codes import WARNING_SEVERITIES, screaming_code
from drf_mcp.outcomes import (
    FIDELITY_LEVELS,
    Fidelity,
    Pagination,
    RateLimit,
    Severity,
    Source,
    Warning,
    iso_time,
    period_name,
)

logger = logging.getLogger("drf_mcp")

Value = TypeVar("Value", str, list[Any], dict[str, Any])
Facts = TypeVar("Facts", Pagination, RateLimit)

STRING, INTEGER, OBJECT = {"type": "string"}, {"type": "integer"}, {"type": "object"}
STRINGS: dict[str, Any] = {"type": "array", "items": STRING}

PAGINATION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "has_more": {"type": "boolean"},
        "total_count": INTEGER,
        "page_size": INTEGER,
        "page": INTEGER,
        "cursor": STRING,
        "next": OBJECT,
    },
}

RATE_LIMIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": INTEGER,
        "remaining": INTEGER,
        "reset_at": STRING,
        "period": STRING,
        "retry_after": INTEGER,
    },
}

FIDELITY: dict[str, Any] = {
    "content_fidelity": {"type": "string", "enum": list(FIDELITY_LEVELS)},
    "content_fidelity_schema_version": STRING,
    "dropped_content_ids": STRINGS,
    "content_archive_hashes": {"type": "object", "additionalProperties": STRING},
    "warning_details": {"type": "array", "items": OBJECT},
}

# The "ok" contract has other names for both.
SOURCE: dict[str, Any] = {"content_version": STRING, "content_hash": STRING}

COMMON_META: dict[str, Any] = {
    "request_id": STRING,
    **FIDELITY,
    "warnings": STRINGS,
    "pagination": PAGINATION,
    "rate_limit": RATE_LIMIT,
    "telemetry": OBJECT,
    "suggestions": STRINGS,
}

# Members of ``meta`` for which an `Outcome` has a field.
RESERVED = COMMON_META.keys() | SOURCE.keys()
WARNING_MEMBERS = frozenset({"code", "message", "severity", "context", "remediation"})
# RFC 3339.
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def is_number(value: Any, least: float = float("-inf"), *, whole: bool = False) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    # NaN is the one number that differs from itself.
    is_finite = value == value and abs(value) != float("inf")
    return is_finite and value >= least and not (whole and value != int(value))


is_count = partial(is_number, least=0, whole=True)
is_ordinal = partial(is_number, least=1, whole=True)


def to_iso_time(value: Any) -> str | None:
    try:
        if isinstance(value, str):
            written = to_iso_time(parse_datetime(value))
            return value if written and DATE_TIME.fullmatch(value) else written
        if isinstance(value, datetime):
            aware = make_aware(value) if is_naive(value) else value
            return aware.isoformat().replace("+00:00", "Z")
        return iso_time(value) if is_number(value) else None
    except (ValueError, OverflowError, OSError):
        return None


def _to_period(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return period_name(value) if is_number(value) else None


# The values of ``meta`` that contract 000 restricts.
RULES: Mapping[str, Callable[[Any], object]] = {
    "request_id": lambda value: re.fullmatch(r"[a-zA-Z0-9_-]+", str(value)),
    "pagination.total_count": is_count,
    "pagination.page_size": is_ordinal,
    "pagination.page": is_ordinal,
    "rate_limit.limit": is_count,
    "rate_limit.remaining": is_count,
    "rate_limit.retry_after": is_count,
    "rate_limit.reset_at": to_iso_time,
    "telemetry.duration_ms": partial(is_number, least=0),
    "telemetry.downstream_calls": is_count,
    "telemetry.cache_hit": lambda value: isinstance(value, bool),
}


def find_invalid(meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of values that `RULES` refuse; None counts as absent."""
    for path, is_valid in RULES.items():
        group, _, name = path.rpartition(".")
        members = meta.get(group) if group else meta
        value = members.get(name) if isinstance(members, Mapping) else None
        if value is not None and not is_valid(value):
            yield path


def drop_invalid(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a view's own metadata without the values that `RULES` refuse."""
    for path in find_invalid(meta):
        logger.warning("Metadata of a view is left out: %s does not fit the contract.", path)
        group, _, name = path.rpartition(".")
        members = meta[group] if group else meta
        kept = {key: value for key, value in members.items() if key != name}
        meta = {**meta, group: kept} if group else kept
    return meta


def write_times(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with the times of the rate limit as texts."""
    quota = meta.get("rate_limit")
    if not isinstance(quota, Mapping):
        return dict(meta)
    texts = {"reset_at": to_iso_time, "period": _to_period}
    words = {name: texts[name](quota[name]) or quota[name] for name in texts if name in quota}
    return {**meta, "rate_limit": {**quota, **words}}


def take(members: Any, name: str, kind: type[Value]) -> Value:
    """Return a member of a view's own envelope, an empty value where it has another type."""
    value = members.get(name) if isinstance(members, Mapping) else None
    return value if isinstance(value, kind) else kind()


def take_objects(members: Any, name: str) -> list[dict[str, Any]]:
    return [each for each in take(members, name, list) if isinstance(each, dict)]


def take_severity(members: Mapping[str, Any], default: Severity) -> Severity:
    try:
        return Severity(take(members, "severity", str))
    except ValueError:
        return default


def leave_out(members: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


def parse_meta(meta: Mapping[str, Any], own_names: Container[str] = ()) -> dict[str, Any]:
    """Return the members of an `Outcome` that a contract's metadata describes."""
    meta = write_times(drop_invalid(meta))
    dropped, hashes = (
        take(meta, "dropped_content_ids", list),
        take(meta, "content_archive_hashes", dict),
    )
    level, fidelity = meta.get("content_fidelity"), None
    if level in FIDELITY_LEVELS or dropped or hashes:
        fidelity = Fidelity(
            level if level in FIDELITY_LEVELS else "partial",
            tuple(map(str, dropped)),
            {str(name): str(value) for name, value in hashes.items()},
            take(meta, "content_fidelity_schema_version", str) or Fidelity.version,
        )
    others = leave_out(meta, RESERVED)
    return {
        "request_id": take(meta, "request_id", str),
        "warnings": _parse_warnings(meta),
        "suggestions": tuple(map(str, take(meta, "suggestions", list))),
        "pagination": _parse_pagination(take(meta, "pagination", dict)),
        "rate_limit": _parse_facts(RateLimit, take(meta, "rate_limit", dict), RATE_LIMIT),
        "telemetry": take(meta, "telemetry", dict),
        "fidelity": fidelity,
        "source": Source(take(meta, "content_version", str), take(meta, "content_hash", str)),
        "meta": {name: others[name] for name in others if name not in own_names},
    }


def _parse_warnings(meta: Mapping[str, Any]) -> tuple[Warning, ...]:
    warnings = []
    for detail in take_objects(meta, "warning_details"):
        code = screaming_code(take(detail, "code", str) or "WARNING")
        warnings.append(
            Warning(
                code=code,
                message=take(detail, "message", str) or code,
                severity=take_severity(detail, WARNING_SEVERITIES.get(code, Severity.WARNING)),
                context={**leave_out(detail, WARNING_MEMBERS), **take(detail, "context", dict)},
                remediation=take(detail, "remediation", str),
            )
        )
    known = {warning.message for warning in warnings}
    sentences = (text for text in map(str, take(meta, "warnings", list)) if text not in known)
    return (*warnings, *(Warning("WARNING", text) for text in sentences))


def _parse_facts(
    kind: type[Facts], members: dict[str, Any], schema: Mapping[str, Any]
) -> Facts | None:
    known = {n: members[n] for n in schema["properties"] if members.get(n) is not None}
    return kind(**known, more=leave_out(members, schema["properties"])) if members else None


def _parse_pagination(members: dict[str, Any]) -> Pagination | None:
    page = _parse_facts(Pagination, members, PAGINATION)
    if page is None:
        return None
    cursor = None if page.cursor is None else str(page.cursor)
    following = page.next if isinstance(page.next, dict) and page.next else None
    has_more = page.has_more
    if has_more is None and (cursor is not None or following is not None):
        has_more = True
    has_more = None if has_more is None else bool(has_more)
    return replace(page, has_more=has_more, cursor=cursor, next=following, own=True)
