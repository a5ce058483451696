"""``manage.py seed`` creates the same rows everywhere, and only once."""

from __future__ import annotations

import pytest
from django.core import serializers
from django.core.management import call_command
from rest_framework.authtoken.models import Token

from example_project.shop.models import Customer, Order, OrderLine, Product, Ticket

TABLES = [Product, Customer, Order, OrderLine, Ticket]


def rows() -> dict[str, str]:
    return {model.__name__: serializers.serialize("json", model.objects.all()) for model in TABLES}


def words() -> list[tuple]:
    """Return the values that do not depend on generated keys."""
    lines = OrderLine.objects.order_by("order__number", "product__slug", "quantity")
    return [
        *Product.objects.order_by("sku").values_list("sku", "stock", "tags", "released"),
        *Customer.objects.order_by("email").values_list("email", "owner__username", "joined"),
        *lines.values_list("order__number", "order__customer__email", "product__slug", "quantity"),
        *Ticket.objects.order_by("created").values_list("subject", "customer__email", "created"),
    ]


@pytest.mark.slow
def test_a_second_run_changes_nothing(capsys):
    """It says so, and keeps changes of users."""
    Customer.objects.filter(owner__username="bob").first().tickets.all().delete()
    Product.objects.update(stock=7)
    before, tokens = rows(), set(Token.objects.values_list("key", flat=True))
    call_command("seed")
    assert "nothing changed" in capsys.readouterr().out
    assert rows() == before
    assert set(Token.objects.values_list("key", flat=True)) == tokens


def test_an_emptied_shop_gets_the_same_rows_again():
    before = words()
    for model in reversed(TABLES):
        model.objects.all().delete()
    call_command("seed", verbosity=0)
    assert words() == before


@pytest.mark.slow
def test_there_are_a_few_hundred_valid_rows():
    for model in TABLES:
        for row in model.objects.all():
            row.full_clean()
    assert 300 < sum(model.objects.count() for model in TABLES) < 700
