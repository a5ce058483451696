"""The object of a call is shown as the retrieve tool of the same view shows it to the caller."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.http import Http404
from django.test import RequestFactory
from django.urls import path
from rest_framework import permissions, serializers
from rest_framework.decorators import action
from rest_framework.generics import DestroyAPIView, RetrieveAPIView
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet

from drf_mcp.access.authentication import Caller
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.call_objects import CallObject, gets_object, has_cascades, hash_row
from drf_mcp.exposure import registry

pytestmark = pytest.mark.django_db

RAN: list[str] = []


class ReadsRefused(permissions.BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.method != "GET" or "x-refuse" not in request.headers


class GroupSerializer(serializers.ModelSerializer):
    api_key = serializers.CharField(default="sesame")
    many = serializers.SerializerMethodField()

    class Meta:
        model = Group
        fields = ["id", "name", "api_key", "many"]

    def get_many(self, group) -> list[dict[str, str]]:
        return [{"password": "swordfish", "text": "x" * 500}]


class GroupViewSet(ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    authentication_classes: list[type] = []
    permission_classes = [ReadsRefused]

    @action(detail=True, methods=["post"])
    def close(self, request, pk=None) -> Response:
        RAN.append("close")
        return Response({})

    def perform_destroy(self, instance) -> None:
        RAN.append("perform_destroy")


class Broken(GroupViewSet):
    def retrieve(self, request, *args, **kwargs) -> Response:
        Group.objects.all().delete()
        raise ValueError


class Wide(GroupViewSet):
    def retrieve(self, request, *args, **kwargs) -> Response:
        return Response({f"n{number}": number for number in range(20)})


class ReadGroup(RetrieveAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes: list[type] = []


class CloseGroup(DestroyAPIView):
    queryset = Group.objects.all()
    permission_classes: list[type] = []


METHODS = {"get": "retrieve", "delete": "destroy"}


@pytest.fixture
def find(expose):
    """Returns the object of a tool's call: ``find("groups_destroy", group)``."""
    RAN.clear()
    expose(
        path("groups/<int:pk>/", GroupViewSet.as_view(METHODS)),
        path("groups/<int:pk>/close/", GroupViewSet.as_view({"post": "close"})),
        path("broken/<int:pk>/", Broken.as_view(METHODS)),
        path("wide/<int:pk>/", Wide.as_view(METHODS)),
        path("apart/<int:pk>/", ReadGroup.as_view()),
        path("apart/<int:pk>/end/", CloseGroup.as_view()),
        path("all/", GroupViewSet.as_view({"delete": "destroy"})),
        AUTHENTICATION_CLASSES=[],
    )

    def make(name: str, group: Group, **headers: str) -> CallObject:
        (tool,) = (t for t in registry.tools().values() if t.endpoint.place and t.name == name)
        caller = Caller(RequestFactory().post("/mcp", headers=headers), None, [], [])
        kwargs = {"pk": group.pk} if tool.endpoint.route.kwargs else {}
        return CallObject(caller, tool, Call({}, kwargs))

    return make


@pytest.fixture
def group() -> Group:
    return Group.objects.create(name='readers"\ngroup 2')


def test_the_object_is_shown_as_its_retrieve_tool_shows_it(find, group):
    shown = find("groups_destroy", group).show()
    assert shown.label == f"group {group.pk}"
    assert shown.members["id"] == group.pk
    assert RAN == []


def test_an_action_shows_the_object_that_it_is_about(find, group):
    assert find("groups_close", group).show().members["id"] == group.pk
    assert RAN == []


def test_each_member_is_one_quoted_line(find, group):
    lines = list(find("groups_destroy", group).show().lines)
    assert lines[2] == r'name: "readers\" group 2"'
    assert all("\n" not in line and len(line) < 200 for line in lines)


def test_secrets_are_masked(find, group):
    shown = find("groups_destroy", group).show()
    assert shown.members["api_key"] == "********"
    assert "swordfish" not in str(list(shown.lines))


@pytest.mark.parametrize("name", ["groups_destroy", "groups_close"])
def test_a_read_that_is_refused_leaves_the_model_and_the_key(find, group, name):
    shown = find(name, group, **{"x-refuse": "1"}).show()
    assert list(shown.lines) == [f"group {group.pk}"]


def test_the_hash_of_a_row_is_of_all_columns(find, group):
    row = find("groups_destroy", group).find_row(is_locked=True)
    assert hash_row(row) == hash_row(group)
    Group.objects.update(name="writers")
    assert hash_row(find("groups_destroy", group).find_row()) != hash_row(group)


class Upserting(GroupViewSet):
    """Creates what a PUT does not find."""

    def get_object_or_none(self) -> Any:
        try:
            return self.get_object()
        except Http404:
            return None

    def update(self, request, *args, **kwargs) -> Response:
        return Response({"found": self.get_object_or_none() is not None})


def test_a_view_that_does_without_a_missing_object_is_not_known_to_find_it():
    assert not gets_object(Upserting, "update")
    assert gets_object(Upserting, "destroy")
    assert not gets_object(GroupViewSet, "close")


def test_a_model_cascades_where_rows_of_others_go_with_its_rows():
    assert has_cascades(User)
    assert not has_cascades(Permission)
