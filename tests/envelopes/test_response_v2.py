"""The response-v2 envelope: the contract's own examples, then its rules."""

from __future__ import annotations

from typing import Any

import pytest

from drf_mcp.envelopes import ResponseV2Envelope
from drf_mcp.outcomes import (
    Category,
    Failure,
    Fidelity,
    Outcome,
    Problem,
    RateLimit,
    Severity,
    Warning,
)
from tests.envelopes.samples import (
    LAST_CURSOR_PAGE,
    NESTED,
    PAGE,
    SOFT_WITH_DATA,
    invalid,
    parsed,
)


def render(outcome: Outcome) -> dict[str, Any]:
    """Return what a client gets."""
    answer: dict[str, Any] = parsed(ResponseV2Envelope(), outcome)
    return answer


def test_example_of_content_fidelity() -> None:
    data = {
        "research_id": "research-001",
        "findings": [
            {"id": "finding-001", "title": "Primary result", "content": "..."},
            {"id": "finding-002", "title": "Secondary result", "content": "..."},
        ],
        "total_findings": 5,
    }
    warning = Warning("CONTENT_TRUNCATED", "3 findings omitted due to token limits", Severity.INFO)
    fidelity = Fidelity(
        "partial",
        ("finding-003", "finding-004", "finding-005"),
        {"findings-archive": "sha256:e3b0c442"},
    )
    answer = render(Outcome("t", 200, data, warnings=(warning,), fidelity=fidelity))
    del answer["meta"]["warning_details"]
    assert answer == {
        "success": True,
        "data": data,
        "error": None,
        "meta": {
            "version": "response-v2",
            "content_fidelity_schema_version": "1.0",
            "content_fidelity": "partial",
            "dropped_content_ids": ["finding-003", "finding-004", "finding-005"],
            "content_archive_hashes": {"findings-archive": "sha256:e3b0c442"},
            "warnings": ["3 findings omitted due to token limits"],
        },
    }


def test_example_of_warning_details() -> None:
    failed = {
        "failed_sources": ["source-a", "source-b", "source-c"],
        "successful_sources": 7,
        "total_sources": 10,
    }
    stale = {"cache_age_seconds": 7200, "max_freshness_seconds": 3600}
    warnings = (
        Warning("PARTIAL_FAILURE", "3 sources failed to respond", context=failed),
        Warning("STALE_CACHE", "Cache data is 2 hours old", context=stale),
    )
    assert render(Outcome("t", 200, {"results": []}, warnings=warnings)) == {
        "success": True,
        "data": {"results": []},
        "error": None,
        "meta": {
            "version": "response-v2",
            "warnings": ["3 sources failed to respond", "Cache data is 2 hours old"],
            "warning_details": [
                {
                    "code": "PARTIAL_FAILURE",
                    "severity": "warning",
                    "message": "3 sources failed to respond",
                    "context": failed,
                },
                {
                    "code": "STALE_CACHE",
                    "severity": "warning",
                    "message": "Cache data is 2 hours old",
                    "context": stale,
                },
            ],
        },
    }


def test_example_of_a_validation_error() -> None:
    failure = Failure(
        "VALIDATION_ERROR",
        Category.VALIDATION,
        "Validation failed: spec_id is required",
        "Provide a non-empty spec_id parameter",
        (Problem("required", "This field is required.", "/spec_id"),),
    )
    answer = render(Outcome("t", 400, failure=failure, request_id="req_abc123"))
    problems = answer["data"]["details"].pop("problems")
    assert answer == {
        "success": False,
        "data": {
            "error_code": "VALIDATION_ERROR",
            "error_type": "validation",
            "remediation": "Provide a non-empty spec_id parameter",
            "details": {"field": "spec_id", "constraint": "required", "received": None},
        },
        "error": "Validation failed: spec_id is required",
        "meta": {"version": "response-v2", "request_id": "req_abc123"},
    }
    assert problems == [
        {
            "pointer": "/spec_id",
            "field": "spec_id",
            "code": "required",
            "message": "This field is required.",
            "received": None,
        }
    ]


@pytest.mark.parametrize(
    ("failure", "extra"),
    [
        (
            Failure(
                "SPEC_NOT_FOUND",
                Category.NOT_FOUND,
                "Spec 'x' not found",
                'Verify the spec ID exists using spec(action="list")',
            ),
            {},
        ),
        (
            Failure(
                "FEATURE_DISABLED",
                Category.FEATURE_FLAG,
                "Feature 'export' is not enabled",
                "Contact support to enable this feature or check feature flag configuration",
                context={"feature": "export"},
            ),
            {"feature": "export"},
        ),
    ],
)
def test_examples_of_errors_without_problems(failure: Failure, extra: dict[str, Any]) -> None:
    assert render(Outcome("t", 403, {"detail": "no"}, failure)) == {
        "success": False,
        "data": {
            "error_code": failure.code,
            "error_type": failure.category.value,
            "remediation": failure.remediation,
            **extra,
        },
        "error": failure.message,
        "meta": {"version": "response-v2"},
    }


def test_example_of_a_rate_limit() -> None:
    failure = Failure(
        "RATE_LIMIT_EXCEEDED",
        Category.RATE_LIMIT,
        "Rate limit exceeded: 100 requests per minute",
        "Wait 45 seconds before retrying. Consider batching requests.",
        context={"retry_after_seconds": 45},
    )
    rate_limit = RateLimit(limit=100, remaining=0, reset_at="2026-09-21T14:13:20Z")
    answer = render(Outcome("t", 429, failure=failure, rate_limit=rate_limit))
    assert answer["data"]["retry_after_seconds"] == 45
    assert answer["meta"]["rate_limit"] == {
        "limit": 100,
        "remaining": 0,
        "reset_at": "2026-09-21T14:13:20Z",
    }


def test_example_of_an_empty_success() -> None:
    assert render(Outcome("t", 204)) == {
        "success": True,
        "data": {},
        "error": None,
        "meta": {"version": "response-v2"},
    }


def test_a_page_gives_its_rows_as_data_and_its_place_as_meta() -> None:
    answer = render(PAGE)
    assert answer["data"] == {"results": [{"id": 1, "name": "a"}, {"id": 2, "name": None}]}
    assert answer["meta"]["pagination"] == {
        "has_more": True,
        "total_count": 3,
        "page_size": 2,
        "page": 1,
        "cursor": "2",
        "next": {"page": 2},
    }


def test_the_last_page_names_no_next() -> None:
    assert render(LAST_CURSOR_PAGE)["meta"]["pagination"] == {"has_more": False, "page_size": 2}


def test_a_body_that_is_no_page_keeps_its_count() -> None:
    body = {"count": 2, "results": [1, 2]}
    assert render(Outcome("t", 200, body))["data"] == body


def test_details_are_of_the_first_problem_and_problems_are_all() -> None:
    details = render(invalid(NESTED, Problem("unique", "Taken.", "/a~1b", "x")))["data"]["details"]
    assert (details["field"], details["constraint"]) == ("items[0].quantity", "invalid")
    assert details["received"] == "many"
    assert [problem["pointer"] for problem in details["problems"]] == [
        "/items/0/quantity",
        "/a~1b",
    ]
    assert details["problems"][1]["field"] == "a/b"


def test_received_is_left_out_where_it_is_not_known() -> None:
    problem = render(invalid(Problem("invalid", "No.", "")))["data"]["details"]["problems"][0]
    assert problem == {"pointer": "", "code": "invalid", "message": "No."}


def test_a_failure_does_not_repeat_the_body_of_the_view() -> None:
    assert "name" not in render(invalid(NESTED))["data"]


def test_a_soft_failure_keeps_what_the_view_answered() -> None:
    answer = render(SOFT_WITH_DATA)
    assert answer["success"] is False
    assert answer["data"]["error_code"] == "ELEMENT_NOT_FOUND"
    assert answer["data"]["results"] == [{"id": 1, "name": "a"}, None]


def test_context_cannot_pose_as_the_standard_members() -> None:
    failure = Failure(
        "CONFLICT", Category.CONFLICT, "m", "r", context={"error_code": "OTHER"}, soft=True
    )
    data = render(Outcome("t", 409, {"error_type": "other"}, failure))["data"]
    assert (data["error_code"], data["error_type"]) == ("CONFLICT", "conflict")


def test_a_failure_without_remediation_gets_that_of_its_category() -> None:
    failure = Failure("UNAVAILABLE", Category.UNAVAILABLE, "Down.", "")
    assert render(Outcome("t", 503, failure=failure))["data"]["remediation"] == "Try again later."


def test_telemetry_is_told() -> None:
    outcome = Outcome("t", 200, telemetry={"duration_ms": 12.5})
    assert render(outcome)["meta"]["telemetry"] == {"duration_ms": 12.5}
