"""The library's own endpoint, asked ten questions by the official Python client."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.agents import REVISIONS
from tests.interop.python_sdk import connected
from tests.library.questions import QUESTIONS

pytestmark = pytest.mark.anyio
RETRIEVERS = [
    "naive_retriever",
    "bm25_retriever",
    "contextual_compression_retriever",
    "multi_query_retriever",
    "ensemble_retriever",
    "semantic_retriever",
]


@pytest.fixture(scope="session")
def library(uvicorn):
    """The library's endpoint on uvicorn."""
    return replace(uvicorn, url=uvicorn.url.replace("/mcp", "/library/mcp"))


@pytest.mark.parametrize("revision", REVISIONS)
async def test_client_reads_an_answer_as_the_contract_does(library, revision):
    async with connected(library, library.shop.tokens["alice"], revision) as connection:
        call = await connection.client.call_tool(
            "naive_retriever", {"question": "What is a class?"}
        )
    result = call.content
    assert isinstance(result, list)
    assert len(result) == 1
    assert hasattr(result[0], "text")
    parsed = json.loads(result[0].text)
    assert isinstance(parsed["answer"], str)
    assert isinstance(parsed["context_document_count"], int)


async def test_client_sees_the_eight_tools(library):
    async with connected(library, library.shop.tokens["alice"]) as connection:
        tools = (await connection.client.list_tools()).tools
    assert {tool.name for tool in tools} == {
        *RETRIEVERS,
        "health_check_health_get",
        "cache_stats_cache_stats_get",
    }
    assert {tool.output_schema for tool in tools} == {None}


@pytest.mark.parametrize("tool", RETRIEVERS)
async def test_ten_questions_are_answered_sensibly(library, tool):
    async with connected(library, library.shop.tokens["bob"]) as connection:
        for question, terms in QUESTIONS.items():
            result = (await connection.client.call_tool(tool, {"question": question})).content
            answer = json.loads(result[0].text)["answer"].lower()
            assert [term for term in terms if term.lower() not in answer] == [], question


async def test_client_is_refused_an_unknown_argument_in_band(library):
    async with connected(library, library.shop.tokens["alice"]) as connection:
        result = await connection.client.call_tool("bm25_retriever", {"query": "test"})
    assert result.is_error
    assert result.content[0].text.startswith("Error executing tool: ")
    assert "'question'" in result.content[0].text
