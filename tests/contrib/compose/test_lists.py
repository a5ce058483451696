"""Lists in a program are whole, or said to be a part."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework.generics import ListAPIView
from rest_framework.pagination import (
    BasePagination,
    CursorPagination,
    LimitOffsetPagination,
    PageNumberPagination,
)
from rest_framework.response import Response

from example_project.shop.models import Customer, Order
from tests.contrib.compose.test_guards import BY_TOKEN

pytestmark = pytest.mark.django_db


class Numbered(PageNumberPagination):
    page_size = 3
    page_size_query_param = "size"
    max_page_size = 5


class Windows(LimitOffsetPagination):
    default_limit = 3


class Cursors(CursorPagination):
    page_size = 3
    page_size_query_param = "size"
    ordering = "pk"


class Facets(Numbered):
    def get_paginated_response(self, data):
        return Response({**super().get_paginated_response(data).data, "facets": {"open": 1}})


class Headers(Numbered):
    """Pages without members of their own, as of GitHub: the next one is in a header."""

    def get_paginated_response(self, data):
        return Response(data, headers={"Link": self.get_next_link() or ""})


class ByPath(BasePagination):
    """Pages of three rows, each at a path of its own."""

    def paginate_queryset(self, queryset, request, view=None):
        return list(queryset[:3])

    def get_paginated_response(self, data):
        return Response({"next": "http://testserver/groups/2/", "results": data, "previous": None})


@pytest.fixture
def lister(composer_of, expose):
    """Return agents with a list of 12 groups by a paginator: ``lister(Numbered)``."""

    def make(paginator):
        class Groups(ListAPIView):
            queryset = Group.objects.order_by("pk")
            pagination_class = paginator

            def get_serializer(self, rows, **kwargs):
                return SimpleNamespace(data=[row.name for row in rows])

        expose(path("groups/", Groups.as_view()), COMPOSE=True, **BY_TOKEN)
        Group.objects.bulk_create(Group(name=f"group {number}") for number in range(12))
        return composer_of("alice", path="/mcp")

    return make


@pytest.mark.parametrize(
    ("paginator", "size"),
    [(Numbered, "size"), (Windows, "limit"), (Cursors, "size"), (Headers, "size")],
)
def test_a_list_is_whole_whatever_size_of_pages_the_program_names(lister, paginator, size):
    agent = lister(paginator)
    assert agent.value(f"[len(groups_list()), len(groups_list({size}=2))]") == [12, 12]


def test_pages_are_fetched_in_the_largest_size(lister, calls):
    lister(Numbered).value("groups_list(size=1)")
    assert calls.count("groups_list") == 3


def test_a_page_with_members_of_its_own_has_all_rows(lister):
    value = lister(Facets).value("groups_list()")
    assert (len(value["results"]), value["facets"]) == (12, {"open": 1})


def test_a_page_that_the_program_chooses_is_said_to_be_one_page(lister):
    result = lister(Numbered).run("len(groups_list(page=2, size=4))")
    assert result.data["result"] == 4
    (warning,) = result.envelope["meta"]["warnings"]
    assert "gives all of them without 'page'" in str(warning)


def test_rows_whose_next_page_has_no_argument_are_said_to_be_one_page(lister):
    result = lister(ByPath).run("len(groups_list())")
    assert result.data["result"] < 12
    (warning,) = result.envelope["meta"]["warnings"]
    assert "groups_list gave the rows of one page" in str(warning)


def test_two_lists_are_joined_whole(staff):
    program = """
names = {c["id"]: c["name"] for c in customers_list(page_size=2)}
len([names[o["customer"]] for o in orders_list(page_size=5)])
"""
    assert staff.value(program) == Order.objects.count()


def test_fifty_calls_read_five_thousand_rows(staff):
    owner = Customer.objects.first().owner
    Customer.objects.bulk_create(
        Customer(name=f"c{n}", email=f"{n}@mail.example", country="DE", owner=owner)
        for n in range(5000 - Customer.objects.count())
    )
    assert staff.value("len(customers_list())") == 5000


def test_decimals_stay_decimals(staff):
    program = """
from decimal import Decimal
sum(Decimal(p["price"]) for p in products_list())
"""
    value = staff.value(program)
    assert isinstance(value, str)
    assert len(value.partition(".")[2]) == 2
