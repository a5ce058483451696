"""What a number of pieces would cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from drf_mcp.interaction.call_context import CallContext
from example_project.shop.exchange import kept_rate
from example_project.shop.models import Customer
from example_project.shop.shipping import shipping_price

CENT = Decimal("0.01")
DISCOUNTS = {"standard": Decimal("0.00"), "silver": Decimal("0.05"), "gold": Decimal("0.10")}


class Quote:
    """A quote. What is uncertain about its figures becomes a warning of the call."""

    def __init__(self, asked: Mapping[str, Any], notes: CallContext) -> None:
        self.asked = asked
        self.notes = notes
        self.product, self.quantity = asked["product"], asked["quantity"]
        currency = asked.get("currency")
        self.rate = Decimal(1) if currency is None else kept_rate(currency, notes)

    def tier(self) -> str:
        """Return the tier of the customer, or else the tier that was sent."""
        if "tier" in self.asked:
            self.notes.warn(
                "The argument 'tier' will go: a customer's tier is known.",
                code="DEPRECATED_FIELD",
                context={"field": "tier", "replacement": "customer"},
                remediation="Send 'customer', the id of one of your customers, instead of 'tier'.",
            )
        if "customer" in self.asked:
            return self.asked["customer"].tier
        return self.asked.get("tier", Customer.Tier.STANDARD)

    def price(self, euros: Decimal) -> str:
        """Return a price in the currency of the request."""
        return str((euros * self.rate).quantize(CENT))

    def figures(self) -> dict[str, Any]:
        """Return the figures of the quote."""
        subtotal = self.product.price * self.quantity
        discount = (subtotal * DISCOUNTS[self.tier()]).quantize(CENT)
        total = subtotal - discount
        figures = {
            "product": self.product.slug,
            "unit_price": self.price(self.product.price),
            "quantity": self.quantity,
            "discount": self.price(discount),
        }
        if "ship_to" in self.asked:
            shipping = shipping_price(self.asked["ship_to"], self.quantity, self.notes)
            total += shipping
            figures["shipping"] = self.price(shipping)
        return {
            **figures,
            "total": self.price(total),
            "in_stock": self.quantity <= self.product.stock,
        }
