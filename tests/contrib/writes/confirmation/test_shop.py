"""The tools of the shop that need a confirmation, and what they show."""

from __future__ import annotations

import pytest

from drf_mcp.tools import registry
from example_project.shop.models import Customer, Order

pytestmark = pytest.mark.django_db
DESTROYING = {"customers_destroy", "orders_destroy", "tickets_destroy"}


@pytest.fixture(autouse=True)
def asking(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "CONFIRM": True}
    registry.reload()


def order_of(username: str, status: str) -> Order:
    return Order.objects.filter(customer__owner__username=username, status=status).first()


@pytest.mark.slow
def test_destructive_tools_and_two_actions_need_a_confirmation(carol):
    tools = carol.tools()
    asking = {n for n, t in tools.items() if "confirmation" in t["inputSchema"]["properties"]}
    assert asking == {*DESTROYING, "orders_cancel", "orders_refund"}
    key = "anthropic/requiresUserInteraction"
    assert asking == {n for n, t in tools.items() if t.get("_meta", {}).get(key)}


def test_the_confirmation_of_a_customer_shows_the_customer(alice):
    customer = Customer.objects.filter(orders=None, owner__username="alice").first()
    first = alice.call("customers_destroy", pk=customer.pk)
    assert first.data["preview"]["shown"]["name"] == customer.name
    assert "what depends on it goes too" in first.envelope["error"]
    assert alice.call("customers_destroy", **first.data["next"]).envelope["success"]
    assert not Customer.objects.filter(pk=customer.pk).exists()


def test_what_the_view_refuses_is_said_when_the_call_is_made(alice):
    order = order_of("alice", "paid")
    asked = alice.call("orders_refund", pk=order.pk, reason="no such")
    assert "may still be refused" in asked.envelope["error"]
    result = alice.call("orders_refund", **asked.data["next"])
    assert result.is_error
    assert result.problems[0]["pointer"] == "/reason"
