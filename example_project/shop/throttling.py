"""How often something may be done."""

from __future__ import annotations

from rest_framework.throttling import ScopedRateThrottle


class ShopThrottle(ScopedRateThrottle):
    """The rate of the view's ``throttle_scope``."""

    THROTTLE_RATES = {"open-ticket": "20/hour"}
