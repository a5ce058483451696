"""Body fields that a project declares in addition to those of the serializer."""

from __future__ import annotations

import json

import pytest
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.errors import ArgumentsRefused

DECLARED = {"token": {"type": "string", "required": True}, "ids": {"type": "array"}}


class NameSerializer(serializers.Serializer):
    name = serializers.CharField()


@mcp_tool(body=DECLARED)
class Named(generics.CreateAPIView):
    serializer_class = NameSerializer


@mcp_tool(body={**DECLARED, "name": {"type": "string", "description": "Mine."}})
class Renamed(generics.CreateAPIView):
    serializer_class = NameSerializer


@mcp_tool(body=DECLARED)
class Anything(APIView):
    def post(self, request):
        return request.data


@pytest.fixture
def tool_of(tools_of):
    def tool(view):
        return next(iter(tools_of(path("x/", view.as_view())).values()))

    return tool


def test_declared_fields_are_added_to_the_serializers(tool_of):
    tool = tool_of(Named)
    assert list(tool.input_schema["properties"]) == ["name", "token", "ids"]
    assert tool.input_schema["required"] == ["name", "token"]
    assert tool.input_schema["properties"]["ids"]["items"]["type"] == "string"
    call = tool.bind({"name": "a", "token": "b", "ids": [1]})
    assert json.loads(call.body) == {"name": "a", "token": "b", "ids": [1]}


def test_a_declared_field_replaces_the_serializers(tool_of):
    schema = tool_of(Renamed).input_schema
    assert schema["properties"]["name"] == {"type": "string", "description": "Mine."}
    assert schema["required"] == ["token"]


def test_declared_fields_are_the_only_ones_of_an_open_body(tool_of):
    tool = tool_of(Anything)
    assert list(tool.input_schema["properties"]) == ["token", "ids"]
    assert json.loads(tool.bind({"token": "b"}).body) == {"token": "b"}
    with pytest.raises(ArgumentsRefused):
        tool.bind({"body": {}})
