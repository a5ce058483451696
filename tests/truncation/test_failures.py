"""Failures that are too long: the first problems are kept and all are counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.outcomes import Category, Failure, Outcome, Pagination, Problem, Warning
from drf_mcp.settings import SMALLEST_BUDGET
from tests.truncation.fitted import fit

STRUCTURED = [ResponseV2Envelope, OkEnvelope, StatusEnvelope]
LIMIT = 2000


def refused(count: int, received: object = "many", **members) -> Outcome:
    """Return the outcome of a call with this many wrong arguments."""
    problems = tuple(
        Problem("invalid", "A valid integer is required.", f"/items/{n}/quantity", received)
        for n in range(count)
    )
    failure = Failure(
        "VALIDATION_ERROR", Category.VALIDATION, "Validation failed.", "Mend it.", problems
    )
    data = {"items": [{"quantity": ["A valid integer is required."]}] * count}
    return Outcome("orders_create", 400, data, replace(failure, **members), request_id="req_1")


def test_the_first_problems_are_kept_and_all_are_counted():
    """As many are kept as fit, and none is archived."""
    fitted = fit(refused(500), LIMIT)
    problems = fitted.envelope["data"]["details"]["problems"]
    (detail,) = fitted.envelope["meta"]["warning_details"]
    assert [problem["pointer"] for problem in problems[:2]] == [
        "/items/0/quantity",
        "/items/1/quantity",
    ]
    assert detail["context"]["dropped_count"] == 500 - len(problems)
    assert detail["context"]["total_count"] == 500
    assert f"{len(problems)} of 500 problems shown" in detail["message"]
    assert LIMIT - fitted.tokens < 100
    assert fitted.entries == []
    assert "content_retrieve" not in fitted.text


def test_a_long_received_value_is_repeated_in_part():
    for sent in ("x" * 100_000, [1] * 100_000):
        fitted = fit(refused(1, sent), LIMIT)
        (problem,) = fitted.envelope["data"]["details"]["problems"]
        assert problem["received"] == str(sent)[:100] + "…"


def test_long_messages_and_contexts_are_cut():
    fitted = fit(refused(1, message="m" * 9000, context={"retry": 3, "trace": ["t"] * 9000}), LIMIT)
    assert len(fitted.envelope["error"]) <= 500
    assert fitted.envelope["data"]["retry"] == 3
    assert "trace" not in fitted.envelope["data"]


def test_the_floor_is_the_failure_without_its_problems():
    fitted = fit(refused(500), 10)
    assert fitted.envelope["error"] == "Validation failed."
    assert fitted.envelope["data"]["error_code"] == "VALIDATION_ERROR"
    assert "details" not in fitted.envelope["data"]
    assert fitted.tokens < 250


@pytest.mark.slow
def test_the_smallest_budget_holds_any_failure():
    """Texts that take twice their length as JSON are cut once more."""
    long = {"message": '"' * 3000, "remediation": '"' * 3000, "code": "C" * 999}
    for envelope_class in (*STRUCTURED, PlainEnvelope):
        for soft in (False, True):
            outcome = replace(refused(50, **long, soft=soft), data=None)
            assert fit(outcome, SMALLEST_BUDGET, envelope_class).tokens <= SMALLEST_BUDGET


def test_the_problems_of_a_soft_failure_leave_room_for_its_answer():
    outcome = replace(refused(500, soft=True), status=200, data={"id": 1})
    fitted = fit(outcome, LIMIT)
    assert fitted.tokens <= LIMIT
    assert fitted.outcome.data == {"id": 1}
    assert f"to fit {LIMIT} tokens" in fitted.envelope["meta"]["warnings"][0]


def test_a_soft_failure_says_that_the_arguments_of_its_next_page_are_left_out():
    page = Pagination(True, next={"search": "x y " * 300})
    outcome = replace(refused(200, soft=True), status=200, pagination=page)
    fitted = fit(outcome, 600)
    assert fitted.outcome.pagination.next is None
    assert "the arguments of the next page left out" in fitted.text
    assert {item["id"]: item["value"] for item in fitted.items}["next"] == page.next


def test_a_warning_of_a_failure_that_lost_its_details_alone_is_not_said_to_be_left_out():
    noted = Warning("STALE_CACHE", "Old.", context={"code": "x y " * 900})
    fitted = fit(replace(refused(1), warnings=(noted,)), LIMIT // 2)
    assert fitted.outcome.warnings[0].message == "Old."
    assert "the details of 1 of 1 warnings left out" in fitted.text
    assert "1 of 1 warnings left out" not in fitted.text.replace("details of 1 of 1", "")
