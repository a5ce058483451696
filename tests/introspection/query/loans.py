"""Views over orders whose querysets need a caller or the key of a parent."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
from django.shortcuts import get_object_or_404
from django.urls import include, path
from rest_framework import filters, pagination, serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework_nested.routers import NestedSimpleRouter, SimpleRouter

from example_project.shop.models import Customer, Order


class OrderRows(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "number", "status", "placed_at"]


class Pages(pagination.PageNumberPagination):
    page_size = 5
    page_size_query_param = "page_size"
    max_page_size = 50


class Orders(viewsets.ReadOnlyModelViewSet):
    """Orders of the caller's customers, without a ``queryset`` attribute."""

    serializer_class = OrderRows
    permission_classes = [IsAuthenticated]
    pagination_class = Pages
    filter_backends = [
        django_filters.DjangoFilterBackend,
        filters.SearchFilter,
        filters.OrderingFilter,
    ]
    filterset_fields = {"customer__country": ["exact"], "placed_at": ["gte"]}
    search_fields = ["number"]

    def get_queryset(self):
        return Order.objects.filter(customer__owner=self.request.user)


class OrdersOfCustomer(Orders):
    """Orders of a customer, filtered by the customer's key."""

    def get_queryset(self):
        return Order.objects.filter(customer=self.kwargs["customer_pk"])


class OrdersOfFoundCustomer(Orders):
    """Orders of a customer whose row is read first."""

    def get_queryset(self):
        customer = get_object_or_404(Customer, pk=self.kwargs["customer_pk"])
        return customer.orders.all()


class Customers(viewsets.ReadOnlyModelViewSet):
    queryset = Customer.objects.all()
    permission_classes = [IsAuthenticated]


class CustomerRows(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["id", "name"]


Customers.serializer_class = CustomerRows

router = SimpleRouter()
router.register("customers", Customers, basename="customers")
nested = NestedSimpleRouter(router, "customers", lookup="customer")
nested.register("orders", OrdersOfCustomer, basename="customer-orders")
nested.register("found-orders", OrdersOfFoundCustomer, basename="customer-found-orders")


def routes_of(view_class):
    own = SimpleRouter()
    own.register("loans", view_class, basename="loans")
    return path("", include(own.urls))


NESTED = path("", include([*router.urls, *nested.urls]))
