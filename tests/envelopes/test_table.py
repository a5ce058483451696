"""Every kind of outcome in every envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from drf_mcp.envelopes import Envelope
from drf_mcp.envelopes.base import ContractEnvelope
from drf_mcp.outcomes import Outcome
from tests.envelopes.samples import (
    ENVELOPES,
    PAGE,
    SOFT,
    STRUCTURED,
    TABLE,
    encode,
    parsed,
)

outcomes = pytest.mark.parametrize(("outcome", "data_schema"), TABLE.values(), ids=list(TABLE))
structured = pytest.mark.parametrize("envelope_class", STRUCTURED)


def members(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [*value.items(), *(pair for item in value.values() for pair in members(item))]
    return [pair for item in value for pair in members(item)] if isinstance(value, list) else []


@structured
@outcomes
def test_result_validates_against_the_schema(envelope_class, outcome, data_schema):
    envelope = envelope_class()
    schema = envelope.schema(data_schema)
    assert schema is not None
    Draft202012Validator(schema).validate(parsed(envelope, outcome))


@structured
@outcomes
def test_schema_is_an_object_schema_that_every_client_takes(envelope_class, outcome, data_schema):
    schema = envelope_class().schema(data_schema)
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert "$ref" not in encode(schema)
    assert all("items" in value for _, value in members(schema) if is_array(value))


def is_array(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "array"


@structured
def test_schema_refuses_data_of_another_type(envelope_class: type[Envelope]) -> None:
    envelope = envelope_class()
    schema = envelope.schema({"type": "object", "properties": {"id": {"type": "integer"}}})
    assert schema is not None
    answer = parsed(envelope, Outcome("t", 200, {"id": "not a number"}))
    assert not Draft202012Validator(schema).is_valid(answer)


@structured
def test_schema_refuses_a_success_without_data(envelope_class: type[Envelope]) -> None:
    envelope = envelope_class()
    schema = envelope.schema({})
    assert schema is not None
    answer = parsed(envelope, Outcome("t", 200, {"id": 1}))
    del answer["data"]
    assert not Draft202012Validator(schema).is_valid(answer)


@structured
@outcomes
def test_only_named_members_are_null(envelope_class, outcome, data_schema):
    rendered = parsed(envelope_class(), outcome)
    if not outcome.is_error:
        rendered.pop("data", None)  # the view's own nulls
    nulls = {name for name, value in members(rendered) if value is None}
    assert nulls <= {"error", "received", "next_cursor"}


@structured
def test_no_link_of_a_page_reaches_the_client(envelope_class: type[Envelope]) -> None:
    assert "://" not in encode(envelope_class().render(PAGE))


@structured
def test_long_data_comes_last(envelope_class: type[Envelope]) -> None:
    assert list(envelope_class().render(PAGE))[-1] == "data"


@pytest.mark.parametrize("envelope_class", ENVELOPES)
@outcomes
def test_an_envelope_leaves_the_data_and_their_schema_alone(envelope_class, outcome, data_schema):
    before = encode([outcome.data, data_schema])
    parsed(envelope_class(), outcome)
    envelope_class().schema(data_schema)
    assert encode([outcome.data, data_schema]) == before


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ([1], {"results": [1]}),
        ((), {"results": []}),
        (None, {}),
        ("", {"result": ""}),
        (False, {"result": False}),
    ],
)
def test_any_value_becomes_an_object(value: Any, expected: dict[str, Any]) -> None:
    assert json.loads(encode(ContractEnvelope().get_object(value))) == json.loads(encode(expected))


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]},
        {"type": ["object", "array"]},
        {"type": "null"},
    ],
)
def test_schema_of_an_unclear_value_is_open(schema: dict[str, Any]) -> None:
    assert ContractEnvelope().get_object_schema(schema) == {"type": "object"}


def test_an_envelope_without_render_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r"render\(\)"):
        Envelope().render(SOFT)
