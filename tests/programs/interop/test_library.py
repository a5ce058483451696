"""The library in the hands of the official Python client: questions, and long documents."""

from __future__ import annotations

import json
from dataclasses import replace
from pydoc_data.topics import topics

import pytest

from drf_mcp.envelopes import DigestPayload, verify_payload
from drf_mcp.truncation import canonical_text
from tests.agents import REVISIONS
from tests.programs.interop.python_sdk import connected, envelope

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def library(uvicorn):
    """The library's endpoint on uvicorn."""
    return replace(uvicorn, url=uvicorn.url.replace("/mcp", "/library/mcp"))


@pytest.mark.parametrize("revision", REVISIONS)
async def test_client_reads_an_answer_as_in_the_contract(library, revision):
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


@pytest.mark.parametrize("revision", REVISIONS)
async def test_client_gets_long_documents_as_digests_and_retrieves_the_originals(uvicorn, revision):
    arguments = {"search": "exception", "page_size": 20}
    async with connected(uvicorn, uvicorn.shop.tokens["alice"], revision) as connection:
        result = await connection.client.call_tool("documents_texts", arguments)
        listed = envelope(result)
        (archive_id,) = listed["meta"]["content_archive_hashes"]
        digested = listed["meta"]["dropped_content_ids"]
        originals = {name: await original(connection, archive_id, name) for name in digested}
    assert len(result.content[0].text) <= 40_000
    assert listed["meta"]["content_fidelity"] == "summary"
    for index, row in enumerate(listed["data"]["results"]):
        whole = topics[row["name"]].strip()
        if f"results[{index}].text" not in digested:
            assert row["text"] == whole
            continue
        assert originals[f"results[{index}].text"] == whole
        assert verify_payload(DigestPayload.from_json(row["text"]), canonical_text(whole))
    async with connected(uvicorn, uvicorn.shop.tokens["bob"], revision) as connection:
        refused = await connection.refusal("content_retrieve", archive_id=archive_id)
    assert refused["error_code"] == "NOT_FOUND"


async def original(connection, archive_id: str, name: str) -> str:
    """Retrieve an original in slices."""
    text, offset = "", 0
    while offset is not None:
        arguments = {"archive_id": archive_id, "ids": [name], "offset": offset}
        data = (await connection.call("content_retrieve", **arguments))["data"]
        text, offset = text + data["text"], data["next_offset"]
    return text
