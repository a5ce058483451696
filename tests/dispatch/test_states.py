"""Refusals because of the state of an object, which no other arguments change."""

from __future__ import annotations

import pytest
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.exceptions import SoftFailure
from example_project.shop.models import Order

SAME_CALL = "The same call would be refused again"


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "number", "status", "note"]
        read_only_fields = ["status"]


class Orders(viewsets.ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer
    permission_classes = []
    refusal: Exception = ValidationError("It is paid, not sent.")

    @action(detail=True, methods=["post"])
    def deliver(self, request, pk):
        raise self.refusal

    @action(detail=True, methods=["post"])
    def ship(self, request, pk):
        return Response({})

    @action(detail=True, methods=["post"])
    def cancel(self, request, pk):
        return Response({})


@pytest.fixture
def refused(expose, alice):
    def refused(exc: Exception):
        router = SimpleRouter()
        router.register("orders", type("Orders", (Orders,), {"refusal": exc}), basename="orders")
        expose(*router.urls)
        return alice.call("orders_deliver", id=1)

    return refused


@pytest.mark.parametrize(
    "exc",
    [
        ValidationError("It is paid, not sent."),
        ValidationError({"non_field_errors": ["It is paid, not sent."]}),
        ValidationError({"detail": "It is paid, not sent."}),
        ValidationError({"status": ["It is paid, not sent."]}),
        SoftFailure("It is paid, not sent."),
    ],
    ids=["list", "whole", "detail", "field", "soft"],
)
def test_a_refusal_says_that_the_same_call_is_refused_again(refused, exc):
    assert refused(exc).data["remediation"].startswith(SAME_CALL)


def test_a_problem_of_an_argument_is_answered_for_the_argument(expose, alice):
    class Notes(Orders):
        def update(self, request, *args, **kwargs):
            raise ValidationError({"note": ["A paid order keeps its note."]})

    router = SimpleRouter()
    router.register("orders", Notes, basename="orders")
    expose(*router.urls)
    assert alice.call("orders_update", id=1, note="x").data["remediation"] == "Correct it."


def test_a_read_only_field_is_answered_with_the_actions_of_the_object(expose, alice):
    router = SimpleRouter()
    router.register("orders", Orders, basename="orders")
    expose(*router.urls)
    refused = alice.call("orders_partial_update", id=1, status="cancelled")
    tools = "orders_deliver or orders_cancel or orders_ship"
    assert sorted(refused.data["remediation"].split()) == sorted(
        f"Leave it out. {tools} may change it.".split()
    )
