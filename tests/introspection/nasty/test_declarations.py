"""Options of mcp_tool for one tool, and the tools that arguments refer to."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import path
from rest_framework import generics, serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.exposure import mcp_tool, registry
from tests.agents import Agent
from tests.introspection.inspected import bare
from tests.introspection.nasty.views import Plain


class Person(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "groups", "date_joined"]


class Team(serializers.Serializer):
    lead = serializers.PrimaryKeyRelatedField(queryset=User.objects.all())
    named = serializers.SlugRelatedField("username", queryset=User.objects.all(), required=False)
    groups = serializers.PrimaryKeyRelatedField(queryset=Group.objects.all(), many=True)
    rows = Person(many=True, required=False)


class People(viewsets.ReadOnlyModelViewSet):
    permission_classes = []
    queryset = User.objects.order_by("pk")
    serializer_class = Person
    filterset_fields = ["groups"]


class Teams(generics.CreateAPIView):
    permission_classes = []
    serializer_class = Team


class Reads(Plain):
    def get(self, request):
        return Response(
            {"query": request.query_params.dict(), "ids": request.query_params.getlist("ids")}
        )

    def post(self, request):
        return Response({"got": request.data})


router = SimpleRouter()
router.register("people", People)


@pytest.fixture
def expose_tool(expose):
    def serve(method, view_class=Reads, /, **options):
        expose(path("said/", mcp_tool(**options)(type("Said", (view_class,), {})).as_view()))
        tools = registry.tools().values()
        return next(tool for tool in tools if tool.endpoint.method == method)

    return serve


@pytest.fixture
def words_of(expose):
    """Returns a function that gives the schema of an argument of teams_create."""
    expose(*router.urls, path("teams/", Teams.as_view()))
    properties = registry.tool("teams_create").input_schema["properties"]
    return lambda name: properties[name]


def test_a_foreign_key_names_the_tool_that_lists_its_objects(words_of):
    assert words_of("lead")["description"].endswith("From people_list.")
    assert words_of("named")["description"].endswith("The username of a user, from people_list.")


def test_foreign_keys_in_nested_rows_name_a_tool(expose):
    class Rows(serializers.Serializer):
        teams = Team(many=True)

    expose(
        *router.urls,
        path("rows/", Teams.as_view(serializer_class=Rows)),
    )
    teams = registry.tool("rows_create").input_schema["properties"]["teams"]
    assert "people_list" in teams["items"]["properties"]["lead"]["description"]


def test_query_parameters_may_be_declared(expose_tool):
    schema = {"depth": {"type": "integer", "required": True}, "ids": {"type": "array"}}
    tool = expose_tool("GET", query=schema)
    assert tool.input_schema["properties"].pop("fields")
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "depth": {"type": "integer"},
            "ids": {
                "type": "array",
                "items": {"type": "string", "description": "Any JSON value."},
            },
        },
        "required": ["depth"],
    }
    answer = Agent(Client()).call(tool.name, depth=2, ids=[1, 2])
    assert answer.data == {"query": {"depth": "2", "ids": "2"}, "ids": ["1", "2"]}


def test_a_declared_input_schema_is_listed_unchanged_and_bound(expose_tool):
    written = {
        "type": "object",
        "properties": {"a": {"oneOf": [{"type": "string"}, {"const": 1}]}, "b": True},
        "x-own": None,
    }
    tool = expose_tool("POST", input_schema=written)
    assert tool.definition(None)["inputSchema"] == written
    assert Agent(Client()).result("tools/call", name=tool.name, arguments={"a": 1, "b": [2]})[
        "structuredContent"
    ]["data"] == {"got": {"a": 1, "b": [2]}}


def test_one_tool_may_use_all_of_json_schema(expose_tool):
    people = type("People", (Teams,), {"serializer_class": Person})
    assert bare(
        expose_tool("POST", people, portable=False).input_schema["properties"]["groups"]
    ) == {
        "type": "array",
        "items": {"type": "integer"},
    }
    own = type("Own", (serializers.Serializer,), {"day": serializers.DateField(allow_null=True)})
    dated = type("Dated", (Teams,), {"serializer_class": own})
    day = expose_tool("POST", dated, portable=False).input_schema["properties"]["day"]
    assert day == {"type": ["string", "null"], "format": "date"}


def output(tool):
    (definition,) = [
        d for d in Agent(Client()).result("tools/list")["tools"] if d["name"] == tool.name
    ]
    return definition.get("outputSchema")


def success(schema):
    return schema["anyOf"][0]["properties"]["data"]


class Listed(generics.ListAPIView):
    permission_classes = []
    queryset = User.objects.order_by("pk")
    serializer_class = Person


def test_the_output_schema_of_one_tool_may_be_the_envelope(expose_tool, db):
    assert success(output(expose_tool("GET", Listed, output_schema="envelope"))) == {
        "type": "object"
    }


def test_one_tool_may_have_no_output_schema(expose_tool, db):
    assert output(expose_tool("GET", output_schema=None)) is None
