"""The rest of a caller's quota, read from the view's own throttles after the call.

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


class QuotaReader:
    """Reads the quotas that REST framework's own throttles keep of a view's request.

    A subclass of one with the same cache key and rate, in a cache outside the database, counts
    as REST framework's own.
    """

    def __init__(self, view: Any) -> None:
        self.view = view

    def get_rate_limit(self, status: int, headers: Mapping[str, str]) -> RateLimit | None:
        tightest = self.get_tightest_quota() if self.view.throttle_classes else None
        seconds = headers.get("Retry-After", "") if status == 429 else ""
        if not seconds.isdigit():
            return tightest
        return replace(tightest or RateLimit(), retry_after=int(seconds))

    def get_tightest_quota(self) -> RateLimit | None:
        # The fewest calls left; of several that, the longest wait.
        # A view that chooses its throttles itself may ask a database which.
        if type(self.view).get_throttles is not APIView.get_throttles:
            return None
        throttles = [made() for made in self.view.throttle_classes if asks_no_database(made)]
        quotas = [quota for throttle in throttles for quota in self.find_quotas(throttle)]

        def tightness(quota: RateLimit) -> tuple[int, ...]:
            return (quota.remaining or 0, -(quota.retry_after or 0), quota.limit or 0)

        return min(quotas, key=tightness, default=None)

    def find_quotas(self, throttle: Any) -> Iterator[RateLimit]:
        if not isinstance(throttle, SimpleRateThrottle):
            return
        view = self.view
        if isinstance(throttle, ScopedRateThrottle):
            throttle.scope = getattr(view, throttle.scope_attr, None)
            if not throttle.scope:
                return
            throttle.rate = throttle.get_rate()
            throttle.num_requests, throttle.duration = throttle.parse_rate(throttle.rate)  # type: ignore[attr-defined]
        key = throttle.get_cache_key(view.request, view) if throttle.rate else None
        history = None if key is None else throttle.cache.get(key, [])
        # A subclass may keep something else under its key.
        if isinstance(history, list) and all(isinstance(t, (int, float)) for t in history):
            yield self.get_quota(throttle, history)

    def get_quota(self, throttle: Any, history: list[float]) -> RateLimit:
        limit, period = int(throttle.num_requests or 0), int(throttle.duration or 0)
        now = throttle.timer()
        counted = [moment for moment in history if moment > now - period]
        remaining = max(limit - len(counted), 0)
        # The oldest request is the last of the list, and falls out before the others.
        resets = (counted[-1] if counted else now) + period
        return RateLimit(
            limit=limit,
            remaining=remaining,
            reset_at=iso_time(math.ceil(resets)),
            period=period_name(period),
            retry_after=None if remaining else max(math.ceil(resets - now), 0),
        )


def asks_no_database(throttle: type) -> bool:
    # REST framework's own rate and key come from settings, its history from a cache.
    steps = (getattr(throttle, name, None) for name in ("__init__", "get_rate", "get_cache_key"))
    return all(
        getattr(step, "__module__", "") == SimpleRateThrottle.__module__ for step in steps
    ) and not hasattr(throttle.cache, "cache_model_class")  # type: ignore[attr-defined]


def warn_of_quota(quota: RateLimit) -> Iterator[Warning]:
    if quota.limit is None or quota.remaining is None or quota.remaining > quota.limit * LOW_SHARE:
        return
    context = {"remaining": quota.remaining, "limit": quota.limit, "reset_at": quota.reset_at}
    message = f"{quota.remaining} of {quota.limit} calls are left in this period."
    yield Warning(APPROACHING, message, WARNING_SEVERITIES[APPROACHING], context)
