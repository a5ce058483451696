"""A foreign key that does not exist, and that only the database refuses."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import generics, serializers

from example_project.shop.models import Customer, Order


class PlainOrderSerializer(serializers.ModelSerializer):
    customer_id = serializers.IntegerField()

    class Meta:
        model = Order
        fields = ["number", "customer_id"]


class Orders(generics.CreateAPIView):
    queryset = Order.objects.all()
    serializer_class = PlainOrderSerializer
    permission_classes = []


class Customers(generics.ListAPIView):
    queryset = Customer.objects.all()
    permission_classes = []

    class serializer_class(serializers.ModelSerializer):
        class Meta:
            model = Customer
            fields = ["id", "name"]


@pytest.fixture
def refused(expose, agent_of, transactional_db):
    def refused(*patterns):
        expose(path("orders/", Orders.as_view()), *patterns)
        agent = agent_of(None)
        agent.http.raise_request_exception = False
        return agent.call("orders_create", number="X-1", customer_id=10**9)

    return refused


def test_the_problem_names_the_argument(refused):
    result = refused()
    assert (result.code, result.data["error_type"]) == ("CONFLICT", "conflict")
    (problem,) = result.problems
    assert (problem["pointer"], problem["code"]) == ("/customer_id", "does_not_exist")
    assert problem["received"] == 10**9
    assert result.data["remediation"] == "Use one that exists."


def test_the_remediation_names_the_tool_that_lists_the_rows(refused):
    remediation = refused(path("customers/", Customers.as_view())).data["remediation"]
    assert (
        remediation == "Use customers_list to find existing ids, then call again with one of them."
    )
