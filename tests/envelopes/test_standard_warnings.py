"""Each standard warning, from a situation in the shop."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.utils import timezone

from example_project.shop.models import Customer, ExchangeRate, Order, Product

pytestmark = pytest.mark.django_db


def find_warning(result: Any, code: str) -> dict[str, Any] | None:
    details = result.envelope["meta"].get("warning_details", [])
    return next((detail for detail in details if detail["code"] == code), None)


def test_an_old_exchange_rate_is_a_stale_cache(alice):
    ExchangeRate.objects.update(fetched_at=timezone.now() - timedelta(days=3, hours=1))
    result = alice.call("quote", product="desk-lamp", currency="USD")
    warning = find_warning(result, "STALE_CACHE")
    assert (warning["severity"], warning["message"]) == (
        "warning",
        "The exchange rate of USD is 3 days old.",
    )
    assert warning["context"]["max_freshness_seconds"] == 86_400
    assert 262_800 <= warning["context"]["cache_age_seconds"] < 262_900
    assert result.data["unit_price"] == "86.06"


class Carrier(BaseHTTPRequestHandler):
    """Answers with prices, or with the server's `answer`."""

    answer = b'{"price": "3.33"}'

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def carrier(settings) -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), Carrier) as server:
        server.answer = Carrier.answer
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        settings.SHOP_CARRIER_URL = f"http://127.0.0.1:{server.server_port}/"
        yield server
        server.shutdown()
        thread.join()


def test_without_a_carrier_the_flat_rate_is_a_fallback(alice, carrier, settings):
    """A carrier that answers is used, but not one without a price."""
    result = alice.call("quote", product="desk-lamp", ship_to="DE")
    assert find_warning(result, "FALLBACK_USED") is None
    assert result.data["shipping"] == "3.33"
    for carrier.answer in (b"<html>", b"{}", b"[]", json.dumps({"price": "-"}).encode()):
        result = alice.call("quote", product="desk-lamp", ship_to="FR")
        assert find_warning(result, "FALLBACK_USED")
        assert result.data["shipping"] == "19.90"
    settings.SHOP_CARRIER_URL = None
    result = alice.call("quote", product="desk-lamp", ship_to="DE")
    warning = find_warning(result, "FALLBACK_USED")
    assert (warning["severity"], warning["context"]) == (
        "info",
        {"primary": "carrier", "fallback": "flat_rates"},
    )
    assert (result.data["shipping"], result.data["total"]) == ("4.90", "78.90")


def test_the_old_argument_is_a_deprecated_field(alice):
    result = alice.call("quote", product="desk-lamp", tier="gold")
    warning = find_warning(result, "DEPRECATED_FIELD")
    assert (warning["severity"], warning["context"]) == (
        "info",
        {"field": "tier", "replacement": "customer"},
    )
    assert result.data["discount"] == "7.40"


@pytest.fixture
def order(db) -> Order:
    customer = Customer.objects.filter(owner__username="alice").first()
    order = Order.objects.create(customer=customer)
    for product in Product.objects.all()[:3]:
        Product.objects.filter(pk=product.pk).update(stock=5)
        order.lines.create(product=product, quantity=2, unit_price=1)
    return order


def test_lines_that_cannot_be_ordered_again_are_a_partial_failure(alice, order):
    products = [line.product for line in order.lines.all()]
    Product.objects.filter(pk=products[1].pk).update(stock=1)
    result = alice.call("orders_reorder", pk=order.pk)
    warning = find_warning(result, "PARTIAL_FAILURE")
    assert warning["severity"] == "warning"
    assert warning["message"] == "1 of 3 lines are not in stock and were left out."
    assert warning["context"] == {
        "failed_lines": [products[1].slug],
        "successful_lines": 2,
        "total_lines": 3,
    }
    lines = Order.objects.get(pk=result.data["id"]).lines.all()
    assert [line.product for line in lines] == [products[0], products[2]]
    assert [line.unit_price for line in lines] == [products[0].price, products[2].price]


def test_an_order_that_can_be_repeated_completely_has_no_warning(alice, order):
    result = alice.call("orders_reorder", pk=order.pk)
    assert "warnings" not in result.envelope["meta"]
    assert (result.data["status"], len(result.data["lines"])) == ("pending", 3)


@pytest.mark.slow
def test_a_low_ticket_quota_is_an_approaching_rate_limit(alice):
    customer = Customer.objects.filter(owner__username="alice").first()
    arguments = {"customer": customer.pk, "subject": "Late", "body": "Where is it?"}
    results = [alice.call("tickets_create", **arguments) for _ in range(18)]
    warned = [find_warning(result, "RATE_LIMIT_APPROACHING") for result in results]
    assert warned[:17] == [None] * 17
    assert warned[17]["context"]["remaining"] == 2
    limit = results[17].envelope["meta"]["rate_limit"]
    assert (limit["limit"], limit["period"]) == (20, "hour")
    assert limit["reset_at"] == warned[17]["context"]["reset_at"]
