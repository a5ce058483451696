"""Requests to every endpoint of the shop and its library, over HTTP and as tool calls.

Rows are named in braces: ``{paid}`` is the key of one of alice's paid orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from example_project.shop.models import Customer, Order, Product, Ticket

LINES = [{"product": "{product}", "quantity": 2}, {"product": "{other_product}", "quantity": 1}]
NEW_CUSTOMER = {"name": "Ada Núñez", "email": "ada@mail.example", "country": "ES", "tier": "gold"}
TICKET = {"customer": "{customer}", "subject": "Ünwell", "body": "It broke.", "priority": 4}
QUESTION = {"question": "What is a lambda?"}


@dataclass(frozen=True)
class ShopRequest:
    """One request.

    Attributes:
        tool: the name of the tool that makes the same request.
        arguments: the arguments of the tool.
        method: the HTTP method.
        path: the path and the query.
        body: the JSON body, or None.
    """

    tool: str
    arguments: dict[str, Any]
    method: str
    path: str
    body: Any = None

    def __str__(self) -> str:
        return f"{self.tool}-{'-'.join(self.arguments) or 'bare'}-{self.method}-{self.path}"

    def about(self, rows: dict[str, Any]) -> ShopRequest:
        """Return the request with keys in place of the names of rows."""
        return ShopRequest(
            self.tool,
            fill_in(self.arguments, rows),
            self.method,
            fill_in(self.path, rows),
            fill_in(self.body, rows),
        )


def fill_in(value: Any, rows: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: fill_in(member, rows) for key, member in value.items()}
    if isinstance(value, list):
        return [fill_in(item, rows) for item in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    return rows[value[1:-1]] if value[1:-1] in rows else value.format(**rows)


def rows_of_alice() -> dict[str, Any]:
    customers = Customer.objects.filter(owner__username="alice")
    orders = Order.objects.filter(customer__in=customers)
    stocked = Product.objects.filter(stock__gte=2)
    return {
        "customer": customers.filter(orders__isnull=False).first().pk,
        "customer_without_orders": customers.filter(orders=None).first().pk,
        "pending": orders.filter(status="pending").first().pk,
        "paid": orders.filter(status="paid").first().pk,
        "cancelled": orders.filter(status="cancelled").first().pk,
        "shipped": orders.filter(status="shipped").first().pk,
        "customer_of_paid": orders.filter(status="paid").first().customer_id,
        "ticket": Ticket.objects.filter(opened_by__username="alice").first().pk,
        "product": stocked[0].slug,
        "other_product": stocked[1].slug,
    }


def request(tool: str, arguments: dict, method: str, path: str, body: Any = None) -> ShopRequest:
    return ShopRequest(tool, arguments, method, f"/api/{path}", body)


REQUESTS = [
    request("customers_list", {}, "GET", "customers/"),
    request("customers_list", {"page": 2, "page_size": 7}, "GET", "customers/?page=2&page_size=7"),
    request("customers_list", {"page": 99}, "GET", "customers/?page=99"),
    request(
        "customers_list",
        {"tier": ["gold", "silver"], "country": "DE,FR", "ordering": "-joined"},
        "GET",
        "customers/?tier=gold&tier=silver&country=DE%2CFR&ordering=-joined",
    ),
    request("customers_list", {"has_orders": True}, "GET", "customers/?has_orders=true"),
    request("customers_list", {"search": "Björn"}, "GET", "customers/?search=Bj%C3%B6rn"),
    request("customers_list", {"tier": ["tin"]}, "GET", "customers/?tier=tin"),
    request("customers_create", NEW_CUSTOMER, "POST", "customers/", NEW_CUSTOMER),
    request("customers_create", {"tier": "tin"}, "POST", "customers/", {"tier": "tin"}),
    request("customers_retrieve", {"id": "{customer}"}, "GET", "customers/{customer}/"),
    request("customers_retrieve", {"id": "none"}, "GET", "customers/none/"),
    request(
        "customers_update",
        {"id": "{customer}", **NEW_CUSTOMER},
        "PUT",
        "customers/{customer}/",
        NEW_CUSTOMER,
    ),
    request("customers_update", {"id": "{customer}"}, "PUT", "customers/{customer}/", {}),
    request(
        "customers_partial_update",
        {"id": "{customer}", "country": "xx"},
        "PATCH",
        "customers/{customer}/",
        {"country": "xx"},
    ),
    request(
        "customers_partial_update",
        {"id": "{customer}", "country": "IT"},
        "PATCH",
        "customers/{customer}/",
        {"country": "IT"},
    ),
    request("customers_destroy", {"id": "{customer}"}, "DELETE", "customers/{customer}/"),
    request(
        "customers_destroy",
        {"id": "{customer_without_orders}"},
        "DELETE",
        "customers/{customer_without_orders}/",
    ),
    request(
        "customers_deactivate", {"id": "{customer}"}, "POST", "customers/{customer}/deactivate/"
    ),
    request("customers_summary", {"id": "{customer}"}, "GET", "customers/{customer}/summary/"),
    request("products_list", {}, "GET", "products/"),
    request("products_list", {"limit": 3, "offset": 5}, "GET", "products/?limit=3&offset=5"),
    request(
        "products_list",
        {"category": ["books"], "price__lte": "20.00", "in_stock": False},
        "GET",
        "products/?category=books&price__lte=20.00&in_stock=false",
    ),
    request("products_retrieve", {"slug": "{product}"}, "GET", "products/{product}/"),
    request("products_retrieve", {"slug": "no-such"}, "GET", "products/no-such/"),
    request(
        "products_partial_update",
        {"slug": "{product}", "price": "12.50"},
        "PATCH",
        "products/{product}/",
        {"price": "12.50"},
    ),
    request(
        "products_lookup",
        {"slugs": ["{product}", "{other_product}"]},
        "POST",
        "products/lookup/",
        {"slugs": ["{product}", "{other_product}"]},
    ),
    request("products_lookup", {"slugs": []}, "POST", "products/lookup/", {"slugs": []}),
    request("orders_export", {"status": ["paid"]}, "GET", "orders/export/?status=paid"),
    request("orders_list", {}, "GET", "orders/"),
    request(
        "orders_list",
        {"status": ["paid"], "page_size": 4},
        "GET",
        "orders/?status=paid&page_size=4",
    ),
    request(
        "orders_list",
        {"placed_after": "2026-06-01T00:00:00Z", "customer": "{customer}"},
        "GET",
        "orders/?placed_after=2026-06-01T00%3A00%3A00Z&customer={customer}",
    ),
    request(
        "orders_create",
        {"customer": "{customer}", "lines": LINES, "pay_now": True},
        "POST",
        "orders/",
        {"customer": "{customer}", "lines": LINES, "pay_now": True},
    ),
    request(
        "orders_create",
        {"customer": "{customer}", "lines": [{"product": "{product}", "quantity": 101}]},
        "POST",
        "orders/",
        {"customer": "{customer}", "lines": [{"product": "{product}", "quantity": 101}]},
    ),
    request("orders_retrieve", {"id": "{paid}"}, "GET", "orders/{paid}/"),
    request("orders_retrieve", {"id": 10**9}, "GET", "orders/1000000000/"),
    request(
        "orders_update",
        {"id": "{pending}", "customer": "{customer}", "lines": LINES, "note": "Ring."},
        "PUT",
        "orders/{pending}/",
        {"customer": "{customer}", "lines": LINES, "note": "Ring."},
    ),
    request(
        "orders_partial_update",
        {"id": "{paid}", "note": ""},
        "PATCH",
        "orders/{paid}/",
        {"note": ""},
    ),
    request(
        "orders_partial_update",
        {"id": "{pending}", "lines": LINES},
        "PATCH",
        "orders/{pending}/",
        {"lines": LINES},
    ),
    request("orders_destroy", {"id": "{pending}"}, "DELETE", "orders/{pending}/"),
    request("orders_destroy", {"id": "{shipped}"}, "DELETE", "orders/{shipped}/"),
    request("orders_cancel", {"id": "{paid}"}, "POST", "orders/{paid}/cancel/"),
    request("orders_cancel", {"id": "{shipped}"}, "POST", "orders/{shipped}/cancel/"),
    request("orders_reopen", {"id": "{cancelled}"}, "POST", "orders/{cancelled}/reopen/"),
    request("orders_reopen", {"id": "{shipped}"}, "POST", "orders/{shipped}/reopen/"),
    request("orders_reorder", {"id": "{paid}"}, "POST", "orders/{paid}/reorder/"),
    request(
        "orders_refund",
        {"id": "{paid}", "reason": "late", "amount": "1.50"},
        "POST",
        "orders/{paid}/refund/",
        {"reason": "late", "amount": "1.50"},
    ),
    request("orders_refund", {"id": "{paid}"}, "POST", "orders/{paid}/refund/", {}),
    request(
        "customers_orders_list",
        {"customer_pk": "{customer}", "page_size": 1},
        "GET",
        "customers/{customer}/orders/?page_size=1",
    ),
    request(
        "customers_orders_create",
        {"customer_pk": "{customer}", "lines": LINES},
        "POST",
        "customers/{customer}/orders/",
        {"lines": LINES},
    ),
    request(
        "customers_orders_retrieve",
        {"customer_pk": "{customer_of_paid}", "id": "{paid}"},
        "GET",
        "customers/{customer_of_paid}/orders/{paid}/",
    ),
    request("tickets_list", {}, "GET", "tickets/"),
    request(
        "tickets_list",
        {"priority__gte": 3, "search": "the", "page_size": 2},
        "GET",
        "tickets/?priority__gte=3&search=the&page_size=2",
    ),
    request("tickets_create", TICKET, "POST", "tickets/", TICKET),
    request("tickets_create", {"priority": 9}, "POST", "tickets/", {"priority": 9}),
    request("tickets_retrieve", {"ids": ["{ticket}"]}, "GET", "tickets/{ticket}/"),
    request("tickets_update", {"id": "{ticket}", **TICKET}, "PUT", "tickets/{ticket}/", TICKET),
    request(
        "tickets_partial_update",
        {"id": "{ticket}", "status": "closed"},
        "PATCH",
        "tickets/{ticket}/",
        {"status": "closed"},
    ),
    request("tickets_destroy", {"id": "{ticket}"}, "DELETE", "tickets/{ticket}/"),
    request("stats", {}, "GET", "stats/"),
    request(
        "quote",
        {"product": "{product}", "quantity": 3, "tier": "gold"},
        "POST",
        "quote/",
        {"product": "{product}", "quantity": 3, "tier": "gold"},
    ),
    request(
        "quote",
        {"product": "desk-lamp", "customer": "{customer}", "currency": "USD", "ship_to": "DE"},
        "POST",
        "quote/",
        {"product": "desk-lamp", "customer": "{customer}", "currency": "USD", "ship_to": "DE"},
    ),
    request("quote", {"product": "no-such"}, "POST", "quote/", {"product": "no-such"}),
    request("status", {"version": "v1"}, "GET", "v1/status/"),
    request("status", {"version": "v2"}, "GET", "v2/status/"),
    *(
        request(tool, QUESTION, "POST", f"library/{tool}/", QUESTION)
        for tool in (
            "naive_retriever",
            "bm25_retriever",
            "contextual_compression_retriever",
            "multi_query_retriever",
            "ensemble_retriever",
            "semantic_retriever",
        )
    ),
    request("health_check_health_get", {}, "GET", "library/health/"),
    request("cache_stats_cache_stats_get", {}, "GET", "library/cache_stats/"),
    request(
        "documents_list",
        {"search": "generator", "page_size": 2},
        "GET",
        "library/documents/?search=generator&page_size=2",
    ),
    request(
        "documents_texts",
        {"search": "ellipsis", "page_size": 1},
        "GET",
        "library/documents/texts/?search=ellipsis&page_size=1",
    ),
    request("documents_retrieve", {"name": "lambda"}, "GET", "library/documents/lambda/"),
    request("documents_retrieve", {"name": "no-such"}, "GET", "library/documents/no-such/"),
]
