"""The calls of agents that a person has to approve."""

from __future__ import annotations

from drf_mcp.contrib.rules import RuleCall, Ruling, rule


@rule("orders_refund")
def large_refunds(call: RuleCall) -> Ruling | None:
    """Refunds above 500 are approved first."""
    if call.arguments.get("amount", call.object.total) > 500:
        return Ruling.ask("Refunds above 500 are approved first.")
    return None
