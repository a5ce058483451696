"""Orders: nested lines, object permissions, actions that the status may forbid."""

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


def test_a_user_lists_only_their_own(alice):
    rows = alice.get(URL, {"page_size": 100}).data["results"]
    owned = Order.objects.filter(customer__owner__username="alice")
    assert {row["id"] for row in rows} == set(owned.values_list("pk", flat=True))


def test_a_cursor_leads_to_every_order(carol):
    ids, url = [], URL
    while url:
        page = carol.get(url).data
        ids += [row["id"] for row in page["results"]]
        url = page["next"]
    assert sorted(ids) == sorted(Order.objects.values_list("pk", flat=True))


def test_prices_come_from_the_catalogue(alice):
    data = new_order(customer_of("alice"))
    data["lines"][0]["unit_price"] = "0.01"
    response = alice.post(URL, data)
    assert response.status_code == 201
    assert [line["unit_price"] for line in response.data["lines"]] == ["39.90", "7.50"]
    assert response.data["total"] == "87.30"


def test_a_new_order_has_a_number_a_status_and_a_url(alice):
    order = alice.post(URL, new_order(customer_of("alice"))).data
    assert order["number"].startswith("S-")
    assert order["status"] == "pending"
    assert order["url"] == f"http://testserver{URL}{order['id']}/"


def test_pay_now_is_taken_and_never_shown(alice):
    order = alice.post(URL, new_order(customer_of("alice"), pay_now=True)).data
    assert order["status"] == "paid"
    assert "pay_now" not in order


def test_an_order_needs_a_line(alice):
    assert alice.post(URL, new_order(customer_of("alice"), lines=[])).status_code == 400


def test_a_line_beyond_the_stock_is_refused_by_its_place(alice):
    data = new_order(customer_of("alice"))
    data["lines"][1]["quantity"] = 11
    errors = alice.post(URL, data).data["lines"]
    assert errors[1]["quantity"][0].code == "out_of_stock"


def test_nobody_orders_for_somebody_elses_customer(alice):
    response = alice.post(URL, new_order(customer_of("bob")))
    assert response.data["customer"][0].code == "does_not_exist"


def test_a_failed_order_leaves_nothing(alice):
    before = Order.objects.count()
    alice.post(URL, new_order(customer_of("alice"), lines=[{"product": "no-such"}]))
    assert Order.objects.count() == before


def test_new_lines_replace_the_old_ones(alice):
    order = order_of("alice", "pending")
    lines = [{"product": "desk-lamp", "quantity": 1}]
    response = alice.patch(f"{URL}{order.pk}/", {"lines": lines})
    assert [line["product"] for line in response.data["lines"]] == ["desk-lamp"]


def test_a_note_is_changed_without_touching_the_lines(alice):
    order = order_of("alice", "pending")
    response = alice.patch(f"{URL}{order.pk}/", {"note": "Ring twice."})
    assert response.data["note"] == "Ring twice."
    assert len(response.data["lines"]) == order.lines.count()


def test_only_a_pending_order_can_be_changed(alice):
    order = order_of("alice", "shipped")
    assert alice.patch(f"{URL}{order.pk}/", {"note": ""}).status_code == 409


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_somebody_elses_order_is_forbidden(alice, method):
    order = order_of("bob", "pending")
    assert getattr(alice, method)(f"{URL}{order.pk}/").status_code == 403


@pytest.mark.parametrize("action", ["refund", "cancel"])
def test_somebody_elses_order_cannot_be_acted_on(alice, action):
    order = order_of("bob", "paid")
    assert alice.post(f"{URL}{order.pk}/{action}/", {"reason": "late"}).status_code == 403
    order.refresh_from_db()
    assert order.status == "paid"


def test_model_permissions_let_staff_view_and_change_but_not_delete(carol):
    url = f"{URL}{order_of('bob', 'pending').pk}/"
    assert carol.get(url).status_code == 200
    assert carol.patch(url, {"note": "Seen."}).status_code == 200
    assert carol.delete(url).status_code == 403


def test_a_superuser_deletes_anybodys_order(http_of):
    order = order_of("bob", "pending")
    assert http_of("admin").delete(f"{URL}{order.pk}/").status_code == 204


@pytest.mark.parametrize("status", ["paid", "shipped"])
def test_a_refund_gives_back_the_whole_total_by_default(alice, status):
    order = order_of("alice", status)
    response = alice.post(f"{URL}{order.pk}/refund/", {"reason": "damaged"})
    assert response.status_code == 200
    assert response.data["status"] == "refunded"
    assert response.data["refunded_amount"] == response.data["total"]


def test_a_refund_may_be_a_part(alice):
    order = order_of("alice", "shipped")
    response = alice.post(f"{URL}{order.pk}/refund/", {"reason": "late", "amount": "1.50"})
    assert response.data["refunded_amount"] == "1.50"


def test_a_refund_cannot_exceed_the_total(alice):
    order = order_of("alice", "shipped")
    amount = order.total + Decimal("0.01")
    response = alice.post(f"{URL}{order.pk}/refund/", {"reason": "late", "amount": str(amount)})
    assert response.status_code == 400
    assert response.data["amount"][0].code == "max_value"


def test_a_refund_needs_a_reason(alice):
    order = order_of("alice", "shipped")
    assert alice.post(f"{URL}{order.pk}/refund/").data["reason"][0].code == "required"


def test_a_second_refund_is_a_conflict(alice):
    url = f"{URL}{order_of('alice', 'shipped').pk}/refund/"
    assert alice.post(url, {"reason": "late"}).status_code == 200
    response = alice.post(url, {"reason": "late"})
    assert response.status_code == 409
    assert response.data["detail"].code == "conflict"


def test_cancel_needs_no_input(alice):
    order = order_of("alice", "paid")
    assert alice.post(f"{URL}{order.pk}/cancel/").data["status"] == "cancelled"


@pytest.mark.parametrize("status", ["pending", "paid"])
def test_a_cancelled_order_is_reopened_as_it_was(alice, status):
    order = order_of("alice", status)
    alice.post(f"{URL}{order.pk}/cancel/")
    assert alice.post(f"{URL}{order.pk}/reopen/").data["status"] == status
    assert alice.post(f"{URL}{order.pk}/reopen/").status_code == 409


def test_a_cancellation_tells_what_takes_it_back(agent_of):
    order = order_of("alice", "paid")
    alice = agent_of("alice")
    undo = alice.call("orders_cancel", pk=order.pk).envelope["meta"]["undo"]
    assert undo == {"tool": "orders_reopen", "arguments": {"id": order.pk}}
    assert alice.call(undo["tool"], **undo["arguments"]).data["status"] == "paid"


def test_a_shipped_order_cannot_be_cancelled(alice):
    order = order_of("alice", "shipped")
    assert alice.post(f"{URL}{order.pk}/cancel/").status_code == 409


def test_filters(carol):
    query = {"status": ["paid", "shipped"], "placed_after": "2026-06-01T00:00:00Z"}
    rows = carol.get(URL, {**query, "page_size": 100}).data["results"]
    assert {row["status"] for row in rows} == {"paid", "shipped"}
    assert min(row["placed_at"] for row in rows) >= "2026-06-01"


def test_an_export_has_the_orders_that_the_list_has(alice):
    export = alice.get(f"{URL}export/", {"status": "paid"}).data
    rows = list(csv.DictReader(io.StringIO(export["csv"])))
    listed = alice.get(URL, {"status": "paid", "page_size": 100}).data["results"]
    assert [row["number"] for row in rows] == [row["number"] for row in listed]
    assert export["orders"] == len(rows) > 0
    assert [row["total"] for row in rows] == [row["total"] for row in listed]
