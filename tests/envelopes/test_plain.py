"""The plain envelope: text as its contracts show it."""

from __future__ import annotations

import json

import pytest
from rest_framework.exceptions import ErrorDetail

from drf_mcp.envelopes import PlainEnvelope
from drf_mcp.outcomes import Category, Failure, Outcome
from tests.envelopes.samples import NESTED, NOT_FOUND, PAGE, SOFT_WITH_DATA, encode, invalid


def text(outcome: Outcome) -> str:
    """Return the one text block."""
    return PlainEnvelope().texts(outcome, encode)[0]


def test_example_of_a_list() -> None:
    rows = [{"id": 1, "name": "Alice", "email": "alice@example.com"}]
    expected = '[{"id": 1, "name": "Alice", "email": "alice@example.com"}]'
    assert text(Outcome("customers_list", 200, rows)) == expected


def test_example_of_a_missing_row() -> None:
    expected = "Error executing tool: ViewSet returned error: {'detail': 'Not found.'}"
    assert text(NOT_FOUND) == expected


@pytest.mark.parametrize(
    "body",
    [
        {"answer": "A good action movie", "context_document_count": 5},
        {"status": "healthy", "timestamp": "2025-06-17T20:42:44.123456"},
        {"cache_stats": {"total_keys": 42, "hit_rate": 0.85, "memory_usage": "2.5MB"}},
    ],
)
def test_examples_of_tool_responses(body: dict[str, object]) -> None:
    assert json.loads(text(Outcome("naive_retriever", 200, body))) == body


def test_a_page_stays_as_it_is() -> None:
    assert json.loads(text(PAGE)) == PAGE.data


def test_a_text_body_is_json_too() -> None:
    assert text(Outcome("t", 200, "Error executing tool")) == '"Error executing tool"'


def test_a_success_without_body_is_null() -> None:
    assert text(Outcome("t", 204)) == "null"


def test_error_details_read_as_plain_strings_at_any_depth() -> None:
    detail = ErrorDetail("Too long.", code="max_length")
    failure = Failure("VALIDATION_ERROR", Category.VALIDATION, "m", "r")
    outcome = Outcome("t", 400, {"items": [{}, {"name": [detail]}]}, failure)
    assert text(outcome) == (
        "Error executing tool: ViewSet returned error: {'items': [{}, {'name': ['Too long.']}]}"
    )


def test_a_failure_before_the_view_tells_its_own_sentences() -> None:
    failure = Failure("INTERNAL_ERROR", Category.INTERNAL, "An error occurred.", "Try later.")
    assert text(Outcome("t", 500, failure=failure)) == (
        "Error executing tool: An error occurred. Try later."
    )


def test_a_soft_failure_speaks_through_its_body() -> None:
    assert text(SOFT_WITH_DATA) == '[{"id": 1, "name": "a"}, null]'


def test_a_soft_failure_is_no_error_text() -> None:
    """That text is for errors alone, and soft failures carry no isError."""
    failure = Failure("X", Category.CONFLICT, "Not now.", "Later.", soft=True)
    assert text(Outcome("t", 200, failure=failure)) == '{"detail": "Not now."}'


def test_the_body_of_a_soft_failure_is_what_http_clients_get() -> None:
    failure = Failure("X", Category.CONFLICT, "Not now.", "Later.", soft=True)
    outcome = Outcome("t", 200, [1], failure=failure, body={"detail": "Not now.", "data": [1]})
    assert text(outcome) == '{"detail": "Not now.", "data": [1]}'


def test_rest_consumers_get_the_untouched_body() -> None:
    assert PlainEnvelope().render(PAGE) is PAGE.data


def test_problems_are_told_by_the_body_of_the_view() -> None:
    assert text(invalid(NESTED)).endswith("{'name': ['This field is required.']}")
