"""The eight tools of the contract: names, arguments, answers and errors."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.projects.library.conftest import REPORTS, RETRIEVERS

LAMBDA = {"question": "What is a lambda?"}
ENVELOPES = ["ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope"]


def test_the_librarys_endpoint_has_its_eight_tools_and_the_one_that_fetches(reader):
    assert set(reader.tools()) == {*RETRIEVERS, *REPORTS, "content_retrieve"}


def test_the_shops_endpoint_has_them_too(alice):
    assert {*RETRIEVERS, *REPORTS, "documents_list", "customers_list"} <= set(alice.tools())


def test_a_retriever_takes_only_a_question(reader):
    """It is read-only, and each retriever has its own description."""
    tools = reader.tools()
    for tool in RETRIEVERS:
        schema, annotations = tools[tool]["inputSchema"], tools[tool]["annotations"]
        assert list(schema["properties"]) == schema["required"] == ["question"], tool
        assert schema["additionalProperties"] is False, tool
        hints = annotations["readOnlyHint"], annotations["destructiveHint"]
        assert hints == (True, False), tool
    assert len({tools[tool]["description"] for tool in RETRIEVERS}) == len(RETRIEVERS)


def test_the_text_block_is_the_answer_of_http(http, reader):
    for tool in RETRIEVERS:
        raw = reader.call_with(tool, LAMBDA).raw
        (block,) = raw["content"]
        parsed = json.loads(block["text"])
        kinds = {name: type(value) for name, value in parsed.items()}
        assert kinds == {"answer": str, "context_document_count": int}, tool
        assert "structuredContent" not in raw
        assert http.post(f"/api/library/{tool}/", LAMBDA).json() == parsed, tool


def test_http_refuses_query_as_in_the_contract(http):
    missing = {
        "type": "missing",
        "loc": ["body", "question"],
        "msg": "Field required",
        "input": {"query": "test"},
    }
    for tool in RETRIEVERS:
        response = http.post(f"/api/library/{tool}/", {"query": "test"})
        assert (response.status_code, response.json()) == (422, {"detail": [missing]}), tool


def test_an_unknown_query_and_a_missing_question_are_both_problems(alice):
    for tool in RETRIEVERS:
        refusal = alice.call(tool, query="test")
        assert refusal.is_error
        assert [(p["pointer"], p["code"]) for p in refusal.problems] == [
            ("/question", "required"),
            ("/query", "unknown"),
        ]
        assert refusal.problems[1]["received"] == "test"


def test_a_plain_error_names_both_problems(reader):
    raw = reader.call("naive_retriever", query="test").raw
    text = raw["content"][0]["text"]
    assert raw["isError"] is True
    assert text.startswith("Error executing tool: ")
    assert "query: Unknown argument." in text
    assert "question: This argument is required." in text


def test_a_plain_error_of_the_view_has_the_body_of_the_view(reader):
    text = reader.call("naive_retriever").raw["content"][0]["text"]
    assert "'loc': ['body', 'question']" in text
    assert "Field required" in text


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_every_envelope_has_the_answer(agent_of, settings, envelope):
    settings.DRF_MCP = {**settings.DRF_MCP, "ENVELOPE_CLASS": f"drf_mcp.envelopes.{envelope}"}
    body = agent_of("alice").call_with("ensemble_retriever", LAMBDA).envelope
    data = body if envelope == "PlainEnvelope" else body["data"]
    assert "anonymous functions" in data["answer"]
    assert data["context_document_count"] >= 3


def test_health_is_a_status_and_the_time(reader):
    body = reader.call("health_check_health_get").envelope
    assert set(body) == {"status", "timestamp"}
    assert body["status"] == "healthy"
    age = datetime.now(UTC) - datetime.fromisoformat(body["timestamp"])
    assert timedelta(0) <= age < timedelta(minutes=1)


def stats(reader) -> dict:
    """Return the statistics of the stored answers."""
    body = reader.call("cache_stats_cache_stats_get").envelope
    assert set(body) == {"cache_stats"}
    assert set(body["cache_stats"]) == {"total_keys", "hit_rate", "memory_usage"}
    return body["cache_stats"]


def test_the_statistics_count_answers_hits_and_memory(reader):
    for question in ("What is a lambda?", "What is a lambda?", "What is a class?"):
        reader.call("naive_retriever", question=question)
    reader.call("bm25_retriever", **LAMBDA)
    counted = stats(reader)
    assert (counted["total_keys"], counted["hit_rate"]) == (3, 0.25)
    assert counted["memory_usage"].endswith("KB")
    assert 3 < float(counted["memory_usage"].removesuffix("KB")) < 9
