"""The example call that ``mcp_tools show NAME`` prints for a shell."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from rest_framework import serializers
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.exposure import registry
from drf_mcp.management.tool_reports import find_example_call, write_call


class NoteSerializer(serializers.Serializer):
    text = serializers.ChoiceField(["it's 5 > 4", "b"])
    code = serializers.ChoiceField(["70"])


class Notes(APIView):
    permission_classes = [AllowAny]
    serializer_class = NoteSerializer

    def post(self, request) -> Response:
        return Response(request.data)


class IsOdd(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.user.get_username() == "-odd"


class Odd(Notes):
    permission_classes = [IsOdd]


class GroupSerializer(serializers.Serializer):
    group = serializers.PrimaryKeyRelatedField(queryset=Group.objects.all())


class Members(Notes):
    serializer_class = GroupSerializer


@pytest.fixture
def command(expose, settings):
    def command(view, user=None, **mcp_settings) -> str:
        settings.DRF_MCP = {}
        expose(
            path("thing/", view.as_view()),
            PERMISSION_CLASSES=["rest_framework.permissions.AllowAny"],
            EXCLUDE=["content_retrieve"],
            **mcp_settings,
        )
        (tool,) = registry.tools().values()
        return write_call(tool, find_example_call(tool, user))

    return command


@pytest.mark.django_db
def test_values_are_quoted_for_the_shell_and_for_json(command):
    line = command(Notes)
    assert line.endswith("""'text=it'"'"'s 5 > 4' 'code="70"'""")


@pytest.mark.django_db
def test_the_caller_is_one_who_may_call(command):
    assert command(Odd).endswith("--as USERNAME")
    User.objects.create(username="-odd")
    User.objects.create(username="plain")
    assert command(Odd).endswith("--as=-odd")
    assert "--as" not in command(Notes)
    assert command(Notes, User.objects.get(username="plain")).endswith("--as plain")


@pytest.mark.django_db
def test_a_related_object_is_a_key_that_exists(command):
    Group.objects.create(pk=77, name="novels")
    assert command(Members).endswith("thing group=77")


@pytest.mark.django_db
def test_grouped_arguments_are_one_object(command):
    Group.objects.create(pk=78, name="novels")
    words = command(Members, ARGUMENTS="grouped")
    assert words.endswith("""'{"body": {"group": 78}}'""")


def test_without_a_database_the_arguments_have_the_right_types(command):
    own = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    declared = mcp_tool(input_schema=own)(type("Declared", (Odd,), {}))
    assert command(declared).endswith("thing a=1 --as USERNAME")
