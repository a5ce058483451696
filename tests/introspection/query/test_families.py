"""The description that several filters of one field share is given only once."""

from __future__ import annotations

import django_filters
import pytest
from django.contrib.auth.models import Group, User
from django.urls import include, path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import viewsets
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer

from drf_mcp.tools import registry


class UserSerializer(ModelSerializer):
    class Meta:
        model = User
        fields = ("id", "username")


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


class UserFilters(django_filters.FilterSet):
    member = django_filters.ModelMultipleChoiceFilter(
        field_name="groups", queryset=Group.objects.all(), label="Team of the user"
    )
    member__n = django_filters.ModelMultipleChoiceFilter(
        field_name="groups", queryset=Group.objects.all(), exclude=True, label="Team of the user"
    )
    member__oldest = django_filters.ModelMultipleChoiceFilter(
        field_name="groups", queryset=Group.objects.all(), label="First team of the user"
    )
    lone__n = django_filters.ModelMultipleChoiceFilter(
        field_name="groups", queryset=Group.objects.all(), label="Team of the user"
    )


class UserViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = User.objects.all()
    serializer_class = UserSerializer
    filter_backends = (DjangoFilterBackend,)
    filterset_class = UserFilters


class GroupViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


@pytest.fixture
def arguments(expose):
    router = SimpleRouter()
    router.register("users", UserViewSet)
    router.register("groups", GroupViewSet)
    expose(path("", include(router.urls)))
    return registry.tool("users_list").input_schema["properties"]


@pytest.mark.django_db
def test_the_first_filter_has_the_description(arguments):
    assert arguments["member"]["description"] == "Team of the user."
    assert arguments["member"]["items"]["description"] == "From groups_list."


@pytest.mark.django_db
def test_another_filter_with_the_same_description_has_none(arguments):
    assert arguments["member__n"] == {"type": "array", "items": {"type": "integer"}}
