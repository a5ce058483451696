"""Any body gets valid JSON-RPC or an empty response, and never status 500."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.jsonrpc import JSONRPCResponse
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.agents import REVISIONS, STATELESS, Agent
from tests.oracles.watching import check_error

CLEAN = {200, 202, 400, 404}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)
METHODS = ["initialize", "ping", "server/discover", "tools/list", "tools/call", "nonsense"]
meta = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(REVISIONS) | values,
        "io.modelcontextprotocol/clientCapabilities": st.just({}) | values,
        "progressToken": values,
    },
)
params = st.fixed_dictionaries(
    {},
    optional={
        "_meta": meta | values,
        "name": st.sampled_from(["echo", "nope"]) | values,
        "arguments": st.dictionaries(st.sampled_from(["body", "query", "x"]), values) | values,
        "cursor": values,
        "protocolVersion": st.sampled_from(REVISIONS) | values,
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers() | values,
        "method": st.sampled_from(METHODS) | values,
        "params": params | values,
        "result": values,
        "error": values,
    },
)
plausible = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers(),
        "method": st.sampled_from(METHODS),
        "params": params,
    }
)
revisions = st.sampled_from([*REVISIONS, "", "1999-01-01", "ü"]) | st.none()


class Echo(APIView):
    """Return the body and the query."""

    permission_classes = []

    def post(self, request) -> Response:
        return Response({"body": request.data, "query": request.query_params})


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("echo/", Echo.as_view()), EXTRA_QUERY=True)
    return Agent(Client())


def check_response(response) -> None:
    assert response.status_code in CLEAN, response.content
    if not response.content:
        return
    answers = json.loads(response.content)
    for answer in answers if isinstance(answers, list) else [answers]:
        check_error(answer) if "error" in answer else JSONRPCResponse.model_validate(answer)


@given(st.binary(max_size=200), revisions)
def test_arbitrary_bytes_get_a_valid_response(agent, body, revision):
    check_response(agent.post(body, revision_header(revision)))


@given(messages | st.lists(messages | values, max_size=4) | values, revisions)
def test_arbitrary_values_get_a_valid_response(agent, value, revision):
    check_response(agent.post(value, revision_header(revision)))


@given(plausible, revisions)
def test_plausible_requests_get_a_valid_response_with_their_id(agent, message, revision):
    headers = revision_header(revision) | {"Mcp-Method": message["method"]}
    response = agent.post(message, headers)
    check_response(response)
    assert json.loads(response.content)["id"] == message["id"]


@given(values)
def test_arbitrary_arguments_give_a_result(agent, arguments):
    message, headers = agent.frame("tools/call", {"name": "echo", "arguments": arguments})
    assert "content" in agent.read("tools/call", agent.post(message, headers))["result"]


def revision_header(revision: str | None) -> dict[str, str]:
    return {} if revision is None else {"MCP-Protocol-Version": revision}


def call_with(literal: str) -> bytes:
    params = '{"name": "echo", "arguments": {"body": ' + literal + "}}"
    head = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
    return f"{head}{params}}}".encode("utf-8", "surrogatepass")


def test_json_that_parsers_read_differently_is_a_parse_error(subtests, agent):
    for literal in [
        "[" * 5000 + "]" * 5000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        "[" * 100_000,
        "1" * 5000,
        "1e999",
        "-1e999",
        "NaN",
        "Infinity",
        '"\\ud800"',
        '"\ud800"',
        '{"a": 1, "a": 2}',
        "'single'",
        "[1,]",
        '"\n"',
        "/* */ 1",
    ]:
        with subtests.test(literal=literal):
            response = agent.post(call_with(literal))
            assert response.status_code == 400
            assert json.loads(response.content)["error"]["code"] == -32700


def test_unusual_values_reach_the_view_unchanged(subtests, agent):
    for literal in [
        '"\\u0000"',
        '"a\\u0000b"',
        "123456789012345678901234567890",
        "0.1",
        '"\\ud83d\\ude00"',
        "-0",
    ]:
        with subtests.test(literal=literal):
            response = agent.post(call_with(literal), {"MCP-Protocol-Version": "2025-11-25"})
            envelope = json.loads(json.loads(response.content)["result"]["content"][0]["text"])
            assert envelope["data"]["body"] == json.loads(literal)


def test_encodings_other_than_utf_8_without_a_mark_are_parse_errors(subtests, agent):
    for encoding in ["utf-8-sig", "utf-16", "utf-32", "latin-1"]:
        with subtests.test(encoding=encoding):
            body = call_with('"ü"').decode().encode(encoding)
            response = agent.post(body)
            assert (response.status_code, json.loads(response.content)["error"]["code"]) == (
                400,
                -32700,
            )


def test_a_strange_header_is_a_mismatch(subtests, agent):
    for value in ["ü", "\x01", "a" * 9000, "=?base64?=?="]:
        with subtests.test(value=value):
            message, headers = agent.frame("tools/call", {"name": "echo"})
            assert agent.revision == STATELESS
            response = agent.post(message, {**headers, "Mcp-Name": value})
            assert (response.status_code, json.loads(response.content)["error"]["code"]) == (
                400,
                -32020,
            )
