"""Arguments that make a URL too long are refused."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework import filters, generics, serializers


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(generics.ListCreateAPIView):
    permission_classes = []
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    filter_backends = [filters.SearchFilter, filters.OrderingFilter]
    search_fields = ordering_fields = ["name"]


class OneGroup(generics.RetrieveAPIView):
    permission_classes = []
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    lookup_field = "name"


@pytest.fixture
def agent(expose, agent_of):
    def serve(**mcp_settings):
        expose(
            path("groups/", Groups.as_view()),
            path("groups/<name>/", OneGroup.as_view()),
            **mcp_settings,
        )
        return agent_of(None)

    return serve


def test_a_query_that_is_too_long_is_refused_at_its_longest_argument(
    agent, django_assert_num_queries
):
    found = agent()
    with django_assert_num_queries(0):
        result = found.call("groups_list", **{"ordering": "name", "search": "word " * 10_000})
    (problem,) = result.problems
    assert result.code == "VALIDATION_ERROR"
    assert (problem["pointer"], problem["code"]) == ("/search", "max_length")
    assert "8190" in problem["accepted"].replace(",", "")


def test_many_short_values_are_too_long_together(agent):
    result = agent(EXTRA_QUERY=True).call("groups_list", **{"query": {"status": ["paid"] * 2_000}})
    assert result.problems[0]["pointer"] == "/query"


def test_a_path_argument_that_is_too_long_is_refused(agent):
    result = agent().call("groups_retrieve", **{"name": "x" * 8_191})
    assert result.problems[0]["pointer"] == "/name"
