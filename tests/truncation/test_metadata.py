"""Warnings, suggestions and other metadata leave room for the answer."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.outcomes import Category, Failure, Outcome, Pagination, Severity, Warning
from tests.truncation.fitted import fit, success

ENVELOPES = [ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope]
ANSWER = {"created": 600, "ids": [1, 2, 3]}
LIMIT = 2000


def warnings(count: int, severity: Severity = Severity.WARNING) -> tuple[Warning, ...]:
    """Return this many warnings."""
    return tuple(
        Warning("PARTIAL_FAILURE", f"Row {n} was not written.", severity, {"row": n})
        for n in range(count)
    )


def details(fitted) -> dict:
    """Return the warning that the result was shortened."""
    return next(
        detail
        for detail in fitted.envelope["meta"]["warning_details"]
        if detail["code"] == "CONTENT_TRUNCATED"
    )


METADATA = [
    {"warnings": warnings(400)},
    {"suggestions": tuple(f"Do {n} next." for n in range(2000))},
    {"telemetry": {"statements": ["SELECT 1"] * 5000}},
    {"meta": {f"fact {n}": "x" * 50 for n in range(400)}},
    {"pagination": Pagination(True, next={"search": "x" * 9000})},
]


def test_the_answer_is_kept_whole_and_the_result_fits():
    for envelope_class, members in itertools.product(ENVELOPES, METADATA):
        fitted = fit(success(ANSWER, **members), LIMIT, envelope_class)
        assert fitted.tokens <= LIMIT, (envelope_class, *members)
        assert fitted.outcome.data == ANSWER, (envelope_class, *members)


def test_the_warnings_that_fit_are_kept_and_the_others_are_counted_and_archived():
    fitted = fit(success(ANSWER, warnings=warnings(400)), LIMIT)
    shown = len(fitted.envelope["meta"]["warning_details"]) - 1
    (item,) = fitted.items
    assert f"{400 - shown} of 400 warnings left out" in details(fitted)["message"]
    assert details(fitted)["context"]["dropped_count"] == 400 - shown
    assert details(fitted)["context"]["total_count"] == 400
    assert fitted.envelope["meta"]["dropped_content_ids"] == ["warnings"]
    assert (item["id"], item["pointer"]) == ("warnings", None)
    assert [detail["context"]["row"] for detail in item["value"]] == list(range(shown, 400))
    assert shown > 5


def test_an_archived_warning_is_the_one_that_would_have_been_sent():
    noted = Warning("STALE_CACHE", "Old.", Severity.INFO, {"code": "x" * 5000}, "Ask again.")
    details = fit(success(ANSWER, warnings=(noted,)), 25_000).envelope["meta"]["warning_details"]
    (item,) = fit(success(ANSWER, warnings=(noted,)), 1000).items
    assert item["value"] == details


def test_the_most_severe_warnings_are_kept():
    given = (*warnings(400, Severity.INFO), *warnings(1, Severity.ERROR))
    fitted = fit(success(ANSWER, warnings=given), LIMIT)
    assert fitted.envelope["meta"]["warning_details"][0]["severity"] == "error"


def test_short_metadata_is_kept_if_other_metadata_is_long():
    fitted = fit(success(ANSWER, warnings=warnings(400), telemetry={"duration_ms": 3}), LIMIT)
    assert fitted.envelope["meta"]["telemetry"]["duration_ms"] == 3


def test_the_answer_is_shortened_as_well_if_both_are_long():
    rows = [{"id": n, "of": "x" * 60} for n in range(300)]
    fitted = fit(success(rows, warnings=warnings(400)), LIMIT)
    assert LIMIT * 0.9 < fitted.tokens <= LIMIT
    assert json.dumps(fitted.restored) == json.dumps(rows)
    assert "items left out" in details(fitted)["message"]
    assert "warnings left out" in details(fitted)["message"]


def test_a_failure_keeps_its_problems():
    failure = Failure("VALIDATION_ERROR", Category.VALIDATION, "Validation failed.", "Mend it.")
    telemetry, meta = {"statements": ["SELECT 1"] * 5000}, {"fact": "x" * 9000}
    for envelope_class in ENVELOPES:
        for members in ({"telemetry": telemetry}, {"meta": meta}):
            outcome = Outcome("orders_create", 400, None, failure, request_id="req_1", **members)
            fitted = fit(outcome, LIMIT, envelope_class)
            assert fitted.tokens <= LIMIT, (envelope_class, *members)
            assert fitted.outcome.failure == failure, (envelope_class, *members)


def soft(count: int, message: str = "Not all are there.") -> Outcome:
    """Return the outcome of a soft failure with rows."""
    rows = [{"id": n, "of": "x" * 50} for n in range(count)]
    failure = Failure("SOFT_FAILURE", Category.VALIDATION, message, "Ask again.", soft=True)
    return replace(success(rows), failure=failure)


@pytest.mark.slow
def test_the_answer_of_a_soft_failure_is_shortened_with_one_warning():
    for envelope_class in ENVELOPES[:3]:
        fitted = fit(soft(1000), LIMIT, envelope_class)
        assert fitted.tokens <= LIMIT
        assert [warning.code for warning in fitted.outcome.warnings] == ["CONTENT_TRUNCATED"]
        assert "items left out" in fitted.outcome.warnings[0].message
        assert fitted.restored == soft(1000).data


def test_a_long_message_of_a_soft_failure_leaves_room_for_its_answer():
    fitted = fit(soft(30, "no " * 5000), LIMIT)
    assert fitted.tokens <= LIMIT
    assert fitted.outcome.data == soft(30).data
