"""Exchange rates, which a nightly job of a real shop would fetch from the bank."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from drf_mcp.interaction.call_context import CallContext
from example_project.shop.models import ExchangeRate

MAX_AGE = timedelta(days=1)


def kept_rate(rate: ExchangeRate, notes: CallContext) -> Decimal:
    """Return the rate, with a warning if it is older than a day."""
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
