"""RequestContext rates, which a nightly job of the shop's would fetch from the bank and keep."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from drf_mcp.interaction.call_context import CallContext
from example_project.shop.models import ExchangeRate

MAX_AGE = timedelta(days=1)


def kept_rate(rate: ExchangeRate, notes: CallContext) -> Decimal:
    """The rate; one that nobody has renewed for long is told of."""
    age = timezone.now() - rate.fetched_at
    if age > MAX_AGE:
        notes.warn(
            f"The exchange rate of {rate.currency} is {age.days} days old.",
            code="STALE_CACHE",
            context={
                "cache_age_seconds": int(age.total_seconds()),
                "max_freshness_seconds": int(MAX_AGE.total_seconds()),
            },
        )
    return rate.rate
