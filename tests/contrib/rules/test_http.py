"""Plain HTTP: untouched by rules, unless a view asks for them."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.rules.ruling import FollowsRules
from example_project.shop.models import Order
from example_project.shop.permissions import IsOwnerOrPermitted
from example_project.shop.views import OrderViewSet


@pytest.fixture
def order(db) -> Order:
    """An order of alice that can be refunded."""
    return Order.objects.filter(customer__owner__username="alice", status="paid")[0]


@pytest.fixture
def refund(http_of, order):
    def refund(**sent):
        path = f"/api/orders/{order.pk}/refund/"
        return http_of("alice").post(path, {"reason": "late", **sent}, format="json")

    return refund


@pytest.fixture
def asks_rules(monkeypatch):
    classes = [IsOwnerOrPermitted, FollowsRules]
    monkeypatch.setattr(OrderViewSet, "permission_classes", classes)


@pytest.mark.parametrize("verdict", ["refuse", "approve"])
def test_http_is_untouched(keep_rule, refund, verdict):
    keep_rule("*", verdict)
    assert refund(amount="6").status_code == 200


def test_a_view_that_asks_for_rules(keep_rule, refund, asks_rules):
    keep_rule("orders_refund", condition="amount > 5", reason="Too much.")
    response = refund(amount="6")
    assert (response.status_code, response.json()["detail"]) == (403, "Too much.")
    assert refund(amount=" 6e0 ").status_code == 403
    assert refund().status_code == 403
    assert refund(amount="5").status_code == 200


def test_a_rule_about_the_object(keep_rule, refund, asks_rules):
    keep_rule("orders_refund", condition='object.customer.owner.username == "alice"')
    assert refund(amount="5").status_code == 403


def test_what_has_to_be_approved_is_refused(keep_rule, refund, asks_rules):
    keep_rule("orders_refund", "approve", reason="Refunds are approved.")
    assert "Refunds are approved." in refund(amount="5").json()["detail"]


def test_an_object_that_is_not_there(keep_rule, http_of, asks_rules):
    keep_rule("orders_refund", condition="object.total > 5")
    response = http_of("alice").post("/api/orders/0/refund/", {"reason": "late"})
    assert response.status_code == 404


def test_agents_are_asked_once(keep_rule, alice, order, asks_rules):
    keep_rule("orders_refund", "approve")
    assert alice.call("orders_refund", id=order.pk, reason="late").code == "APPROVAL_REQUIRED"
