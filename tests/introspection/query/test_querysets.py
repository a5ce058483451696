"""Filters of views whose queryset needs a caller, a parent or a row."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django.core.checks import run_checks
from django.urls import path
from rest_framework import serializers

from drf_mcp.exposure import registry
from drf_mcp.introspection.types import OpenPlace
from example_project.shop.models import Customer, Order
from tests.introspection.query.loans import NESTED, Orders, OrdersOfCustomer, routes_of

EXPECTED = {"customer__country", "placed_at__gte", "search", "ordering", "page", "page_size"}


def query_of(name):
    return {parameter.name: parameter for parameter in registry.tools()[name].schema.query}


def findings_of(name):
    return registry.tools()[name].schema.findings


def get_lost_filter_warnings():
    """Return the warnings of ``check --deploy`` about filters that could not be described."""
    found = run_checks(tags=["drf_mcp"], include_deployment_checks=True)
    return [message for message in found if message.id == "drf_mcp.W012"]


def orders(**attributes):
    return type("Loans", (Orders,), attributes)


def fail(*args):
    raise AttributeError("request.tenant")


@pytest.fixture
def loans(expose):
    def serve(**attributes):
        expose(routes_of(orders(**attributes)))

    return serve


# --- The queryset needs a caller


def test_a_filter_works_as_over_http(loans, alice, http_of):
    loans()
    by_http = http_of("alice").get("/loans/", {"customer__country": "FR", "page_size": 50}).json()
    by_tool = alice.call("loans_list", customer__country="FR", page_size=50)
    assert by_tool.data["results"] == by_http["results"]
    assert 0 < by_http["count"] < Order.objects.filter(customer__owner__username="alice").count()


@pytest.mark.slow
def test_filters_are_described_although_the_queryset_cannot_be_evaluated(loans, db):
    for get_queryset in [
        lambda self: Order.objects.filter(customer__owner=self.request.user),
        lambda self: Order.objects.filter(customer__in=self.request.user.customers.all()),
        lambda self: Order.objects.filter(number=self.request.auth.order),
        lambda self: Order.objects.filter(number=self.request.query_params["number"]),
        lambda self: Order.objects.filter(number=self.request.session["number"]),
        lambda self: self.request.tenant.orders.all(),
        lambda self: Order.objects.none() if getattr(self, "swagger_fake_view", False) else fail(),
        lambda self: [] if getattr(self, "swagger_fake_view", False) else fail(),
        lambda self: None,
        lambda self: Order.objects.filter(customer=Customer.objects.get(name="nobody")),
        fail,
    ]:
        loans(get_queryset=get_queryset)
        assert set(query_of("loans_list")) == EXPECTED, get_queryset
        # A lambda is no code that can be read.
        found = [each for each in findings_of("loans_list") if not isinstance(each, OpenPlace)]
        assert found == [], get_queryset
        assert get_lost_filter_warnings() == [], get_queryset


# --- The queryset needs the path


def test_a_nested_list_is_filtered_as_over_http(expose, alice, http_of):
    expose(NESTED)
    customer = Customer.objects.filter(orders__isnull=False, owner__username="alice").first()
    order = customer.orders.order_by("placed_at").last()
    since = order.placed_at.isoformat()
    http = http_of("alice").get(f"/customers/{customer.pk}/orders/", {"placed_at__gte": since})
    result = alice.call("customers_orders_list", customer_pk=str(customer.pk), placed_at__gte=since)
    assert [row["id"] for row in result.data["results"]] == [order.pk]
    assert result.data["results"] == http.json()["results"]


def test_placeholders_have_the_type_of_the_path_converter(expose):
    seen = []

    def get_queryset(self):
        seen.append(self.kwargs["customer_pk"])
        return Order.objects.all()

    for pattern, kind in [
        ("<int:customer_pk>", int),
        ("<uuid:customer_pk>", "UUID"),
        ("<slug:customer_pk>", str),
        ("<str:customer_pk>", str),
        ("<path:customer_pk>", str),
    ]:
        seen.clear()
        view = type("Own", (OrdersOfCustomer,), {"get_queryset": get_queryset})
        expose(path(f"c/{pattern}/orders/", view.as_view({"get": "list"})))
        (tool,) = registry.tools().values()
        assert tool.schema.findings == (), pattern
        assert {type(value).__name__ for value in seen} == {getattr(kind, "__name__", kind)}


# --- Filters that need a caller


class Public(django_filters.FilterSet):
    number = django_filters.CharFilter()


class Private(Public):
    email = django_filters.CharFilter("customer__email")


def test_filters_that_depend_on_the_caller_are_a_finding(loans):
    def get_filterset_class(self):
        return Private if self.request.user.is_staff else Public

    loans(filterset_class=property(get_filterset_class))
    assert "number" in query_of("loans_list")
    assert "email" not in query_of("loans_list")
    (finding,) = findings_of("loans_list")
    assert finding.message == "The filters are those of an anonymous caller."
    assert "@mcp_tool(query={...})" in finding.remedy


# --- Filters that cannot be described


class Bare(serializers.Serializer):
    """A serializer without a model."""

    number = serializers.CharField()


def test_check_before_deployment_warns_of_filters_that_cannot_be_described(loans):
    loans(get_queryset=fail, serializer_class=Bare)
    (warning,) = get_lost_filter_warnings()
    assert "loans_list" in warning.msg
    assert "filterset_fields" in warning.msg
    assert "swagger_fake_view" in warning.hint
    assert "customer__country" not in query_of("loans_list")
    assert any("request.tenant" in finding.message for finding in findings_of("loans_list"))
