"""Products, quotes, statistics and the versioned status."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from example_project.shop.models import Customer, Order, Product

URL = "/api/products/"


def test_the_catalogue_is_public_and_read_only(carol):
    assert APIClient().get(URL).data["count"] == Product.objects.count()
    assert APIClient().get(f"{URL}cast-iron-pan/").data["name"] == "Cast Iron Pan"
    assert carol.post(URL, {"name": "Spoon"}).status_code == 405


def test_a_missing_product_of_a_lookup_is_null_with_a_message(alice):
    response = alice.post(f"{URL}lookup/", {"slugs": ["no-such", "bread-knife"]})
    assert response.status_code == 200
    missed, found = response.json()["data"]["products"]
    assert (missed, found["slug"]) == (None, "bread-knife")
    assert response.json()["slugs"] == {"0": "Product 'no-such' not found."}


def test_a_quote_applies_the_discount_of_the_tier(alice):
    """A quantity of zero is refused."""
    totals = {"standard": "399.00", "silver": "379.05", "gold": "359.10"}
    asked = {"product": "cast-iron-pan", "quantity": 10}
    found = {tier: alice.post("/api/quote/", {**asked, "tier": tier}).data for tier in totals}
    assert {tier: quote["total"] for tier, quote in found.items()} == totals
    response = alice.post("/api/quote/", {"product": "no-such", "quantity": 0})
    assert set(response.data) == {"product", "quantity"}


def test_statistics_count_the_rows_that_the_user_may_see(alice, carol):
    """The statistics of staff cover the whole shop."""
    stats = alice.get("/api/stats/").data
    owned = Order.objects.filter(customer__owner__username="alice")
    standing = owned.exclude(status__in=["cancelled", "refunded"])
    assert stats["customers"] == Customer.objects.filter(owner__username="alice").count()
    assert sum(stats["orders"].values()) == owned.count()
    assert stats["revenue"] == f"{sum(order.total for order in standing):.2f}"
    assert sum(carol.get("/api/stats/").data["orders"].values()) == Order.objects.count()


def prices() -> dict[str, str]:
    return {product.slug: str(product.price) for product in Product.objects.all()}


def test_staff_change_all_prices_of_a_request_or_none(agent_of):
    agent, before = agent_of("carol"), prices()
    first, second = sorted(before)[:2]
    sent = [{"slug": first, "price": "9.50"}, {"slug": second, "price": "-1"}]
    refused = agent.call("products_partial_update", items=sent)
    assert refused.problems[0]["pointer"] == "/items/1/price"
    assert prices() == before
    sent[1]["price"] = "12.00"
    assert not agent.call("products_partial_update", items=sent).is_error
    assert prices() == {**before, first: "9.50", second: "12.00"}


@pytest.mark.slow
def test_only_staff_change_prices(agent_of):
    agent = agent_of("alice")
    assert "products_partial_update" not in agent.tools()
    assert agent.call("products_partial_update", slug="x", price="1").code == "FORBIDDEN"
