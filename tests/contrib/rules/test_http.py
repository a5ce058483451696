"""Plain HTTP requests follow rules only where a view has the permission ``FollowsRules``."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.rules import Ruling, rule
from drf_mcp.contrib.rules.ruling import FollowsRules
from example_project.shop.permissions import IsOwnerOrPermitted
from example_project.shop.views import OrderViewSet


@pytest.fixture
def refund(http_of, order):
    def refund(**sent):
        path = f"/api/orders/{order.pk}/refund/"
        return http_of("alice").post(path, {"reason": "late", **sent}, format="json")

    return refund


@pytest.fixture
def follows_rules(monkeypatch):
    classes = [IsOwnerOrPermitted, FollowsRules]
    monkeypatch.setattr(OrderViewSet, "permission_classes", classes)


@pytest.mark.parametrize("verdict", ["refuse", "approve"])
def test_a_view_without_the_permission_follows_no_rule(save_rule, refund, verdict):
    save_rule("*", verdict)
    assert refund(amount="6").status_code == 200


def test_a_view_with_the_permission_follows_rules(save_rule, refund, follows_rules):
    save_rule("orders_refund", when=("amount", "greater", "5"), reason="Too much.")
    response = refund(amount="6")
    assert (response.status_code, response.json()["detail"]) == (403, "Too much.")
    assert refund(amount=" 6e0 ").status_code == 403
    assert refund().status_code == 403
    assert refund(amount="5").status_code == 200


def test_a_rule_about_the_object(refund, follows_rules):
    rule("orders_refund")(lambda call: Ruling.refuse("No.") if call.object.pk else None)
    assert refund(amount="5").status_code == 403


def test_a_request_that_needs_an_approval_is_refused(save_rule, refund, follows_rules):
    save_rule("orders_refund", "approve", reason="Refunds are approved.")
    assert "Refunds are approved." in refund(amount="5").json()["detail"]


def test_a_missing_object_is_not_found(http_of, follows_rules):
    rule("orders_refund")(lambda call: call.object and None)
    response = http_of("alice").post("/api/orders/0/refund/", {"reason": "late"})
    assert response.status_code == 404


def test_a_call_of_a_tool_follows_its_rules_once(save_rule, alice, order, follows_rules):
    save_rule("orders_refund", "approve")
    assert alice.call("orders_refund", id=order.pk, reason="late").code == "APPROVAL_REQUIRED"
