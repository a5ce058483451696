"""The rest of a caller's quota, read from the view's own throttles after the call.

Only the history in the throttle's cache is read: asking costs the caller nothing, and no
database is asked what plain HTTP does not ask.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from drf_mcp.access.limits import Quotas
from drf_mcp.exceptions import contain
from drf_mcp.outcomes import RateLimit

logger = logging.getLogger("drf_mcp")


class QuotaReader(Quotas):
    """Reads the quotas that REST framework's own throttles keep of a view's request.

    A subclass of one with the same cache key and rate, in a cache outside the database, counts
    as REST framework's own.
    """

    def get_rate_limit(self, status: int, headers: Mapping[str, str]) -> RateLimit | None:
        has_quotas = bool(self.view.throttle_classes)
        tightest = contain(self.get_tightest_quota, self.tell_nothing) if has_quotas else None
        seconds = headers.get("Retry-After", "") if status == 429 else ""
        if not seconds.isdigit():
            return tightest
        return replace(tightest or RateLimit(), retry_after=int(seconds))

    def tell_nothing(self, exc: Exception) -> None:
        # The call was made, and its answer is worth more than what is left.
        logger.warning("The quota of a caller could not be read: %s", exc)

    def get_tightest_quota(self) -> RateLimit | None:
        # A view that chooses its throttles itself may ask a database which.
        if type(self.view).get_throttles is not APIView.get_throttles:
            return None
        throttles = [made() for made in self.view.throttle_classes if asks_no_database(made)]
        return self.get_tightest(quota for throttle in throttles for quota in self.find(throttle))


def asks_no_database(throttle: type) -> bool:
    # REST framework's own rate and key come from settings, its history from a cache.
    steps = (getattr(throttle, name, None) for name in ("__init__", "get_rate", "get_cache_key"))
    return all(
        getattr(step, "__module__", "") == SimpleRateThrottle.__module__ for step in steps
    ) and not hasattr(throttle.cache, "cache_model_class")  # type: ignore[attr-defined]
