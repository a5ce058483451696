"""What envelopes render, where no view and no golden file shows it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from drf_mcp.codes import HANDLING, Category, Severity
from drf_mcp.envelopes import (
    OkEnvelope,
    OkResponse,
    PlainEnvelope,
    ResponseV2Envelope,
    StandardMCPResponse,
    StatusEnvelope,
)
from drf_mcp.outcomes import Failure, Outcome, Pagination, Problem
from tests.envelopes.samples import (
    NESTED,
    NOT_FOUND,
    RICH,
    SOFT_WITH_DATA,
    STRUCTURED,
    TABLE,
    TRIMMED,
    WARNED,
    encode,
    invalid,
    parsed,
)

OUTCOMES = pytest.mark.parametrize("outcome", [o for o, _ in TABLE.values()], ids=list(TABLE))
CONFLICT = Failure("CONFLICT", Category.CONFLICT, "Not now.", "", soft=True)


@pytest.mark.parametrize("envelope_class", STRUCTURED)
def test_what_was_left_out_is_told(envelope_class) -> None:
    envelope = envelope_class()
    meta = parsed(envelope, TRIMMED)[envelope.meta_member]
    assert (meta["content_fidelity"], meta["content_fidelity_schema_version"]) == ("partial", "1.0")
    assert meta["dropped_content_ids"] == ["2", "3"]
    assert meta["content_archive_hashes"] == {"archive-1": "sha256:abc"}
    assert meta["warning_details"][0]["code"] == "CONTENT_TRUNCATED"


def test_problems_are_all_where_the_message_is_of_none() -> None:
    outcome = invalid(NESTED, Problem("unique", "Taken.", "/a~1b", "x"), Problem("bad", "No."))
    details = parsed(ResponseV2Envelope(), outcome)["data"]["details"]
    assert list(details) == ["problems"]
    assert details["problems"][0]["received"] == "many"
    pointers = [problem["pointer"] for problem in details["problems"]]
    assert pointers == ["/items/0/quantity", "/a~1b", ""]
    assert details["problems"][2] == {"pointer": "", "code": "bad", "message": "No."}


def test_context_cannot_pose_as_the_standard_members() -> None:
    failure = replace(CONFLICT, context={"error_code": "OTHER"})
    data = parsed(ResponseV2Envelope(), Outcome("t", 409, {"error_type": "x"}, failure))["data"]
    assert (data["error_code"], data["error_type"]) == ("CONFLICT", "conflict")
    assert data["remediation"] == HANDLING[Category.CONFLICT].remediation


# --- "ok" ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "outcome",
    [RICH, SOFT_WITH_DATA, Outcome("t", 200, {2: "b", "1": "a"}), Outcome("t", 200, [], CONFLICT)],
)
def test_the_hash_can_be_computed_from_what_was_received(outcome: Outcome) -> None:
    answer = parsed(OkEnvelope(), outcome)
    text = json.dumps(answer["data"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert answer["meta"]["content_hash"] == f"sha256-{digest}"


def test_what_the_view_put_beside_the_rows_stays() -> None:
    data = {"count": 1, "results": [1], "facets": {}}
    answer = parsed(OkEnvelope(), Outcome("t", 200, data, pagination=Pagination(False)))
    assert answer["data"] == {"results": [1], "facets": {}}


@OUTCOMES
def test_the_ok_model_takes_and_gives_back_what_is_rendered(outcome: Outcome) -> None:
    answer = parsed(OkEnvelope(), outcome)
    assert OkResponse.model_validate(answer).model_dump(exclude_unset=True) == answer


@pytest.mark.parametrize(
    "answer",
    [
        {"ok": True, "errors": [{"code": "a", "message": "b"}], "meta": {}},
        {"ok": False, "meta": {}},
    ],
)
def test_the_ok_model_refuses_errors_on_success_and_failure_without(answer: Any) -> None:
    with pytest.raises(ValueError, match="errors are given on failure"):
        OkResponse.model_validate(answer)


# --- "status" -----------------------------------------------------------------------------


def test_an_error_beside_a_success_is_never_more_than_a_warning() -> None:
    answer = parsed(StatusEnvelope(), WARNED)
    assert (answer["success"], answer["status"]) == (True, "partial_success")
    errors = [(error["code"], error["severity"]) for error in answer["errors"]]
    assert errors == [("partial_failure", "warning")]


@pytest.mark.parametrize("category", Category)
def test_severity_and_recoverability_follow_the_category(category: Category) -> None:
    failure = Failure("X", category, "m", "r")
    (error,) = parsed(StatusEnvelope(), Outcome("t", 400, failure=failure))["errors"]
    assert error["severity"] == HANDLING[category].severity.value
    assert error["recoverable"] is HANDLING[category].recoverable
    # A response with lesser errors only would be a success by the contract's own rule.
    assert HANDLING[category].severity in {Severity.ERROR, Severity.CRITICAL}


@OUTCOMES
def test_the_status_model_decides_the_same_status(outcome: Outcome) -> None:
    answer = parsed(StatusEnvelope(), outcome)
    finalized = StandardMCPResponse.model_validate(answer).finalize()
    for response in (answer, finalized):
        response["metadata"].pop("request_id", None)
        del response["metadata"]["timestamp"]
    assert finalized == answer


# --- Plain --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome("t", 200, "Error executing tool"), '"Error executing tool"'),
        (Outcome("t", 200, failure=CONFLICT), '{"detail": "Not now."}'),
        (Outcome("t", 200, [1], CONFLICT, body={"data": [1]}), '{"data": [1]}'),
        (
            replace(NOT_FOUND, data={"items": [{}, {"name": NOT_FOUND.data["detail"]}]}),
            "Error executing tool: ViewSet returned error: {'items': [{}, {'name': 'Not found.'}]}",
        ),
    ],
)
def test_the_text_of_a_body(outcome: Outcome, text: str) -> None:
    assert PlainEnvelope().texts(outcome, encode)[0] == text
