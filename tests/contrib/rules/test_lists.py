"""A list that a rule refuses shows its rows nowhere else."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import serializers, viewsets
from rest_framework.pagination import PageNumberPagination

from drf_mcp import mcp_viewset
from example_project.shop.models import Customer, Order

URI = "shop://customers/{pk}"


class Pages(PageNumberPagination):
    page_size = 5
    page_size_query_param = "page_size"


class CustomerSerializer(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["id", "name"]


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "number"]


class Customers(viewsets.ModelViewSet):
    queryset = Customer.objects.order_by("pk")
    serializer_class = CustomerSerializer
    pagination_class = Pages


@mcp_viewset(dry_run=True, if_match="number")
class Orders(viewsets.ModelViewSet):
    queryset = Order.objects.order_by("pk")
    serializer_class = OrderSerializer


@pytest.fixture
def agent(expose, alice):
    every = {"get": "list", "post": "create"}
    one = {"get": "retrieve", "delete": "destroy", "patch": "partial_update"}
    expose(
        path("customers/", Customers.as_view(every)),
        path("customers/<int:pk>/", Customers.as_view(one)),
        path("orders/", Orders.as_view(every)),
        path("orders/<int:pk>/", Orders.as_view(one)),
        SERVER_NAME="shop",
    )
    # A crash is a response.
    alice.http.raise_request_exception = False
    return alice


def test_no_keys_are_completed(agent, save_rule):
    def complete():
        argument = {"name": "pk", "value": ""}
        ref = {"type": "ref/resource", "uri": URI}
        return agent.result("completion/complete", ref=ref, argument=argument)["completion"]

    row = save_rule("customers_list", when=("page_size", "greater", "10"))
    assert complete()["values"]
    row.argument = row.operator = row.value = ""
    row.save()
    assert complete()["values"] == []


def test_a_refused_version_and_a_dry_run_show_no_object_that_a_rule_refuses_to_read(
    agent, save_rule
):
    order = Order.objects.earliest("pk")

    def refuse():
        return agent.call("orders_partial_update", id=order.pk, number="X", if_match="old")

    def preview():
        return agent.call("orders_partial_update", id=order.pk, number="X", dry_run=True)

    assert refuse().envelope["meta"]["current"]["number"] == order.number
    assert preview().envelope["meta"]["dry_run"]["before"] == {"number": order.number}
    save_rule("orders_retrieve")
    assert "current" not in refuse().envelope["meta"]
    assert "before" not in preview().envelope["meta"]["dry_run"]
