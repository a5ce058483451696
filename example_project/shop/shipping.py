"""The price of sending a parcel: that of the carrier, or a flat rate of the shop."""

from __future__ import annotations

import json
from decimal import Decimal
from urllib.parse import urlencode
from urllib.request import urlopen

from django.conf import settings

from drf_mcp.interaction.call_context import CallContext

FLAT_RATES = {"DE": Decimal("4.90"), "AT": Decimal("9.90"), "CH": Decimal("14.90")}
ELSEWHERE = Decimal("19.90")
TIMEOUT = 3


class CarrierUnavailable(Exception):
    """The carrier is not set up, does not answer, or sends no price."""


def carrier_price(country: str, quantity: int) -> Decimal:
    """Return the price of the carrier."""
    if not settings.SHOP_CARRIER_URL:
        raise CarrierUnavailable
    query = urlencode({"country": country, "pieces": quantity})
    try:
        # The URL comes from the settings.
        url = f"{settings.SHOP_CARRIER_URL}?{query}"
        with urlopen(url, timeout=TIMEOUT) as response:  # nosec B310
            return Decimal(str(json.load(response)["price"]))
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError) as exc:
        raise CarrierUnavailable from exc


def shipping_price(country: str, quantity: int, notes: CallContext) -> Decimal:
    """Return the price of the carrier, or else the shop's flat rate with a warning."""
    try:
        return carrier_price(country, quantity)
    except CarrierUnavailable:
        notes.warn(
            "The carrier gives no price at the moment; this is the shop's flat rate.",
            code="FALLBACK_USED",
            context={"primary": "carrier", "fallback": "flat_rates"},
        )
        return FLAT_RATES.get(country, ELSEWHERE)
