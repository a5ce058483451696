"""A foreign key that does not exist, and that only the database refuses."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import path
from rest_framework import generics, serializers

from example_project.shop.models import Customer, Order, Ticket


class PlainOrderSerializer(serializers.ModelSerializer):
    customer_id = serializers.IntegerField()

    class Meta:
        model = Order
        fields = ["number", "customer_id"]


class TicketSerializer(serializers.ModelSerializer):
    customer_id = serializers.IntegerField()
    opened_by_id = serializers.IntegerField()

    class Meta:
        model = Ticket
        fields = ["subject", "customer_id", "opened_by_id"]


class Tickets(generics.CreateAPIView):
    queryset = Ticket.objects.all()
    serializer_class = TicketSerializer
    permission_classes = []


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


def test_of_two_keys_none_is_named_since_it_would_tell_that_the_other_exists(
    expose, agent_of, transactional_db
):
    expose(path("tickets/", Tickets.as_view()))
    agent = agent_of(None)
    agent.http.raise_request_exception = False
    for user in (User.objects.create(username="known").pk, 10**9):
        keys = {"customer_id": 10**9, "opened_by_id": user}
        result = agent.call("tickets_create", subject="x", **keys)
        assert result.code == "CONFLICT"
        assert "does_not_exist" not in str(result.data)
