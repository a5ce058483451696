"""What the contracts allow of the facts that a view says of its answer itself."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from drf_mcp.outcomes import iso_time, period_name

logger = logging.getLogger("drf_mcp")

# RFC 3339, as the contracts write times.
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def is_finite(value: Any) -> bool:
    # NaN is the one number that differs from itself.
    return isinstance(value, (int, float)) and value == value and abs(value) != float("inf")


def is_amount(value: Any) -> bool:
    return is_finite(value) and not isinstance(value, bool) and value >= 0


def is_count(value: Any) -> bool:
    return is_amount(value) and value == int(value)


def is_positive_integer(value: Any) -> bool:
    return is_count(value) and value > 0


# What a view may say of the members that contract 000 restricts, by their place in ``meta``.
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


def find_refused(meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield the places of values that the contract does not allow; None stands for nothing."""
    for place, is_allowed in RULES.items():
        group, _, name = place.rpartition(".")
        members = meta.get(group) if group else meta
        value = members.get(name) if isinstance(members, Mapping) else None
        if value is not None and not is_allowed(value):
            yield place


def drop_refused(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a view says of its answer without what the contract does not allow."""
    for place in find_refused(meta):
        logger.warning("What a view says is left out: %s is not as the contract has it.", place)
        group, _, name = place.rpartition(".")
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
