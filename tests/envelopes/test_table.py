"""Every kind of outcome in every envelope: rendered, described and parsed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from drf_mcp import envelopes
from drf_mcp.codes import HANDLING, Category
from drf_mcp.envelopes import BUILT_IN_ENVELOPES, Envelope, PlainEnvelope, ResponseV2Envelope
from drf_mcp.envelopes.base import ContractEnvelope
from drf_mcp.outcomes import Failure, Outcome, Problem
from tests.envelopes.samples import (
    ENVELOPES,
    MISSING_NAME,
    NESTED,
    PAGE,
    SOFT,
    STRUCTURED,
    TABLE,
    encode,
    invalid,
    parsed,
)

CASES = [(used(), *row) for used in STRUCTURED for row in TABLE.values()]


def members(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [*value.items(), *(pair for item in value.values() for pair in members(item))]
    return [pair for item in value for pair in members(item)] if isinstance(value, list) else []


def schema_of(envelope: Envelope, data_schema: dict[str, Any]) -> dict[str, Any]:
    schema = envelope.schema(data_schema)
    assert schema is not None
    return schema


def test_every_outcome_validates_against_the_schema_of_its_data() -> None:
    for envelope, outcome, data_schema in CASES:
        schema = schema_of(envelope, data_schema)
        Draft202012Validator(schema).validate(parsed(envelope, outcome))


@pytest.mark.slow
def test_a_schema_is_an_object_schema_that_every_client_accepts() -> None:
    """Equal schemas of several outcomes are checked once."""
    schemas = {encode(schema_of(envelope, data_schema)) for envelope, _, data_schema in CASES}
    for text in schemas:
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert "$ref" not in text
        objects = [value for _, value in members(schema) if isinstance(value, dict)]
        assert all("items" in value for value in objects if value.get("type") == "array")


def test_a_schema_refuses_data_of_another_type_and_a_success_without_data() -> None:
    row = {"type": "object", "properties": {"id": {"type": "integer"}}}
    for envelope_class in STRUCTURED:
        envelope = envelope_class()
        answer = parsed(envelope, Outcome("t", 200, {"id": "not a number"}))
        assert not Draft202012Validator(schema_of(envelope, row)).is_valid(answer)
        validator = Draft202012Validator(schema_of(envelope, {}))
        assert validator.is_valid(answer)
        del answer["data"]
        assert not validator.is_valid(answer)


def test_only_named_members_are_null() -> None:
    for envelope, outcome, _ in CASES:
        rendered = parsed(envelope, outcome)
        if not outcome.is_error:
            rendered.pop("data", None)  # the view's own nulls
        nulls = {name for name, value in members(rendered) if value is None}
        assert nulls <= {"error", "received", "next_cursor"}


def test_a_page_has_no_link_and_its_long_data_last() -> None:
    for envelope_class in STRUCTURED:
        rendered = envelope_class().render(PAGE)
        assert "://" not in encode(rendered)
        assert list(rendered)[-1] == "data"


def test_an_envelope_does_not_change_the_data_or_their_schema() -> None:
    for envelope in [used() for used in ENVELOPES]:
        for outcome, data_schema in TABLE.values():
            before = encode([outcome.data, data_schema])
            parsed(envelope, outcome)
            envelope.schema(data_schema)
            assert encode([outcome.data, data_schema]) == before


def test_details_have_all_problems_if_the_message_is_of_none() -> None:
    """The context of a problem alone is in its details."""
    outcome = invalid(NESTED, Problem("unique", "Taken.", "/a~1b", "x"), Problem("bad", "No."))
    details = parsed(ResponseV2Envelope(), outcome)["data"]["details"]
    assert list(details) == ["problems"]
    assert details["problems"][0]["received"] == "many"
    pointers = [problem["pointer"] for problem in details["problems"]]
    assert pointers == ["/items/0/quantity", "/a~1b", ""]
    assert details["problems"][2] == {"pointer": "", "code": "bad", "message": "No."}
    noted = replace(MISSING_NAME, context={"since": 3}, remediation="")
    outcome = invalid(noted)
    failure = replace(outcome.failure, message=noted.message)
    envelope = parsed(ResponseV2Envelope(), replace(outcome, failure=failure))
    assert envelope["data"]["details"]["since"] == 3


def test_a_failure_without_a_message_gets_one_from_its_code() -> None:
    outcome = Outcome("t", 400, failure=Failure("LOST", Category.CONFLICT, " ", ""))
    assert parsed(ResponseV2Envelope(), outcome)["error"] == "LOST"


def test_context_cannot_replace_the_standard_members() -> None:
    failure = Failure(
        "CONFLICT", Category.CONFLICT, "Not now.", "", soft=True, context={"error_code": "OTHER"}
    )
    data = parsed(ResponseV2Envelope(), Outcome("t", 409, {"error_type": "x"}, failure))["data"]
    assert (data["error_code"], data["error_type"]) == ("CONFLICT", "conflict")
    assert data["remediation"] == HANDLING[Category.CONFLICT].remediation


def test_any_value_becomes_an_object() -> None:
    """The schema of a value of unknown type is open."""
    values: list[tuple[Any, dict[str, Any]]] = [
        ({"a": 1}, {"a": 1}),
        ([1], {"results": [1]}),
        ((), {"results": []}),
        (None, {}),
        ("", {"result": ""}),
        (False, {"result": False}),
    ]
    envelope = ContractEnvelope()
    found = [(value, json.loads(encode(envelope._get_object(value)))) for value, _ in values]
    assert found == values
    unclear: list[dict[str, Any]] = [
        {},
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]},
        {"type": ["object", "array"]},
        {"type": "null"},
    ]
    assert [envelope._get_object_schema(schema) for schema in unclear] == [{"type": "object"}] * 4


def test_an_envelope_without_render_raises_an_error_that_names_it() -> None:
    with pytest.raises(NotImplementedError, match=r"render\(\)"):
        Envelope().render(SOFT)


# --- `parse` reads what `render` wrote -----------------------------------------------------


def test_a_parsed_body_is_rendered_the_same_again() -> None:
    names = ["page", "last cursor page", "nested problems", "not found", "throttled"]
    names += ["soft failure", "soft failure with data", "trimmed", "warned"]
    for outcome in (*(TABLE[name][0] for name in names), invalid(MISSING_NAME, NESTED)):
        for envelope_class in STRUCTURED:
            body = parsed(envelope_class(), outcome)
            read = envelope_class().parse(body, outcome.status)
            assert read is not None
            assert parsed(envelope_class(), read) == body


def test_each_contract_parses_only_its_own_bodies() -> None:
    envelopes = BUILT_IN_ENVELOPES[:-1]
    others: list[Any] = [None, [], "text", {}, {"results": [1]}, {"ok": 1, "meta": {}}]
    bodies = [*(parsed(envelope, PAGE) for envelope in envelopes), *others]
    read = [[envelope.parse(body) is not None for body in bodies] for envelope in envelopes]
    assert read == [[place == own for place in range(len(bodies))] for own in range(3)]


def test_plain_text_of_a_failed_result_is_the_message() -> None:
    failure = PlainEnvelope().parse("Error executing tool: no", 500).failure
    assert isinstance(failure, Failure)
    assert failure.message == "Error executing tool: no"


# --- Names and words -----------------------------------------------------------------------


def test_every_public_name_can_be_imported() -> None:
    missing = [name for name in envelopes.__all__ if getattr(envelopes, name, None) is None]
    assert missing == []
    assert set(envelopes.__all__) <= set(dir(envelopes))
    with pytest.raises(AttributeError, match="Nothing"):
        envelopes.Nothing  # noqa: B018
