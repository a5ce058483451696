"""What is left of a caller's quota, read from the view's own throttles after the call.

Only the history in the throttle's cache is read: asking costs the caller nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.throttling import ScopedRateThrottle, SimpleRateThrottle

from drf_mcp.outcomes import RateLimit, Warning
from drf_mcp.vocabulary import WARNING_SEVERITIES

APPROACHING = "RATE_LIMIT_APPROACHING"
LOW_SHARE = 0.1


def rate_limit_of(view: Any, headers: Mapping[str, str]) -> RateLimit | None:
    """Return the tightest quota of a view's throttles for its request.

    Args:
        view: the view instance that answered.
        headers: its response's headers; Retry-After says when to come back.

    Returns:
        None where no throttle of the SimpleRateThrottle family counts this caller.
    """
    throttles = view.get_throttles()
    if not throttles:
        return None
    quotas = [quota for throttle in throttles for quota in quotas_of(throttle, view)]
    if not quotas:
        return None
    tightest = min(quotas, key=lambda quota: (quota.remaining or 0, quota.limit or 0))
    seconds = headers.get("Retry-After", "")
    if not seconds.isdigit():
        return tightest
    return RateLimit(
        tightest.limit, tightest.remaining, tightest.reset_at, tightest.period, int(seconds)
    )


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
    if key is not None:
        yield quota_of(throttle, throttle.cache.get(key, []))


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
        reset_at=math.ceil(resets),
        period=period,
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
