"""The schemas of contracts in the language of their reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from drf_mcp.envelopes import (
    DigestPayload,
    Envelope,
    OkEnvelope,
    OkResponse,
    ResponseV2Envelope,
    StandardMCPResponse,
    StatusEnvelope,
    ToolResponse,
)

MODELS = [DigestPayload, OkResponse, StandardMCPResponse, ToolResponse]


@pytest.fixture(autouse=True)
def _shouted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drf_mcp.envelopes.metadata.gettext", str.upper)


def find_words(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from find_words(part)
    if isinstance(schema, dict):
        for member in schema.get("properties", {}).values():
            yield from [member["description"]] if "description" in member else []
        for part in schema.values():
            yield from find_words(part)


@pytest.mark.parametrize("model", MODELS)
def test_every_field_of_a_model_is_described_in_the_active_language(model: type) -> None:
    words = list(find_words(TypeAdapter(model).json_schema()))
    assert words
    assert [text for text in words if text != text.upper()] == []


@pytest.mark.parametrize("envelope", [OkEnvelope(), ResponseV2Envelope(), StatusEnvelope()])
def test_the_schema_of_an_envelope_is_in_the_active_language(envelope: Envelope) -> None:
    words = list(find_words(envelope.schema({})))
    assert words
    assert [text for text in words if text != text.upper()] == []


def test_a_member_called_description_is_no_text() -> None:
    class Note(StandardMCPResponse):
        description: dict[str, str] = {}

    assert TypeAdapter(Note).json_schema()["properties"]["description"]["type"] == "object"
