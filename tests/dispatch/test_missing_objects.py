"""The tool that lists the object that was not found."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from example_project.shop.models import Customer, Order, Product


class Rows(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id"]


class Orders(viewsets.ReadOnlyModelViewSet):
    queryset, serializer_class, permission_classes = Order.objects.all(), Rows, []
    look: Any = None

    @action(detail=True)
    def look_up(self, request, pk=None):
        self.get_object()
        type(self).look()
        return Response({})


class Customers(viewsets.ReadOnlyModelViewSet):
    queryset, serializer_class, permission_classes = Customer.objects.all(), Rows, []


def raise_http404() -> None:
    raise Http404


def raise_named() -> None:
    raise NotFound("This customer does not exist.")


@pytest.mark.parametrize(
    ("look", "listing"),
    [
        (lambda: get_object_or_404(Customer, email="none@mail.example"), "customers_list"),
        (raise_named, "customers_list"),
        (lambda: get_object_or_404(Order, number="none"), "orders_list"),
        (raise_http404, "orders_list"),
        (lambda: get_object_or_404(Group, name="none"), None),
        (lambda: get_object_or_404(Product, slug="none"), None),
    ],
)
def test_an_object_that_was_not_found_is_looked_up_in_its_own_list(serve, look, listing):
    router = SimpleRouter()
    router.register("orders", type("Looking", (Orders,), {"look": staticmethod(look)}), "orders")
    router.register("customers", Customers)
    doors = serve(path("", include(router.urls)))
    pk = Order.objects.first().pk
    (name,) = [each for each in doors.agent.tools() if "look_up" in each]
    data = doors.agent.call(name, id=pk).envelope["data"]
    assert data["error_code"] == "NOT_FOUND"
    named = [each for each in ("orders_list", "customers_list") if each in data["remediation"]]
    assert named == ([listing] if listing else [])
