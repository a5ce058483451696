"""Texts of tools are in the language of the project, not in that of the first caller."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.test import override_settings
from django.urls import path
from django.utils import translation
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.generics import CreateAPIView, ListAPIView

from drf_mcp.tools import Registry, mcp_viewset
from tests.tools.conftest import urlconf_of


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


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = LogEntry
        fields = ["user", "object_repr", "action_flag"]


class NewLog(CreateAPIView):
    queryset = LogEntry.objects.all()
    serializer_class = LogSerializer


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


def test_tools_are_described_again_when_the_projects_language_changes(settings):
    settings.DRF_MCP = {"EXPOSE": "urlconf"}
    registry, urlconf = Registry(), urlconf_of([path("users/", Users.as_view())])
    assert registry.tool("users_list", urlconf).title == "List users"
    with override_settings(LANGUAGE_CODE="de"):
        assert "Benutzer" in registry.tool("users_list", urlconf).title


def test_a_generated_docstring_is_not_used_in_any_language(tools_of, settings):
    settings.LANGUAGE_CODE = "de"
    view = type("Stock", (Users,), {"__doc__": "API endpoint that allows users to be viewed."})
    tool = tools_of(path("users/", view.as_view()))["users_list"]
    assert "API endpoint" not in tool.description


def test_an_argument_with_the_name_of_its_list_does_not_name_the_list_in_any_language(
    tools_of, settings
):
    settings.LANGUAGE_CODE = "de"
    tools = tools_of(path("users/", Users.as_view()), path("logs/", NewLog.as_view()))
    assert "users_list" not in str(tools["logs_create"].input_schema["properties"]["user"])
