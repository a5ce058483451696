"""The metadata that contracts share: its JSON Schema, and the rules for its values."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware
from django.utils.translation import gettext

from drf_mcp.codes import gettext_noop
from drf_mcp.outcomes import iso_time, period_name

if TYPE_CHECKING:
    from pydantic import ConfigDict

logger = logging.getLogger("drf_mcp")

FIDELITY_LEVELS = ("full", "partial", "summary", "reference_only")

STRINGS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}

PAGINATION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "has_more": {"type": "boolean"},
        "total_count": {"type": "integer"},
        "page_size": {"type": "integer"},
        "page": {"type": "integer"},
        "cursor": {"type": "string"},
        "next": {
            "type": "object",
            "description": gettext_noop("Arguments that fetch the next page."),
        },
    },
}

RATE_LIMIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer"},
        "remaining": {"type": "integer"},
        "reset_at": {"type": "string"},
        "period": {"type": "string"},
        "retry_after": {"type": "integer"},
    },
}

FIDELITY: dict[str, Any] = {
    "content_fidelity": {"type": "string", "enum": list(FIDELITY_LEVELS)},
    "content_fidelity_schema_version": {"type": "string"},
    "dropped_content_ids": STRINGS,
    "content_archive_hashes": {"type": "object", "additionalProperties": {"type": "string"}},
    "warning_details": {"type": "array", "items": {"type": "object"}},
}

# The "ok" contract has names of its own for both.
SOURCE: dict[str, Any] = {
    "content_version": {"type": "string"},
    "content_hash": {"type": "string"},
}

COMMON_META: dict[str, Any] = {
    "request_id": {"type": "string"},
    **FIDELITY,
    "warnings": STRINGS,
    "pagination": PAGINATION,
    "rate_limit": RATE_LIMIT,
    "telemetry": {"type": "object"},
    "suggestions": STRINGS,
}

# Members of ``meta`` for which an `Outcome` has a field.
RESERVED = COMMON_META.keys() | SOURCE.keys()
WARNING_MEMBERS = frozenset({"code", "message", "severity", "context", "remediation"})
# RFC 3339.
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def translate_schema(schema: Any) -> Any:
    """Return a schema with its descriptions in the active language."""
    if isinstance(schema, list):
        return [translate_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may be called "description": its value is a schema.
    words = schema.get("description")
    translated = {"description": gettext(words)} if isinstance(words, str) else {}
    return {name: translate_schema(part) for name, part in schema.items()} | translated


def translate_in_place(schema: dict[str, Any]) -> None:
    schema.update(translate_schema(schema))


# The configuration of models, whose schemas are translated whenever they are made.
TRANSLATED: ConfigDict = {"json_schema_extra": translate_in_place}
OPEN: ConfigDict = {"extra": "allow", **TRANSLATED}


def is_finite(value: Any) -> bool:
    # NaN is the one number that differs from itself.
    return isinstance(value, (int, float)) and value == value and abs(value) != float("inf")


def is_amount(value: Any) -> bool:
    return is_finite(value) and not isinstance(value, bool) and value >= 0


def is_count(value: Any) -> bool:
    return is_amount(value) and value == int(value)


def is_positive_integer(value: Any) -> bool:
    return is_count(value) and value > 0


# The values of ``meta`` that contract 000 restricts.
RULES: Mapping[str, Callable[[Any], object]] = {
    "request_id": lambda value: re.fullmatch(r"[a-zA-Z0-9_-]+", str(value)),
    "pagination.total_count": is_count,
    "pagination.page_size": is_positive_integer,
    "pagination.page": is_positive_integer,
    "rate_limit.limit": is_count,
    "rate_limit.remaining": is_count,
    "rate_limit.retry_after": is_count,
    "rate_limit.reset_at": lambda value: to_iso_time(value),
    "telemetry.duration_ms": is_amount,
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
        logger.warning("What a view says is left out: %s is not as the contract has it.", path)
        group, _, name = path.rpartition(".")
        members = meta[group] if group else meta
        kept = {key: value for key, value in members.items() if key != name}
        meta = {**meta, group: kept} if group else kept
    return meta


def to_iso_time(value: Any) -> str | None:
    try:
        if isinstance(value, str):
            written = to_iso_time(parse_datetime(value))
            return value if written and DATE_TIME.fullmatch(value) else written
        if isinstance(value, datetime):
            aware = make_aware(value) if is_naive(value) else value
            return aware.isoformat().replace("+00:00", "Z")
        return iso_time(value) if is_finite(value) else None
    except (ValueError, OverflowError, OSError):
        return None


def to_period(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return period_name(value) if is_finite(value) else None
