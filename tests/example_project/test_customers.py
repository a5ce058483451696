"""Customers: visibility by owner, filters, and an action for staff."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from example_project.shop.models import Customer, Product

URL = "/api/customers/"


@pytest.fixture
def of_alice() -> Customer:
    return Customer.objects.filter(owner__username="alice", orders__isnull=False).first()


@pytest.fixture
def of_bob() -> Customer:
    return Customer.objects.filter(owner__username="bob").first()


def new_customer(**fields) -> dict:
    return {"name": "Ada", "email": "ada@mail.example", "country": "SE", **fields}


def test_the_api_needs_a_token():
    response = APIClient().get(URL)
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Token")


def test_users_see_their_own_customers_and_staff_all(alice, carol, of_bob):
    response = alice.get(URL, {"page_size": 100})
    assert {row["owned_by"] for row in response.data["results"]} == {"alice"}
    assert response.data["count"] == Customer.objects.filter(owner__username="alice").count()
    assert carol.get(URL).data["count"] == Customer.objects.count()
    assert alice.get(f"{URL}{of_bob.pk}/").status_code == 404
    assert alice.get(f"{URL}{of_bob.pk}/orders/").status_code == 404


def test_a_new_customer_belongs_to_the_user(alice):
    response = alice.post(URL, new_customer(owner=1, owned_by="bob"))
    assert response.status_code == 201
    assert response.data["owned_by"] == "alice"


def test_an_address_is_unique_among_the_owners_customers(alice, bob, of_alice):
    """Customers of two owners may have the same address. A country is two capital letters."""
    response = alice.post(URL, new_customer(email=of_alice.email))
    assert response.status_code == 400
    assert response.data["non_field_errors"][0].code == "unique"
    assert bob.post(URL, new_customer(email=of_alice.email)).status_code == 201
    assert set(alice.post(URL, new_customer(country="se")).data) == {"country"}


def test_only_staff_deactivate(alice, carol, of_alice):
    url = f"{URL}{of_alice.pk}/deactivate/"
    assert alice.post(url).status_code == 403
    assert carol.post(url).data["is_active"] is False


def test_only_a_customer_without_orders_is_deleted(alice, of_alice):
    assert alice.delete(f"{URL}{of_alice.pk}/").status_code == 409
    assert Customer.objects.filter(pk=of_alice.pk).exists()
    pk = alice.post(URL, new_customer()).data["id"]
    assert alice.delete(f"{URL}{pk}/").status_code == 204


def test_summary_counts_orders_and_money(alice, of_alice):
    summary = alice.get(f"{URL}{of_alice.pk}/summary/").data
    orders = of_alice.orders.all()
    standing = orders.exclude(status__in=["cancelled", "refunded"])
    assert summary["orders"] == len(orders)
    assert summary["spent"] == f"{sum(order.total for order in standing):.2f}"


@pytest.mark.slow
def test_the_path_sets_the_customer_of_a_new_order(alice, of_alice):
    Product.objects.update(stock=5)
    other = Customer.objects.exclude(pk=of_alice.pk).first()
    data = {"customer": other.pk, "lines": [{"product": "bread-knife", "quantity": 1}]}
    response = alice.post(f"{URL}{of_alice.pk}/orders/", data)
    assert response.status_code == 201
    assert response.data["customer"] == of_alice.pk
