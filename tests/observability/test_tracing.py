"""Spans that follow OpenTelemetry's semantic conventions for MCP."""

from __future__ import annotations

import json

import pytest
from django.urls import path
from opentelemetry import baggage, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.arguments.errors import MASK
from tests.agents import STATELESS

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
OTHER_TRACE = "1" * 32


class Traced(APIView):
    """Answer with OpenTelemetry's current context in a view."""

    permission_classes = []

    def get(self, request) -> Response:
        context = trace.get_current_span().get_span_context()
        return Response({"trace": f"{context.trace_id:032x}", "tenant": baggage.get_baggage("t")})


@pytest.fixture
def spans(monkeypatch):
    """The spans that have ended, of a process that records them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter.get_finished_spans


@pytest.fixture
def span(spans):
    def only():
        (found,) = spans()
        return found

    return only


@pytest.fixture
def in_view(agent, expose, spans):
    expose(path("traced/", Traced.as_view()))

    def call(headers=None, **meta):
        message, own = agent.frame("tools/call", {"name": "traced", "_meta": meta})
        answer = agent.post(message, {**own, **(headers or {})})
        return json.loads(answer.json()["result"]["content"][0]["text"])["data"]

    return call


def test_a_call_is_a_span_of_the_server(agent, span):
    agent.result("tools/call", name="queries")
    assert (span().name, span().kind) == ("tools/call queries", SpanKind.SERVER)
    attributes = dict(span().attributes)
    assert attributes.pop("drf_mcp.request_id").startswith("req_")
    assert attributes == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": STATELESS,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "queries",
        "jsonrpc.request.id": "7",
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "drf_mcp.outcome": "success",
        "drf_mcp.status": 200,
    }
    assert span().status.status_code is StatusCode.UNSET


def test_a_failure_is_a_tool_error_and_a_soft_failure_is_not(agent, spans):
    for tool, outcome, error_type, status in (
        ("crashes", "internal_error", "tool_error", StatusCode.ERROR),
        ("declines", "soft_failure", None, StatusCode.UNSET),
    ):
        agent.result("tools/call", name=tool)
        span = spans()[-1]
        assert span.attributes.get("error.type") == error_type
        assert span.attributes["drf_mcp.outcome"] == outcome
        assert span.status.status_code is status
        assert "inside" not in span.to_json()


def test_a_jsonrpc_error_has_its_code_and_message(agent, span):
    message = agent.error("tools/call", name="nothing")["message"]
    assert span().name == "tools/call"
    assert span().attributes["error.type"] == "-32602"
    assert span().attributes["rpc.response.status_code"] == "-32602"
    assert "gen_ai.tool.name" not in span().attributes
    assert span().status.description == message


def test_the_parent_and_the_baggage_come_from_meta(in_view, span):
    seen = in_view(traceparent=TRACEPARENT, baggage="t=blue")
    assert seen == {"trace": TRACE, "tenant": "blue"}
    assert f"{span().parent.span_id:016x}" == PARENT
    assert span().parent.is_remote


def test_without_meta_the_parent_comes_from_the_http_headers(in_view):
    other = f"00-{OTHER_TRACE}-{PARENT}-01"
    assert in_view(headers={"traceparent": TRACEPARENT})["trace"] == TRACE
    assert in_view(headers={"traceparent": other}, traceparent=TRACEPARENT)["trace"] == TRACE


def test_arguments_are_on_the_span_if_they_may_be_logged(agent, configure, spans):
    for logs in (True, False):
        configure(LOG_ARGUMENTS=logs)
        agent.result("tools/call", name="cards", arguments={"title": "x", "note": "between us"})
    found = [span.attributes.get("gen_ai.tool.call.arguments") for span in spans()]
    assert found == [json.dumps({"title": "x", "note": MASK}), None]


def test_a_span_that_cannot_be_started_does_not_fail_the_call(agent, spans, monkeypatch, caplog):
    def fail(*args) -> None:
        raise RuntimeError("a propagator's own trouble")

    monkeypatch.setattr("opentelemetry.propagate.extract", fail)
    assert agent.call("queries").data == {"groups": 0}
    assert "A span could not be started" in caplog.text
    assert spans() == ()


def test_nothing_is_recorded_without_a_tracer_provider(agent, monkeypatch):
    monkeypatch.setattr("drf_mcp.observability.tracing.ServerSpan", None)
    assert agent.call("queries").data == {"groups": 0}
