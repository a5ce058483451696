"""The call that ``mcp_tools show NAME`` prints, pasted into a shell."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import path
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.management.tool_list import write_call
from drf_mcp.tools import registry


class Noted(serializers.Serializer):
    text = serializers.ChoiceField(["it's 5 > 4", "b"])
    code = serializers.ChoiceField(["70"])


class Notes(APIView):
    permission_classes = [AllowAny]
    serializer_class = Noted

    def post(self, request) -> Response:
        return Response(request.data)


@pytest.fixture
def command(expose, settings):
    def command(view, user=None, **mcp_settings) -> str:
        settings.DRF_MCP = {}
        expose(path("thing/", view.as_view()), EXCLUDE=["content_retrieve"], **mcp_settings)
        (tool,) = registry.tools().values()
        return write_call(tool, user)

    return command


def test_texts_that_a_shell_or_json_would_read_in_their_own_way_are_quoted(command):
    line = command(Notes)
    assert line.endswith("""'text=it'"'"'s 5 > 4' 'code="70"' --as USERNAME""")


def test_the_caller_is_the_user_who_was_named(command):
    assert command(Notes, User(username="plain")).endswith("--as plain")
    assert command(Notes, User(username="-odd")).endswith("--as=-odd")


def test_grouped_arguments_are_one_object(command):
    assert """'{"body": {"text": """ in command(Notes, ARGUMENTS="grouped")


def test_the_arguments_are_of_the_right_kind(command):
    own = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    declared = mcp_tool(input_schema=own)(type("Declared", (Notes,), {}))
    assert command(declared).endswith("thing a=1 --as USERNAME")
