"""Choices that are rows of the database are the rows of today in each list of tools."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework import generics, serializers

pytestmark = pytest.mark.django_db


class Named(serializers.Serializer):
    def get_fields(self):
        names = [group.name for group in Group.objects.order_by("name")]
        return {"name": serializers.ChoiceField(choices=names)}


class Create(generics.CreateAPIView):
    serializer_class = Named
    authentication_classes = []
    permission_classes = []


class GroupFilters(django_filters.FilterSet):
    name = django_filters.ChoiceFilter(choices=())

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        names = Group.objects.order_by("name").values_list("name", "name")
        self.filters["name"].extra["choices"] = list(names)


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class List(generics.ListAPIView):
    queryset = Group.objects.order_by("id")
    serializer_class = GroupSerializer
    filter_backends = [django_filters.DjangoFilterBackend]
    filterset_class = GroupFilters
    authentication_classes = []
    permission_classes = []


@pytest.mark.parametrize("view", [Create, List])
def test_a_list_has_the_rows_of_today_as_choices(expose, agent_of, view):
    expose(path("groups/", view.as_view()))
    agent, shown = agent_of(None), []
    for name in ("a", "b"):
        Group.objects.create(name=name)
        (tool,) = agent.tools().values()
        shown.append(tool["inputSchema"]["properties"]["name"]["enum"])
    assert shown == [["a"], ["a", "b"]]


def test_a_choice_that_is_new_is_taken(expose, agent_of):
    expose(path("groups/", List.as_view()))
    Group.objects.create(name="a")
    agent = agent_of(None)
    (name,) = agent.tools()
    Group.objects.create(name="b")
    assert [row["name"] for row in agent.call(name, name="b").data["results"]] == ["b"]
