from __future__ import annotations

from rest_framework.throttling import UserRateThrottle


class FourCalls(UserRateThrottle):
    rate = "4/min"
