"""``OUTPUT_SCHEMA = \"data\"`` describes the data of the view without its envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.urls import include, path
from jsonschema import Draft202012Validator
from rest_framework import serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from tests.agents import Agent

pytestmark = pytest.mark.django_db


class GroupSerializer(serializers.ModelSerializer):
    description = serializers.CharField(source="name", help_text="A word for people.")

    class Meta:
        model = Group
        fields = ["id", "name", "description"]


class Groups(viewsets.ReadOnlyModelViewSet):
    queryset = Group.objects.order_by("pk")
    permission_classes = []
    serializer_class = GroupSerializer


@mcp_tool(name="free")
class Free(APIView):
    permission_classes = []

    def get(self, request: Any) -> Response:
        return Response({"anything": 1})


@pytest.fixture(params=[OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope])
def agent(request, expose, client) -> Agent:
    router = SimpleRouter()
    router.register("groups", Groups)
    expose(
        path("", include(router.urls)),
        path("free/", Free.as_view()),
        OUTPUT_SCHEMA="data",
        ENVELOPE_CLASS=request.param,
    )
    return Agent(client)


def test_answers_and_errors_are_valid_by_the_output_schema(agent):
    made = Group.objects.create(name="staff")
    tools = agent.tools()
    for name, arguments in (
        ("groups_list", {}),
        ("groups_retrieve", {"id": made.pk}),
        ("groups_retrieve", {"id": made.pk + 1}),
    ):
        result = agent.call(name, **arguments).raw
        schema = tools[name].get("outputSchema")
        assert ("structuredContent" in result) is (schema is not None)
        if schema is not None:
            Draft202012Validator(schema).validate(result["structuredContent"])


def test_the_schema_has_the_fields_without_descriptions(expose, client):
    router = SimpleRouter()
    router.register("groups", Groups)
    expose(path("", include(router.urls)), OUTPUT_SCHEMA="data")
    schema = Agent(client).tools()["groups_retrieve"]["outputSchema"]
    assert set(schema["properties"]) == {"data"}
    assert set(schema["properties"]["data"]["properties"]) == {"id", "name", "description"}
    assert "A word for people" not in json.dumps(schema)
