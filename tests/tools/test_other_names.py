"""Unknown argument names are refused, with the argument that was probably intended."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from django_filters import rest_framework as filters
from rest_framework import generics, serializers, views
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response

from drf_mcp.errors import ArgumentsRefused
from drf_mcp.option_types.spelling import find_nearest


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


class OneGroup(views.APIView):
    """Has its key only in the path."""

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


def test_common_other_names_are_answered_with_the_name_of_the_argument(problems_of):
    for name, nearest in [
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
        assert (problem.code, problem.accepted) == ("unknown", nearest)
        assert problem.remediation == f"Did you mean '{nearest}'?"


def test_synonyms_and_common_beginnings_come_first(subtests):
    for name, names, nearest in [
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
        with subtests.test(name=name, names=names, nearest=nearest):
            assert find_nearest(name, names) == nearest


# --- Required arguments -------------------------------------------------------------------


def test_the_key_under_another_name_is_answered_with_its_name(problems_of):
    for view in [OneGroup, FoundGroup]:
        (problem,) = problems_of(view, {"id": 1}, "things/<int:pk>/")
        assert problem.remediation == "Did you mean 'pk'?", view


def test_a_required_argument_under_another_name_is_one_problem_and_the_first(tools_of):
    view = generics.CreateAPIView.as_view(
        queryset=User.objects.all(), serializer_class=UserSerializer
    )
    tool = tools_of(path("users/", view))["users_create"]
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind({"id": 7, "other": 1, "user_name": "ann"})
    found = [(problem.pointer, problem.code) for problem in caught.value.problems]
    assert found == [("/user_name", "unknown"), ("/id", "read_only"), ("/other", "unknown")]
