"""The exchanges of the contract for plain text results, byte for byte."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import mcp_types
import pytest
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.envelopes import PlainEnvelope, error_response
from drf_mcp.outcomes import Category, Failure, Outcome
from tests.agents import REVISIONS
from tests.dispatch.views import answering
from tests.envelopes.samples import NOT_FOUND, encode

ALICE = {"id": 1, "name": "Alice", "email": "alice@example.com"}


class Customer(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    email = serializers.EmailField()


class Customers(viewsets.ViewSet):
    permission_classes = []

    def list(self, request) -> Response:
        return Response(Customer([ALICE], many=True).data)

    def retrieve(self, request, pk: str) -> Response:
        raise NotFound()


@pytest.fixture
def exchange(expose, agent_of):
    router = SimpleRouter()
    router.register("customers", Customers, "customer")
    expose(path("", include(router.urls)), ARGUMENTS="grouped", ENVELOPE_CLASS=PlainEnvelope)
    agent = agent_of(None, revision="2025-06-18")

    def send(message: dict[str, Any]) -> dict[str, Any]:
        response = agent.post(message, {"MCP-Protocol-Version": "2025-06-18"})
        answer = json.loads(response.content)
        # The only member that is not in the contract, for finding the call in the log.
        assert answer.get("result", {}).pop("_meta", {}).keys() <= {"request_id"}
        return answer

    return send


def test_a_successful_tool_call(exchange):
    request = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "customers_list", "arguments": {}},
        "id": 1,
    }
    assert exchange(request) == {
        "jsonrpc": "2.0",
        "result": {
            "content": [
                {
                    "type": "text",
                    "text": '[{"id": 1, "name": "Alice", "email": "alice@example.com"}]',
                }
            ]
        },
        "id": 1,
    }


def test_a_failed_tool_call(exchange):
    request = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "customers_retrieve", "arguments": {"kwargs": {"pk": "999999"}}},
        "id": 2,
    }
    text = "Error executing tool: ViewSet returned error: {'detail': 'Not found.'}"
    assert exchange(request) == {
        "jsonrpc": "2.0",
        "result": {"content": [{"type": "text", "text": text}], "isError": True},
        "id": 2,
    }


def test_a_method_that_does_not_exist(exchange):
    assert exchange({"jsonrpc": "2.0", "method": "invalid_method", "params": {}, "id": 3}) == {
        "jsonrpc": "2.0",
        "error": {"code": -32601, "message": "Method not found: invalid_method"},
        "id": 3,
    }


def test_a_message_that_cannot_be_parsed_has_no_id(exchange, agent_of):
    answer = json.loads(agent_of(None).post(b"{").content)
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert "result" not in answer


def test_each_sentence_of_an_error_ends(thing):
    expected = {
        "spec_id is required": "spec_id is required. Give one.",
        "Is it open?": "Is it open? Give one.",
        "It is \u201copen.\u201d": "It is \u201copen.\u201d Give one.",
        "\u627e\u4e0d\u5230\u3002": "\u627e\u4e0d\u5230\u3002 Give one.",
    }
    for message, text in expected.items():
        result = thing.answer_with(error_response(message, remediation="Give one")).call("plain")
        assert result.raw["content"][0]["text"] == f"Error executing tool: {text}"


def test_the_request_id_is_in_the_meta_of_the_result(exchange, agent_of, caplog):
    caplog.set_level("INFO", "drf_mcp.calls")
    for revision in REVISIONS:
        agent = agent_of(None, revision=revision)
        for name, arguments in (("customers_list", {}), ("customers_retrieve", {"pk": "1"})):
            caplog.clear()
            raw = agent.call(name, **({"kwargs": arguments} if arguments else {})).raw
            assert raw["_meta"]["request_id"] == caplog.records[0].request_id


CONFLICT = Failure("CONFLICT", Category.CONFLICT, "Not now.", "", soft=True)
TEXTS: dict[str, Outcome] = {
    '"Error executing tool"': Outcome("t", 200, "Error executing tool"),
    '{"detail": "Not now."}': Outcome("t", 200, failure=CONFLICT),
    '{"data": [1]}': Outcome("t", 200, [1], replace(CONFLICT, body={"data": [1]})),
    "Error executing tool: ViewSet returned error: {'items': [{}, {'name': 'Not found.'}]}": (
        replace(NOT_FOUND, data={"items": [{}, {"name": NOT_FOUND.data["detail"]}]})
    ),
}


def test_the_text_of_a_body():
    found = {text: PlainEnvelope().texts(outcome, encode)[0] for text, outcome in TEXTS.items()}
    assert found == {text: text for text in TEXTS}


def test_the_reading_pattern_works(serve):
    class Question(serializers.Serializer):
        question = serializers.CharField()

    def ask(request) -> Response:
        Question(data=request.data).is_valid(raise_exception=True)
        return Response({"answer": "A good action movie", "context_document_count": 5})

    view = answering(ask, "POST")
    view.cls.serializer_class = Question
    served = serve(view)
    raw = served.call("plain", question="your query").raw
    call = mcp_types.CallToolResult.model_validate(raw)
    result = call.content
    assert isinstance(result, list)
    assert len(result) == 1
    assert hasattr(result[0], "text")
    parsed = json.loads(result[0].text)
    assert parsed["answer"] == "A good action movie"
    assert isinstance(parsed["context_document_count"], int)
