"""The throttle of tickets."""

from __future__ import annotations

from rest_framework.throttling import ScopedRateThrottle


class OpeningThrottle(ScopedRateThrottle):
    """Limits POST requests alone, by the rate of the view's ``throttle_scope``."""

    THROTTLE_RATES = {"open-ticket": "20/hour"}

    def allow_request(self, request, view) -> bool:
        return request.method != "POST" or super().allow_request(request, view)
