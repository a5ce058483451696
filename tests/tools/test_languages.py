"""Texts of tools are in the language of the project, not in that of the first caller."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.urls import path
from django.utils import translation
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.generics import CreateAPIView, ListAPIView

from drf_mcp.exposure import mcp_viewset


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = get_user_model()
        fields = ["id", "username"]


class Users(ListAPIView):
    queryset = get_user_model().objects.all()
    serializer_class = UserSerializer


class NewUser(CreateAPIView):
    queryset = get_user_model().objects.all()
    serializer_class = UserSerializer


@pytest.fixture
def german():
    """Activates a language that is not the project's."""
    with translation.override("de"):
        yield


def test_a_title_has_the_projects_language(tools_of, german):
    assert tools_of(path("users/", Users.as_view()))["users_list"].title == "List users"


def test_a_description_has_the_projects_language(tools_of, german):
    tool = tools_of(path("users/", Users.as_view()))["users_list"]
    assert tool.description.startswith("Find, show or count users")


def test_a_help_text_has_the_projects_language(tools_of, german):
    name = serializers.CharField(help_text=gettext_lazy("Monday"))
    serializer = type("Own", (serializers.Serializer,), {"name": name})
    view = type("NewUser", (NewUser,), {"serializer_class": serializer})
    tool = tools_of(path("users/", view.as_view()))["users_create"]
    assert tool.input_schema["properties"]["name"]["description"] == "Monday."


def test_lazy_texts_in_options_have_the_projects_language(tools_of, german):
    words = {"title": gettext_lazy("Monday"), "description": gettext_lazy("Tuesday")}
    view = mcp_viewset(**words)(type("NewUser", (NewUser,), {}))
    definition = tools_of(path("users/", view.as_view()))["users_create"].definition(None)
    assert type(definition["title"]) is type(definition["description"]) is str
    assert definition["title"] == "Monday"
    assert definition["description"] == "Tuesday"
