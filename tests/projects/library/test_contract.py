"""The eight tools as their contract has them: names, arguments, answers and refusals."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from tests.projects.library.conftest import REPORTS, RETRIEVERS

LAMBDA = {"question": "What is a lambda?"}
ENVELOPES = ["ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope"]


def test_the_librarys_endpoint_serves_its_eight_tools_alone(reader):
    assert set(reader.tools()) == {*RETRIEVERS, *REPORTS}


def test_the_shops_endpoint_serves_them_too(alice):
    assert {*RETRIEVERS, *REPORTS, "documents_list", "customers_list"} <= set(alice.tools())


def test_a_retriever_requires_a_question_and_takes_nothing_else(reader):
    """Asking changes nothing, and each says what it does in its own words."""
    tools = reader.tools()
    for tool in RETRIEVERS:
        schema, annotations = tools[tool]["inputSchema"], tools[tool]["annotations"]
        assert list(schema["properties"]) == schema["required"] == ["question"], tool
        assert schema["additionalProperties"] is False, tool
        told = annotations["readOnlyHint"], annotations["destructiveHint"]
        assert told == (True, False), tool
    assert len({tools[tool]["description"] for tool in RETRIEVERS}) == len(RETRIEVERS)


def test_the_one_text_block_is_the_answer_of_http(http, reader):
    for tool in RETRIEVERS:
        raw = reader.call_with(tool, LAMBDA).raw
        (block,) = raw["content"]
        parsed = json.loads(block["text"])
        kinds = {name: type(value) for name, value in parsed.items()}
        assert kinds == {"answer": str, "context_document_count": int}, tool
        assert "structuredContent" not in raw
        assert http.post(f"/api/library/{tool}/", LAMBDA).json() == parsed, tool


def test_http_refuses_query_as_the_contract_shows(http):
    missing = {
        "type": "missing",
        "loc": ["body", "question"],
        "msg": "Field required",
        "input": {"query": "test"},
    }
    for tool in RETRIEVERS:
        response = http.post(f"/api/library/{tool}/", {"query": "test"})
        assert (response.status_code, response.json()) == (422, {"detail": [missing]}), tool


def test_http_refuses_what_is_no_question_with_what_was_received(http):
    refused = [("", "blank"), (None, "null"), ([], "invalid"), ("x" * 2001, "max_length")]
    for question, code in refused:
        response = http.post("/api/library/naive_retriever/", {"question": question})
        (entry,) = response.json()["detail"]
        assert response.status_code == 422
        assert (entry["loc"], entry["type"]) == (["body", "question"], code)
        assert entry["input"] == question


def test_http_refuses_a_body_that_is_no_object(http):
    response = http.post("/api/library/naive_retriever/", ["test"])
    (entry,) = response.json()["detail"]
    assert (response.status_code, entry["loc"], entry["input"]) == (422, ["body"], ["test"])


def test_http_refuses_a_body_that_is_no_json_as_everywhere(http):
    url = "/api/library/naive_retriever/"
    assert http.generic("POST", url, "{", content_type="application/json").status_code == 400


def test_nobody_is_answered_without_a_token(http_of):
    assert http_of(None).post("/api/library/naive_retriever/", LAMBDA).status_code == 401


def test_an_agent_is_told_of_the_unknown_query_and_the_missing_question(alice):
    for tool in RETRIEVERS:
        refusal = alice.call(tool, query="test")
        assert refusal.is_error
        assert [(p["pointer"], p["code"]) for p in refusal.problems] == [
            ("/question", "required"),
            ("/query", "unknown"),
        ]
        assert refusal.problems[1]["received"] == "test"


def test_a_plain_refusal_names_both_in_words(reader):
    raw = reader.call("naive_retriever", query="test").raw
    text = raw["content"][0]["text"]
    assert raw["isError"] is True
    assert text.startswith("Error executing tool: ")
    assert "query: Unknown argument." in text
    assert "question: This argument is required." in text


def test_an_agent_is_told_of_the_missing_question_alone(alice):
    refusal = alice.call("naive_retriever")
    assert refusal.code == "MISSING_REQUIRED"
    (problem,) = refusal.problems
    assert (problem["pointer"], problem["code"]) == ("/question", "required")


def test_an_agent_is_told_what_a_question_is(alice):
    (problem,) = alice.call("naive_retriever", question="").problems
    assert (problem["pointer"], problem["code"], problem["received"]) == ("/question", "blank", "")
    assert problem["accepted"] == "a string from 1 to 2000 characters"


def test_a_plain_refusal_of_the_view_is_the_views_own(reader):
    text = reader.call("naive_retriever").raw["content"][0]["text"]
    assert "'loc': ['body', 'question']" in text
    assert "Field required" in text


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_answers_are_readable_in_every_envelope(agent_of, settings, envelope):
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "ENVELOPE_CLASS": f"drf_mcp.envelopes.{envelope}",
    }
    body = agent_of("alice").call_with("ensemble_retriever", LAMBDA).envelope
    data = body if envelope == "PlainEnvelope" else body["data"]
    assert "anonymous functions" in data["answer"]
    assert data["context_document_count"] >= 3


def test_health_is_a_status_and_the_time(reader):
    body = reader.call("health_check_health_get").envelope
    assert set(body) == {"status", "timestamp"}
    assert body["status"] == "healthy"
    age = datetime.now(timezone.utc) - datetime.fromisoformat(body["timestamp"])
    assert timedelta(0) <= age < timedelta(minutes=1)


def test_anybody_may_ask_for_the_health(http_of):
    assert http_of(None).get("/api/library/health/").json()["status"] == "healthy"


def stats(reader) -> dict:
    """The statistics of the stored answers."""
    body = reader.call("cache_stats_cache_stats_get").envelope
    assert set(body) == {"cache_stats"}
    assert set(body["cache_stats"]) == {"total_keys", "hit_rate", "memory_usage"}
    return body["cache_stats"]


def test_an_unused_cache_has_nothing(reader):
    assert stats(reader) == {"total_keys": 0, "hit_rate": 0.0, "memory_usage": "0B"}


def test_the_statistics_count_answers_hits_and_memory(reader):
    for question in ("What is a lambda?", "What is a lambda?", "What is a class?"):
        reader.call("naive_retriever", question=question)
    reader.call("bm25_retriever", **LAMBDA)
    counted = stats(reader)
    assert (counted["total_keys"], counted["hit_rate"]) == (3, 0.25)
    assert counted["memory_usage"].endswith("KB")
    assert 3 < float(counted["memory_usage"].removesuffix("KB")) < 9
