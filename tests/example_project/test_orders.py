"""Orders: nested lines, object permissions, and actions that depend on the status."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from example_project.shop.models import Customer, Order, Product

URL = "/api/orders/"


@pytest.fixture(autouse=True)
def stock(shop) -> None:
    Product.objects.update(stock=10)


def customer_of(username: str) -> Customer:
    return Customer.objects.filter(owner__username=username).first()


def order_of(username: str, status: str) -> Order:
    return Order.objects.filter(customer__owner__username=username, status=status).first()


def new_order(customer: Customer, **fields) -> dict:
    lines = [{"product": "cast-iron-pan", "quantity": 2}, {"product": "card-deck", "quantity": 1}]
    return {"customer": customer.pk, "lines": lines, **fields}


def test_a_new_order_has_a_number_a_status_a_url_and_prices_of_the_catalogue(alice):
    """``pay_now`` is accepted and never shown."""
    data = new_order(customer_of("alice"))
    data["lines"][0]["unit_price"] = "0.01"
    response = alice.post(URL, data)
    assert response.status_code == 201
    order = response.data
    assert [line["unit_price"] for line in order["lines"]] == ["39.90", "7.50"]
    assert order["total"] == "87.30"
    assert order["number"].startswith("S-")
    assert order["status"] == "pending"
    assert order["url"] == f"http://testserver{URL}{order['id']}/"
    paid = alice.post(URL, new_order(customer_of("alice"), pay_now=True)).data
    assert paid["status"] == "paid"
    assert "pay_now" not in paid


def test_a_refused_order_writes_nothing(alice):
    """An order needs lines within the stock and a customer of its user."""
    customer, before = customer_of("alice"), Order.objects.count()
    assert alice.post(URL, new_order(customer, lines=[])).status_code == 400
    assert alice.post(URL, new_order(customer, lines=[{"product": "no-such"}])).status_code == 400
    data = new_order(customer)
    data["lines"][1]["quantity"] = 11
    errors = alice.post(URL, data).data["lines"]
    assert errors[1]["quantity"][0].code == "out_of_stock"
    response = alice.post(URL, new_order(customer_of("bob")))
    assert response.data["customer"][0].code == "does_not_exist"
    assert Order.objects.count() == before


def test_only_a_pending_order_can_be_changed(alice):
    """New lines replace the old ones; a change of the note keeps them."""
    order = order_of("alice", "pending")
    response = alice.patch(f"{URL}{order.pk}/", {"note": "Ring twice."})
    assert response.data["note"] == "Ring twice."
    assert len(response.data["lines"]) == order.lines.count()
    lines = [{"product": "desk-lamp", "quantity": 1}]
    response = alice.patch(f"{URL}{order.pk}/", {"lines": lines})
    assert [line["product"] for line in response.data["lines"]] == ["desk-lamp"]
    shipped = order_of("alice", "shipped")
    assert alice.patch(f"{URL}{shipped.pk}/", {"note": ""}).status_code == 409


def test_an_order_of_another_user_is_forbidden(alice):
    order = order_of("bob", "paid")
    for method in ("get", "put", "patch", "delete"):
        assert getattr(alice, method)(f"{URL}{order.pk}/").status_code == 403
    for action in ("refund", "cancel"):
        assert alice.post(f"{URL}{order.pk}/{action}/", {"reason": "late"}).status_code == 403
    order.refresh_from_db()
    assert order.status == "paid"


def test_model_permissions_let_staff_view_and_change_but_not_delete(carol, http_of):
    """A superuser may delete any order."""
    url = f"{URL}{order_of('bob', 'pending').pk}/"
    assert carol.get(url).status_code == 200
    assert carol.patch(url, {"note": "Seen."}).status_code == 200
    assert carol.delete(url).status_code == 403
    assert http_of("admin").delete(url).status_code == 204


def test_a_refund_is_the_whole_total_by_default(alice):
    """A second one is a conflict."""
    for status in ("paid", "shipped"):
        url = f"{URL}{order_of('alice', status).pk}/refund/"
        response = alice.post(url, {"reason": "damaged"})
        assert response.status_code == 200
        assert response.data["status"] == "refunded"
        assert response.data["refunded_amount"] == response.data["total"]
    response = alice.post(url, {"reason": "late"})
    assert response.status_code == 409
    assert response.data["detail"].code == "conflict"


def test_a_refund_may_be_less_but_not_more_than_the_total(alice):
    """It needs a reason."""
    order = order_of("alice", "shipped")
    url, amount = f"{URL}{order.pk}/refund/", order.total + Decimal("0.01")
    assert alice.post(url).data["reason"][0].code == "required"
    response = alice.post(url, {"reason": "late", "amount": str(amount)})
    assert response.status_code == 400
    assert response.data["amount"][0].code == "max_value"
    response = alice.post(url, {"reason": "late", "amount": "1.50"})
    assert response.data["refunded_amount"] == "1.50"


def test_a_cancelled_order_can_be_reopened(alice):
    """An order that was shipped cannot be cancelled."""
    for status in ("pending", "paid"):
        order = order_of("alice", status)
        assert alice.post(f"{URL}{order.pk}/cancel/").data["status"] == "cancelled"
        assert alice.post(f"{URL}{order.pk}/reopen/").data["status"] == status
        assert alice.post(f"{URL}{order.pk}/reopen/").status_code == 409
    assert alice.post(f"{URL}{order_of('alice', 'shipped').pk}/cancel/").status_code == 409


def test_an_export_has_the_orders_of_the_list(alice):
    export = alice.get(f"{URL}export/", {"status": "paid"}).data
    rows = list(csv.DictReader(io.StringIO(export["csv"])))
    listed = alice.get(URL, {"status": "paid", "page_size": 100}).data["results"]
    assert [row["number"] for row in rows] == [row["number"] for row in listed]
    assert export["orders"] == len(rows) > 0
    assert [row["total"] for row in rows] == [row["total"] for row in listed]
