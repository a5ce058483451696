"""What an update cannot write, an action may change."""

from __future__ import annotations

from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp import mcp_tool
from example_project.shop.models import Order


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "number", "status", "note"]
        read_only_fields = ["status"]


class Orders(viewsets.ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer
    permission_classes = []

    @action(detail=True, methods=["post"])
    def ship(self, request, pk):
        return Response({})

    @action(detail=True, methods=["post"])
    def cancel(self, request, pk):
        return Response({})

    @mcp_tool(destructive=True)
    @action(detail=True, methods=["post"])
    def refund(self, request, pk):
        return Response({})

    @action(detail=True, methods=["get"])
    def paid(self, request, pk):
        return Response({})


def test_a_field_that_the_server_sets_names_the_actions_of_the_object(expose, alice):
    router = SimpleRouter()
    router.register("orders", Orders, basename="orders")
    expose(*router.urls)
    refused = alice.call("orders_partial_update", id=1, status="cancelled")
    tools = "orders_cancel or orders_refund or orders_ship"
    assert refused.data["remediation"] == f"Leave it out. {tools} may change it."
