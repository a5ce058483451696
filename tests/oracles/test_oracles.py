"""The oracles accept the examples of the contract and refuse every violation."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from jsonschema import ValidationError
from rest_framework.response import Response

from drf_mcp.envelopes import OkEnvelope, ResponseV2Envelope
from drf_mcp.renderers import EnvelopeJSONRenderer
from drf_mcp.test import MCPClient
from tests.agents import Agent
from tests.dispatch.views import answering
from tests.oracles.contract import judge_response_v2
from tests.oracles.watching import Watch, Watched

META = {"version": "response-v2", "request_id": "req_abc123"}
PARTIAL: dict[str, Any] = {
    "success": True,
    "data": {
        "research_id": "research-001",
        "findings": [{"id": "finding-001", "title": "Primary result", "content": "..."}],
        "total_findings": 5,
    },
    "error": None,
    "meta": {
        **META,
        "content_fidelity_schema_version": "1.0",
        "content_fidelity": "partial",
        "dropped_content_ids": ["finding-003", "finding-004", "finding-005"],
        "content_archive_hashes": {"findings-archive": "sha256:e3b0c44298fc1c149afbf4c8996fb924"},
        "warnings": ["3 findings omitted due to token limits"],
    },
}
WARNED: dict[str, Any] = {
    "success": True,
    "data": {"results": []},
    "error": None,
    "meta": {
        **META,
        "warnings": ["Cache data is 2 hours old"],
        "warning_details": [
            {
                "code": "STALE_CACHE",
                "severity": "warning",
                "message": "Cache data is 2 hours old",
                "context": {"cache_age_seconds": 7200, "max_freshness_seconds": 3600},
            }
        ],
        "pagination": {"cursor": "c2", "has_more": True, "total_count": 9},
        "telemetry": {"duration_ms": 3.5},
    },
}
REQUIRED: dict[str, Any] = {
    "success": False,
    "data": {
        "error_code": "VALIDATION_ERROR",
        "error_type": "validation",
        "remediation": "Provide a non-empty spec_id parameter",
        "details": {"field": "spec_id", "constraint": "required", "received": None},
    },
    "error": "Validation failed: spec_id is required",
    "meta": META,
}
LIMITED: dict[str, Any] = {
    "success": False,
    "data": {
        "error_code": "RATE_LIMIT_EXCEEDED",
        "error_type": "rate_limit",
        "remediation": "Wait 45 seconds before retrying. Consider batching requests.",
        "retry_after_seconds": 45,
    },
    "error": "Rate limit exceeded: 100 requests per minute",
    "meta": {
        **META,
        "rate_limit": {"limit": 100, "remaining": 0, "reset_at": "2026-09-21T14:13:20Z"},
    },
}
DIGEST = {
    "version": "1.0",
    "content_type": "digest/v1",
    "query_hash": "ab12cd34",
    "summary": "Condensed summary of the source content...",
    "key_points": ["First key insight extracted from the document"],
    "evidence_snippets": [
        {"text": "Exact quote", "locator": "char:1500-1650", "relevance_score": 0.85}
    ],
    "original_chars": 25000,
    "digest_chars": 2500,
    "compression_ratio": 0.10,
    "source_text_hash": "sha256:" + "0a" * 32,
}
DIGESTED: dict[str, Any] = {
    "success": True,
    "data": {"sources": [{"content": json.dumps(DIGEST)}, {"content": DIGEST}]},
    "error": None,
    "meta": META,
}
EXAMPLES = {
    "partial": PARTIAL,
    "warned": WARNED,
    "required": REQUIRED,
    "limited": LIMITED,
    "digested": DIGESTED,
}


def test_the_examples_of_the_contract_pass():
    for example in EXAMPLES.values():
        judge_response_v2(example)


GONE = object()
WRONG: list[tuple[str, str, Any]] = [
    ("partial", "success", GONE),
    ("partial", "success", "yes"),
    ("partial", "data", []),
    ("partial", "error", "No."),
    ("partial", "more", 1),
    ("partial", "meta.version", "response-v1"),
    ("partial", "meta.version", GONE),
    ("partial", "meta.request_id", GONE),
    ("partial", "meta.request_id", "req abc"),
    ("partial", "meta.content_fidelity", "most"),
    ("partial", "meta.content_fidelity_schema_version", GONE),
    ("partial", "meta.content_archive_hashes", {"a": "md5:1"}),
    ("partial", "meta.dropped_content_ids", ["a", "a"]),
    ("partial", "meta.warnings", "old"),
    ("warned", "meta.warning_details.0.code", "stale_cache"),
    ("warned", "meta.warning_details.0.severity", "critical"),
    ("warned", "meta.warning_details.0.message", GONE),
    ("warned", "meta.pagination.cursor", 2),
    ("warned", "meta.pagination.page", 0),
    ("warned", "meta.pagination.page_size", 0),
    ("warned", "meta.pagination.total_count", -1),
    ("warned", "meta.telemetry.duration_ms", "long"),
    ("warned", "meta.telemetry.duration_ms", -1),
    ("warned", "meta.telemetry.downstream_calls", 1.5),
    ("warned", "meta.telemetry.cache_hit", "yes"),
    ("required", "error", None),
    ("required", "error", " "),
    ("required", "data.error_code", "no-such"),
    ("required", "data.error_code", GONE),
    ("required", "data.error_type", "conflict"),
    ("required", "data.error_type", "billing"),
    ("required", "data.remediation", ""),
    ("required", "data.details", []),
    ("limited", "data.error_type", "internal"),
    ("limited", "data.error_code", "SPEC_NOT_FOUND"),
    ("limited", "meta.rate_limit.reset_at", 1_790_000_000),
    ("limited", "meta.rate_limit.reset_at", "soon"),
    ("limited", "meta.rate_limit.reset_at", "2026-09-21T14:13:20"),
    ("limited", "meta.rate_limit.reset_at", "2026-02-30T14:13:20Z"),
    ("limited", "meta.rate_limit.period", 60),
    ("limited", "meta.rate_limit.remaining", -1),
    ("digested", "data.sources.1.content.query_hash", "AB"),
    ("digested", "data.sources.1.content.evidence_snippets.0.locator", "line:3"),
    ("digested", "data.sources.0.content", json.dumps({**DIGEST, "summary": "a" * 2001})),
]


def test_every_violation_of_the_contract_is_refused():
    allowed = []
    for row in WRONG:
        example, place, value = row
        envelope: Any = copy.deepcopy(EXAMPLES[example])
        *path, last = place.split(".")
        target = envelope
        for name in path:
            target = target[int(name)] if isinstance(target, list) else target[name]
        target[last] = value
        if value is GONE:
            del target[last]
        with suppress(ValidationError):
            judge_response_v2(envelope)
            allowed.append(row)
    assert allowed == []


@pytest.fixture
def own_watch(db):
    """A second watch, in addition to that of every test."""
    with (watch := Watch()).watching():
        yield watch


@pytest.fixture
def serve(expose):
    """Serve a view as the tool ``thing``, and return an agent."""

    def serve(view: Any) -> Agent:
        expose(path("thing/", view))
        return Agent(Client())

    return serve


def calls(watch: Watch) -> list[Watched]:
    """Return the watched tool results."""
    return [watched for watched in watch.messages if watched.envelope_class is not None]


@pytest.mark.parametrize("client", ["agent", "MCPClient"])
def test_the_tool_results_of_every_client_are_watched(serve, own_watch, client):
    agent = serve(answering(lambda request: Response({"a": 1})))
    if client == "agent":
        agent.call("thing")
    else:
        MCPClient(envelope_class=OkEnvelope).call_tool("thing")
    (watched,) = calls(own_watch)
    expected = ResponseV2Envelope if client == "agent" else OkEnvelope
    assert watched.envelope_class is expected
    assert watched.schema["type"] == "object"
    watched.judge()


def test_bodies_of_the_renderer_are_watched(serve, own_watch):
    view = answering(lambda request: Response({"a": 1}))
    view.cls.renderer_classes = [EnvelopeJSONRenderer]
    serve(view).http.get("/thing/")
    (body,) = own_watch.bodies
    assert json.loads(body)["data"] == {"a": 1}


def replace_result(watched: Watched, change: Any) -> Watched:
    """Return a watched message with a changed result."""
    message = json.loads(watched.body)
    change(message["result"])
    watched.body = json.dumps(message).encode()
    return watched


def set_structured(member: str, value: Any) -> Any:
    """Return a function that changes a member of the envelope in both channels."""

    def change(result: dict[str, Any]) -> None:
        result["structuredContent"][member] = value
        result["content"][0]["text"] = json.dumps(result["structuredContent"])

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda result: result["structuredContent"].update(data={}),
        lambda result: result.update(content=3),
        set_structured("error", "No."),
        set_structured("meta", {"version": "response-v2"}),
    ],
    ids=["channels", "mcp-types", "outputSchema", "contract"],
)
def test_an_invalid_result_is_refused(serve, own_watch, change):
    serve(answering(lambda request: Response({"a": 1}))).call("thing")
    (watched,) = calls(own_watch)
    with pytest.raises((AssertionError, ValueError, ValidationError)):
        replace_result(watched, change).judge()


def test_a_list_with_an_invalid_schema_is_refused(serve, own_watch):
    serve(answering(lambda request: Response({}))).tools()
    (watched,) = own_watch.messages

    def change(result: dict[str, Any]) -> None:
        result["tools"][0]["inputSchema"]["properties"] = {"a": {"minimum": "many"}}

    with pytest.raises(Exception, match="many"):
        replace_result(watched, change).judge()
