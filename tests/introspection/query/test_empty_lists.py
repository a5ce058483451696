"""Filters that find nothing: refused if that is certain, else named in a warning."""

from __future__ import annotations

from typing import Any

import django_filters
import pytest
from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics, serializers
from rest_framework.permissions import AllowAny

from drf_mcp.exposure import registry
from example_project.shop.models import Customer, Order


class OrderRows(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "number"]


class OrderFilters(django_filters.FilterSet):
    placed = django_filters.DateFromToRangeFilter(field_name="placed_at")
    since = django_filters.DateTimeFilter(field_name="placed_at", lookup_expr="gte")
    until = django_filters.DateTimeFilter(field_name="placed_at", lookup_expr="lte")
    around = django_filters.DateFromToRangeFilter(method="filter_around")
    country = django_filters.CharFilter(field_name="customer__country")
    countries = django_filters.BaseInFilter(field_name="customer__country", lookup_expr="in")
    like = django_filters.CharFilter(field_name="customer__country", lookup_expr="icontains")

    class Meta:
        model = Order
        fields = ["customer"]

    def filter_around(self, queryset, name, value):
        return queryset


class Orders(generics.ListAPIView):
    queryset = Order.objects.order_by("id")
    serializer_class = OrderRows
    permission_classes = [AllowAny]
    authentication_classes = []
    filter_backends = [DjangoFilterBackend]
    filterset_class = OrderFilters


class OrdersOfCustomer(Orders):
    def get_queryset(self):
        return super().get_queryset().filter(customer=self.kwargs["customer_pk"])


class Customers(Orders):
    queryset = Customer.objects.order_by("id")
    serializer_class = serializers.Serializer
    filter_backends = []


@pytest.fixture
def call(expose, agent_of, db):
    expose(
        path("orders/", Orders.as_view()),
        path("customers/", Customers.as_view()),
        path("customers/<int:customer_pk>/orders/", OrdersOfCustomer.as_view()),
    )
    tools = {tool.endpoint.route.path.lstrip("/"): name for name, tool in registry.tools().items()}

    def call(place: str = "orders/", **arguments: Any) -> Any:
        return agent_of(None).call_with(tools[place], arguments)

    return call


def warnings(result: Any) -> list[str]:
    assert not result.is_error
    return result.envelope["meta"].get("warnings", [])


# --- Errors of filters have a pointer to the argument --------------------------------------


def test_an_error_of_a_range_has_a_pointer_to_the_wrong_end(call):
    for arguments in [
        {"placed_after": "01.10.2026"},
        {"placed_before": "2026-01-01", "placed_after": "01.10.2026"},
    ]:
        (problem,) = call(**arguments).problems
        assert (problem["pointer"], problem["received"]) == ("/placed_after", "01.10.2026")
        assert "YYYY-MM-DD" in problem["remediation"], arguments


# --- Texts that the column cannot hold -----------------------------------------------------


def test_a_text_longer_than_the_column_is_refused(call):
    for arguments, pointer, received in [
        ({"country": "Germany"}, "/country", "Germany"),
        ({"countries": ["DE", "France"]}, "/countries/1", "France"),
        ({"countries": "DE,France"}, "/countries", "France"),
    ]:
        (problem,) = call(**arguments).problems
        assert (problem["code"], problem["pointer"]) == ("max_length", pointer)
        assert problem["received"] == received
        assert problem["remediation"] == "Send a string of at most 2 characters.", arguments


# --- Empty lists ---------------------------------------------------------------------------


def test_a_range_that_ends_before_it_begins_is_a_warning(call):
    for arguments in [
        {"placed_after": "2026-01-01", "placed_before": "2025-01-01"},
        {"since": "2026-01-01", "until": "2025-01-01"},
    ]:
        (warning,) = warnings(call(**arguments))
        first, second = arguments
        assert f"Exchange '{first}' and '{second}'" in warning, arguments


def test_the_warning_about_an_empty_list_names_its_filters(call):
    (warning,) = warnings(call(country="XX"))
    assert "No rows fit 'country'." in warning


def test_the_warning_about_an_unknown_parent_names_the_tool_that_lists_parents(call):
    (warning,) = warnings(call("customers/{customer_pk}/orders/", customer_pk=999999))
    assert "'customer_pk'" in warning
    assert "customers_list lists those that exist." in warning
