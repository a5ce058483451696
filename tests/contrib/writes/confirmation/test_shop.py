"""The tools of the shop that need a confirmation, and their previews."""

from __future__ import annotations

import pytest

from drf_mcp.tools import registry
from example_project.shop.models import Customer, Order, Ticket

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


def test_the_preview_of_a_customer_names_their_tickets(alice):
    customer = Customer.objects.filter(orders=None, owner__username="alice").first()
    Ticket.objects.create(customer=customer, opened_by=customer.owner, subject="Late", body="?")
    first = alice.call("customers_destroy", pk=customer.pk)
    assert first.data["preview"]["object"] == f'customer {customer.pk}, name "{customer.name}"'
    assert first.data["preview"]["deleted"][0]["model"] == "tickets"
    assert alice.call("customers_destroy", **first.data["next"]).envelope["success"]
    assert not Customer.objects.filter(pk=customer.pk).exists()


def test_a_call_that_the_view_refuses_needs_no_confirmation(alice):
    """A customer with orders, and a refund with an unknown reason."""
    order = order_of("alice", "paid")
    result = alice.call("customers_destroy", pk=order.customer_id)
    assert result.is_error
    assert "Deactivate" in result.envelope["error"]
    result = alice.call("orders_refund", pk=order.pk, reason="no such")
    assert result.is_error
    assert result.problems[0]["pointer"] == "/reason"


def test_a_refund_and_a_cancellation_have_their_own_previews(alice):
    order = order_of("alice", "paid")
    first = alice.call("orders_refund", pk=order.pk, reason="late", amount="1.00")
    sentence = f"{order.customer} gets 1.00 of {order.total} back."
    assert first.data["preview"]["preview"] == sentence
    result = alice.call("orders_refund", **first.data["next"])
    assert result.data["refunded_amount"] == "1.00"
    order = order_of("alice", "pending")
    first = alice.call("orders_cancel", pk=order.pk)
    assert str(order.lines.first()) in first.data["preview"]["preview"]
    assert alice.call("orders_cancel", **first.data["next"]).data["status"] == "cancelled"
