"""What is left of a caller's quota, read from the view's own throttles after the call.

Only the history in the throttle's cache is read: asking costs the caller nothing, and no
database is asked what plain HTTP does not ask.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rest_framework.throttling import ScopedRateThrottle, SimpleRateThrottle
from rest_framework.views import APIView

from drf_mcp.codes import WARNING_SEVERITIES
from drf_mcp.outcomes import RateLimit, Warning, iso_time, period_name

APPROACHING = "RATE_LIMIT_APPROACHING"
LOW_SHARE = 0.1


def rate_limit_of(view: Any, status: int, headers: Mapping[str, str]) -> RateLimit | None:
    """Return the tightest quota of a view's throttles for its request.

    Args:
        view: the view instance that answered.
        status: the HTTP status of its answer.
        headers: the answer's headers; Retry-After of a 429 says when to come back.

    Returns:
        None where none of REST framework's own throttles, or a subclass with the same cache
        key and rate, counts this caller in a cache outside the database.
    """
    tightest = tightest_of(view) if view.throttle_classes else None
    seconds = headers.get("Retry-After", "") if status == 429 else ""
    if not seconds.isdigit():
        return tightest
    return replace(tightest or RateLimit(), retry_after=int(seconds))


def tightest_of(view: Any) -> RateLimit | None:
    """Return the tightest of the quotas that a view's throttles keep, None if they keep none."""
    # A view that chooses its throttles itself may ask a database which.
    if type(view).get_throttles is not APIView.get_throttles:
        return None
    throttles = [throttle() for throttle in view.throttle_classes if asks_no_database(throttle)]
    quotas = [quota for throttle in throttles for quota in quotas_of(throttle, view)]
    return min(quotas, key=tightness) if quotas else None


def asks_no_database(throttle: type) -> bool:
    """Return whether REST framework itself finds rate and key, in a cache outside the database."""
    steps = (getattr(throttle, name, None) for name in ("__init__", "get_rate", "get_cache_key"))
    return all(
        getattr(step, "__module__", "") == SimpleRateThrottle.__module__ for step in steps
    ) and not hasattr(throttle.cache, "cache_model_class")  # type: ignore[attr-defined]


def tightness(quota: RateLimit) -> tuple[int, ...]:
    """Return what orders quotas: the fewest calls left, then the longest wait."""
    return (quota.remaining or 0, -(quota.retry_after or 0), quota.limit or 0)


def quotas_of(throttle: Any, view: Any) -> Iterator[RateLimit]:
    """Yield the quota that a throttle keeps for the view's request, if it does."""
    if not isinstance(throttle, SimpleRateThrottle):
        return
    if isinstance(throttle, ScopedRateThrottle):
        throttle.scope = getattr(view, throttle.scope_attr, None)
        if not throttle.scope:
            return
        throttle.rate = throttle.get_rate()
        throttle.num_requests, throttle.duration = throttle.parse_rate(throttle.rate)  # type: ignore[attr-defined]
    key = throttle.get_cache_key(view.request, view) if throttle.rate else None
    history = None if key is None else throttle.cache.get(key, [])
    # A subclass may keep something else under its key.
    if isinstance(history, list) and all(isinstance(moment, (int, float)) for moment in history):
        yield quota_of(throttle, history)


def quota_of(throttle: SimpleRateThrottle, history: list[float]) -> RateLimit:
    """Return the quota that a history of request times leaves."""
    limit, period = int(throttle.num_requests or 0), int(throttle.duration or 0)  # type: ignore[attr-defined]
    now = throttle.timer()
    counted = [moment for moment in history if moment > now - period]
    remaining = max(limit - len(counted), 0)
    # The oldest request stands last, and falls out first.
    resets = (counted[-1] if counted else now) + period
    return RateLimit(
        limit=limit,
        remaining=remaining,
        reset_at=iso_time(math.ceil(resets)),
        period=period_name(period),
        retry_after=None if remaining else max(math.ceil(resets - now), 0),
    )


def approaching(quota: RateLimit) -> Warning | None:
    """Return the warning that little of a quota is left, None if enough is."""
    if quota.limit is None or quota.remaining is None or quota.remaining > quota.limit * LOW_SHARE:
        return None
    return Warning(
        code=APPROACHING,
        message=f"{quota.remaining} of {quota.limit} calls are left in this period.",
        severity=WARNING_SEVERITIES[APPROACHING],
        context={"remaining": quota.remaining, "limit": quota.limit, "reset_at": quota.reset_at},
    )
