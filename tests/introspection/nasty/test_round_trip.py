"""A view accepts arguments that are made from the schema of its tool."""

from __future__ import annotations

import json

import pytest
from django.test import RequestFactory
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request

from drf_mcp.exposure import registry
from tests.introspection.generated import values
from tests.introspection.nasty import fields
from tests.introspection.nasty.endpoints import ENDPOINTS
from tests.parity.answers import observed
from tests.parity.shop_requests import REQUESTS, rows_of_alice

# Codes of conditions that a schema cannot express.
UNSAYABLE = {"unique", "does_not_exist", "no_match"}
SERIALIZERS = [
    fields.Scalars,
    fields.Choices,
    fields.Composites,
    fields.Order,
    fields.Node,
    fields.Account,
    fields.Dropping,
    fields.People,
    fields.Renamed,
]
TOOLS = ["orders_create", "customers_create", "tickets_create"]


def codes(details):
    if isinstance(details, dict):
        details = list(details.values())
    if isinstance(details, list):
        return {code for detail in details for code in codes(detail)}
    return {details.code}


def read(call):
    request = RequestFactory().generic(
        "POST", "/", bytes(call.body), content_type=call.content_type or "application/json"
    )
    return Request(request, parsers=[JSONParser(), MultiPartParser(), FormParser()]).data


def assert_taken(tool, arguments):
    partial = tool.endpoint.method == "PATCH"
    context = {"request": tool.view.request, "view": tool.view}
    serializer_class = tool.view.get_serializer_class()
    arguments.pop("none", None)  # it has no choices
    data = read(tool.bind(arguments))
    serializer = serializer_class(data=data, partial=partial, context=context)
    if not serializer.is_valid():
        assert codes(serializer.errors) <= UNSAYABLE, (arguments, serializer.errors)


def tool_for(serializer):
    return next(
        tool
        for tool in registry.tools().values()
        if getattr(tool.endpoint.view_class, "serializer_class", None) is serializer
        and tool.endpoint.method == "POST"
    )


@pytest.fixture
def all_of_json_schema(nasty):
    nasty(PORTABLE=False)


# To make whole bodies takes long.
few = settings(max_examples=max(5, settings.default.max_examples // 3))


@pytest.mark.slow
@few
@pytest.mark.parametrize("serializer", SERIALIZERS)
@given(data=st.data())
def test_a_view_accepts_values_of_the_schema(all_of_json_schema, serializer, data):
    tool = tool_for(serializer)
    assert_taken(tool, data.draw(values(tool.input_schema)))


@few
@pytest.mark.parametrize("serializer", [fields.Choices, fields.Order, fields.Node])
@given(data=st.data())
def test_a_view_accepts_values_of_the_portable_schema(nasty, serializer, data):
    tool = tool_for(serializer)
    assert_taken(tool, data.draw(values(tool.input_schema)))


@pytest.fixture
def shop(db, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "PORTABLE": False}


@few
@pytest.mark.parametrize("name", TOOLS)
@given(data=st.data())
def test_views_of_the_example_project_accept_values_of_the_schema(shop, name, data):
    tool = registry.tool(name)
    assert_taken(tool, data.draw(values(tool.input_schema)))


def test_samples_with_values_of_json_types_are_valid(all_of_json_schema):
    """Other samples have numbers or booleans as text, which HTTP accepts."""
    spelled = {"order", "node", "named", "lines", "pets", "account", "camel", "papers", "bundle"}
    tools = {tool.endpoint.route.path: tool for tool in registry.tools().values()}
    for endpoint in ENDPOINTS:
        if endpoint.name in spelled:
            tool = tools[f"/{endpoint.name.replace('_', '-')}/"]
            for sample in endpoint.samples:
                Draft202012Validator(tool.input_schema).validate(sample.sent)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["full", "data"])
def test_every_answer_of_the_example_project_is_valid_by_its_output_schema(
    agent_of, settings, kind
):
    """The agent validates every answer by its tool's outputSchema."""
    settings.DRF_MCP = {**settings.DRF_MCP, "OUTPUT_SCHEMA": kind}
    agent, rows = agent_of("carol"), rows_of_alice()
    typed = 0
    served = registry.tools()
    # PUT is no tool where PATCH is one.
    requests = {request.tool: request for request in REQUESTS if request.tool in served}
    for request in requests.values():
        sent = request.about(rows)
        schema = served[sent.tool].schema.output
        typed += bool(schema.get("properties"))
        json.dumps(schema)
        observed(lambda sent=sent: agent.call_with(sent.tool, sent.arguments))
    assert typed > 15
