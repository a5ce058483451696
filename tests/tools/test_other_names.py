"""Names that arguments do not have: refused with the one that was meant."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from django_filters import rest_framework as filters
from rest_framework import generics, serializers, views
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import LimitOffsetPagination, PageNumberPagination
from rest_framework.response import Response

from drf_mcp.option_types.spelling import ask_nearest, find_nearest
from drf_mcp.tools import ArgumentsRefused


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "date_joined"]


class UserFilters(filters.FilterSet):
    joined_after = filters.DateFilter("date_joined", "gte")
    joined_before = filters.DateFilter("date_joined", "lte")

    class Meta:
        model = User
        fields = ["is_staff"]


class Pages(PageNumberPagination):
    page_size_query_param = "page_size"


class Users(generics.ListAPIView):
    queryset = User.objects.all()
    serializer_class = UserSerializer
    filter_backends = [filters.DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_class = UserFilters
    search_fields = ["username"]
    ordering_fields = ["username"]
    pagination_class = Pages


class OffsetUsers(Users):
    pagination_class = LimitOffsetPagination


class OneGroup(views.APIView):
    """Knows its key by the name of the URL alone."""

    def patch(self, request, pk):
        return Response({"id": pk})


class FoundGroup(generics.UpdateAPIView):
    queryset = Group.objects.all()

    class serializer_class(serializers.ModelSerializer):
        class Meta:
            model = Group
            fields = ["id", "name"]

    def get_object(self):
        return Group.objects.get(pk=self.kwargs["pk"])


@pytest.fixture
def problems_of(tools_of):
    def problems(view, arguments, pattern="things/"):
        tool = [*tools_of(path(pattern, view.as_view())).values()][-1]
        with pytest.raises(ArgumentsRefused) as caught:
            tool.bind(arguments)
        return caught.value.problems

    return problems


def test_the_usual_other_names_are_answered_with_ours(problems_of):
    for name, meant in [
        ("q", "search"),
        ("query", "search"),
        ("sort", "ordering"),
        ("order_by", "ordering"),
        ("limit", "page_size"),
        ("per_page", "page_size"),
        ("pageSize", "page_size"),
        ("name", "search"),
        ("start", "joined_after"),
        ("since", "joined_after"),
        ("end_date", "joined_before"),
        ("staff", "is_staff"),
        ("joind_after", "joined_after"),
    ]:
        (problem,) = problems_of(Users, {name: "1"})
        assert (problem.code, problem.accepted) == ("unknown", meant)
        assert problem.remediation == f"Did you mean '{meant}'?"


def test_another_way_of_paging_is_not_taken_for_ours(problems_of):
    for name in ["page", "cursor"]:
        (problem,) = problems_of(OffsetUsers, {name: 3})
        assert problem.remediation == f"Use one of {problem.accepted}."
        assert "offset" in problem.accepted


def test_what_means_the_same_and_begins_alike_comes_first(subtests):
    for name, names, meant in [
        ("start", ["status", "starts_at"], ["starts_at"]),
        ("start", ["status"], []),
        ("state", ["start", "status"], ["status"]),
        ("min_price", ["price", "price__gte", "price__lte"], ["price__gte"]),
        ("tier_level", ["level_of_care", "tier"], ["tier"]),
        ("customerId", ["customer", "customer_id"], ["customer_id"]),
        ("customer.mail", ["customer", "customer.email"], ["customer.email"]),
        ("list_orders", ["orders_list", "orders_create"], ["orders_list"]),
        ("-join_date", ["joined", "-joined"], ["-joined"]),
        ("Shipped", ["skipped", "shipped"], ["shipped"]),
        ("id", ["ids", "fields"], ["ids"]),
        ("customer_id", ["ids", "fields"], ["ids"]),
        ("wholly_other", ["name"], []),
        ("", ["name"], []),
    ]:
        with subtests.test(name=name, names=names, meant=meant):
            assert find_nearest(name, names) == meant


def test_a_very_long_name_is_compared_by_its_beginning():
    assert find_nearest("x" * 100_000 + "name", ["name"]) == []


def test_a_question_names_every_alternative():
    assert ask_nearest(["a", "b", "c"]) == "Did you mean a or b or c?"
    assert ask_nearest([]) == ""


# --- Required arguments come first --------------------------------------------------------


def test_the_key_by_another_name_is_told_its_own(problems_of):
    for view in [OneGroup, FoundGroup]:
        (problem,) = problems_of(view, {"id": 1}, "things/<int:pk>/")
        assert problem.remediation == "Did you mean 'pk'?", view


def test_a_required_argument_by_another_name_is_one_problem_and_the_first(tools_of):
    view = generics.CreateAPIView.as_view(
        queryset=User.objects.all(), serializer_class=UserSerializer
    )
    tool = tools_of(path("users/", view))["users_create"]
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind({"id": 7, "other": 1, "user_name": "ann"})
    found = [(problem.pointer, problem.code) for problem in caught.value.problems]
    assert found == [("/user_name", "unknown"), ("/id", "read_only"), ("/other", "unknown")]


def test_a_missing_argument_comes_before_those_that_only_have_to_go(tools_of):
    view = generics.CreateAPIView.as_view(
        queryset=User.objects.all(), serializer_class=UserSerializer
    )
    tool = tools_of(path("users/", view))["users_create"]
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind({"id": 7})
    found = [(problem.pointer, problem.code) for problem in caught.value.problems]
    assert found == [("/username", "required"), ("/id", "read_only")]
