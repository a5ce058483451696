"""The metadata that the contracts share: its JSON Schema, its validation and its parsing."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from drf_mcp.codes import WARNING_SEVERITIES, screaming_code
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import (
    Fidelity,
    Pagination,
    RateLimit,
    Severity,
    Warning,
    iso_time,
    period_name,
)

logger = logging.getLogger("drf_mcp")

FIDELITY_LEVELS = ("full", "partial", "summary", "reference_only")

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


def to_period(value: Any) -> str | None:
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


class Members(dict[str, Any]):
    """An object in a view's own envelope, in which a value of a wrong type counts as absent."""

    def __init__(self, value: Any) -> None:
        super().__init__(value if isinstance(value, Mapping) else {})

    def text(self, name: str) -> str:
        return str(self.get(name) or "")

    def string(self, name: str) -> str:
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def integer(self, name: str) -> int | None:
        value: Any = self.get(name)
        return int(value) if is_number(value) else None

    def object(self, name: str) -> Members:
        return Members(self.get(name))

    def array(self, name: str) -> list[Any]:
        value = self.get(name)
        return list(value) if isinstance(value, (list, tuple)) else []

    def objects(self, name: str) -> list[Members]:
        return list(map(Members, self.array(name)))

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(map(str, self.array(name)))

    def severity(self, default: Severity) -> Severity:
        try:
            return Severity(self.get("severity"))
        except ValueError:
            return default

    def pointer(self, name: str) -> str:
        path = self.text(name)
        return JSONPointer.from_dotted(path) if path else ""

    def others(self, names: Container[str]) -> dict[str, Any]:
        return {name: value for name, value in self.items() if name not in names}


def parse_meta(meta: Mapping[str, Any], own_names: Container[str] = ()) -> dict[str, Any]:
    """Return the members of an `Outcome` that a contract's metadata describes."""
    members = Members(drop_invalid(meta))
    quota = members.object("rate_limit")
    rate_limit = RateLimit(
        limit=quota.integer("limit"),
        remaining=quota.integer("remaining"),
        reset_at=to_iso_time(quota.get("reset_at")),
        period=to_period(quota.get("period")),
        retry_after=quota.integer("retry_after"),
        more=quota.others(RATE_LIMIT["properties"]),
    )
    hashes, dropped = members.object("content_archive_hashes"), members.texts("dropped_content_ids")
    level, fidelity = members.get("content_fidelity"), None
    if level in FIDELITY_LEVELS or dropped or hashes:
        fidelity = Fidelity(
            level if level in FIDELITY_LEVELS else "partial",
            dropped,
            {str(name): str(value) for name, value in hashes.items()},
            members.string("content_fidelity_schema_version") or Fidelity.version,
        )
    others = members.others(RESERVED)
    return {
        "request_id": members.text("request_id"),
        "warnings": parse_warnings(members),
        "suggestions": members.texts("suggestions"),
        "pagination": parse_pagination(members.object("pagination")),
        "rate_limit": None if rate_limit == RateLimit() else rate_limit,
        "telemetry": members.object("telemetry"),
        "fidelity": fidelity,
        "version": members.string("content_version"),
        "content_hash": members.string("content_hash"),
        "meta": {name: others[name] for name in others if name not in own_names},
    }


def parse_warnings(members: Members) -> tuple[Warning, ...]:
    warnings = []
    for detail in filter(None, members.objects("warning_details")):
        code = screaming_code(detail.text("code") or "WARNING")
        warnings.append(
            Warning(
                code=code,
                message=detail.text("message") or detail.text("code"),
                severity=detail.severity(WARNING_SEVERITIES.get(code, Severity.WARNING)),
                context={**detail.others(WARNING_MEMBERS), **detail.object("context")},
                remediation=detail.text("remediation"),
            )
        )
    known = {warning.message for warning in warnings}
    sentences = (text for text in members.texts("warnings") if text not in known)
    return (*warnings, *(Warning("WARNING", text) for text in sentences))


def parse_pagination(page: Members) -> Pagination | None:
    has_more, cursor = page.get("has_more"), page.get("cursor")
    following = page.object("next") or None
    if has_more is None and (cursor is not None or following is not None):
        has_more = True
    pagination = Pagination(
        has_more=None if has_more is None else bool(has_more),
        total_count=page.integer("total_count"),
        page_size=page.integer("page_size"),
        page=page.integer("page"),
        cursor=None if cursor is None else str(cursor),
        next=following,
        more=page.others(PAGINATION["properties"]),
    )
    return None if pagination == Pagination() else replace(pagination, own=True)
