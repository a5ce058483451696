"""Arguments that clients repeat in HTTP headers (``x-mcp-header``), and the check of both."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import (
    find_invalid_x_mcp_header,
    mcp_param_headers,
    validate_mcp_param_headers,
)
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.exposure import Registry, registry
from drf_mcp.protocol.eras import check_arguments, repeat_arguments
from tests.agents import Agent

TEXT = {"type": "string", "x-mcp-header": "Region"}


def with_member(schema: dict[str, Any], name: str = "region", **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, **more}


WRONG: dict[str, dict[str, Any]] = {
    "empty": with_member({**TEXT, "x-mcp-header": ""}),
    "space": with_member({**TEXT, "x-mcp-header": "My Region"}),
    "not ASCII": with_member({**TEXT, "x-mcp-header": "Région"}),
    "no text": with_member({**TEXT, "x-mcp-header": 5}),
    "number": with_member({"type": "number", "x-mcp-header": "Ratio"}),
    "untyped": with_member({"x-mcp-header": "Region"}),
    "nullable": with_member({"type": ["string", "null"], "x-mcp-header": "Region"}),
    "root": {"type": "object", "x-mcp-header": "All"},
    "items": with_member({"type": "array", "items": TEXT}),
    "anyOf": with_member({"anyOf": [TEXT, {"type": "null"}]}),
    "not": with_member({"not": TEXT}),
    "$defs": with_member({"$ref": "#/$defs/region"}, **{"$defs": {"region": TEXT}}),
    "patternProperties": {"type": "object", "patternProperties": {"^r": TEXT}},
    "twice": {"type": "object", "properties": {"a": TEXT, "b": {**TEXT, "x-mcp-header": "REGION"}}},
    "twice, nested": {
        "type": "object",
        "properties": {"a": TEXT, "b": {"type": "object", "properties": {"c": TEXT}}},
    },
}
# The specification leaves it to the server to refuse these.
UNWISE: dict[str, dict[str, Any]] = {
    "password": with_member(TEXT, "password"),
    "secret header": with_member({**TEXT, "x-mcp-header": "Api-Key"}),
    "write only": with_member({**TEXT, "writeOnly": True}),
    "underscore": with_member({**TEXT, "x-mcp-header": "My_Region"}),
}
RIGHT: dict[str, tuple[dict[str, Any], dict[tuple[str, ...], str]]] = {
    "none": (with_member({"type": "string"}), {}),
    "string": (with_member(TEXT), {("region",): "Region"}),
    "integer": (with_member({**TEXT, "type": "integer"}), {("region",): "Region"}),
    "boolean": (with_member({**TEXT, "type": "boolean"}), {("region",): "Region"}),
    "any token": (
        with_member({**TEXT, "x-mcp-header": "!#$%&'*+-.^`|~9aZ"}),
        {("region",): "!#$%&'*+-.^`|~9aZ"},
    ),
    "nested": (
        with_member({"type": "object", "properties": {"region": TEXT}}, "query"),
        {("query", "region"): "Region"},
    ),
    "an argument of this name": (with_member({"type": "string"}, "x-mcp-header"), {}),
    "data": (with_member({"type": "object", "default": {"x-mcp-header": "No"}}), {}),
}


def test_an_x_mcp_header_that_clients_refuse_is_a_configuration_error(subtests):
    for schema in WRONG.values():
        with subtests.test(schema=schema):
            assert find_invalid_x_mcp_header(schema)
            with pytest.raises(ImproperlyConfigured, match="x-mcp-header"):
                mcp_tool(input_schema=schema)


def test_an_x_mcp_header_that_shows_a_secret_or_that_wsgi_drops_is_a_configuration_error(subtests):
    for schema in UNWISE.values():
        with subtests.test(schema=schema):
            with pytest.raises(ImproperlyConfigured, match="x-mcp-header"):
                mcp_tool(input_schema=schema)


def test_declared_parameters_and_fields_are_checked(subtests):
    for option in ["query", "body"]:
        with subtests.test(option=option):
            wrong = {option: {"region": {**TEXT, "x-mcp-header": "My Region"}}}
            with pytest.raises(ImproperlyConfigured, match=r"of .*region"):
                mcp_tool(**wrong)
            with pytest.raises(ImproperlyConfigured, match=r"of .*region"):
                Registry().register(APIView, **wrong)


# --- Client and server --------------------------------------------------------------------

NAMES = {("region",): "Region", ("inner", "count"): "Count", ("flag",): "Flag"}
SCHEMA = {
    "type": "object",
    "properties": {
        "region": TEXT,
        "inner": {
            "type": "object",
            "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}},
        },
        "flag": {"type": "boolean", "x-mcp-header": "Flag"},
    },
}
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text().filter(lambda text: text.isprintable() or text.isascii())
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "region": scalars,
        "inner": st.fixed_dictionaries({}, optional={"count": scalars}) | scalars,
        "flag": scalars,
    },
)


@given(arguments)
def test_the_official_client_and_ours_send_the_same_headers(sent):
    check_arguments(mcp_param_headers(NAMES, sent), sent, NAMES)
    assert validate_mcp_param_headers(SCHEMA, sent, repeat_arguments(sent, NAMES)) is None


# --- Calls --------------------------------------------------------------------------------


@mcp_tool(query={"region": TEXT, "count": {"type": "integer", "x-mcp-header": "Count"}})
class Regions(APIView):
    """Return the region."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response(request.query_params)


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("regions/", Regions.as_view()))
    return Agent(Client())


def called(agent: Agent, sent: dict[str, Any], **headers: str):
    message, framed = agent.frame("tools/call", {"name": "regions", "arguments": sent})
    further = {f"Mcp-Param-{name}": value for name, value in headers.items()}
    return agent.post(message, {**framed, **further})


def test_the_tool_lists_the_arguments_that_have_headers(agent):
    members = agent.tools()["regions"]["inputSchema"]["properties"]
    assert members["region"]["x-mcp-header"] == "Region"
    assert registry.tools()["regions"].header_parameters == {
        ("region",): "Region",
        ("count",): "Count",
    }


def test_a_call_with_equal_headers_is_answered(subtests, agent):
    for sent, headers in [
        ({}, {}),
        ({"region": "us-west1"}, {"Region": "us-west1"}),
        ({"region": "us-west1", "count": 3}, {"REGION": " us-west1 ", "Count": "3"}),
        ({"region": "ü"}, {"Region": "=?base64?w7w=?="}),
        ({"count": 3}, {"Count": "3.0"}),
    ]:
        with subtests.test(sent=sent, headers=headers):
            assert "result" in json.loads(called(agent, sent, **headers).content)


def test_a_call_with_different_headers_is_a_header_mismatch(subtests, agent):
    for sent, headers in [
        ({"region": "us-west1"}, {}),
        ({"region": "us-west1"}, {"Region": "US-WEST1"}),
        ({"region": "us-west1"}, {"Region": "=?base64?!!?="}),
        ({"region": "ü"}, {"Region": "ü"}),
        ({}, {"Region": "us-west1"}),
        ({"count": 3}, {"Count": "4"}),
    ]:
        with subtests.test(sent=sent, headers=headers):
            response = called(agent, sent, **headers)
            answer = json.loads(response.content)
            assert (response.status_code, answer["id"], answer["error"]["code"]) == (400, 7, -32020)


def test_handshake_revisions_need_no_headers(subtests, agent):
    for revision in ["2025-11-25", "2025-06-18"]:
        with subtests.test(revision=revision):
            agent.revision = revision
            assert "result" in json.loads(called(agent, {"region": "us-west1"}).content)


def test_a_caller_without_credentials_gets_401_before_headers_are_checked(agent, settings):
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    }
    assert called(agent, {"region": "us-west1"}).status_code == 401
