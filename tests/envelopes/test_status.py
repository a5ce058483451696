"""The status envelope: the contract's own example, then its rules."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.test import override_settings

from drf_mcp.codes import HANDLING
from drf_mcp.envelopes import StandardMCPResponse, StatusEnvelope
from drf_mcp.outcomes import Category, Failure, Outcome, Severity, Warning
from tests.envelopes.samples import (
    MISSING_NAME,
    NESTED,
    PAGE,
    SOFT_WITH_DATA,
    TABLE,
    THROTTLED,
    TRIMMED,
    WARNED,
    invalid,
    parsed,
)


def render(outcome: Outcome) -> dict[str, Any]:
    """Return what a client gets."""
    answer: dict[str, Any] = parsed(StatusEnvelope(), outcome)
    return answer


@override_settings(DRF_MCP={"SERVER_VERSION": "1.0.0"})
def test_example_of_a_partial_success() -> None:
    data = {
        "project_name": "my-project",
        "project_path": "/path/to/project",
        "dependencies": [],
        "dependency_count": 15,
        "scan_timestamp": "2025-08-07T10:30:00Z",
    }
    warning = Warning(
        "INVALID_VERSION",
        "Invalid version specifier in 'package==' from project section",
        remediation="Use valid version operators: package>=1.0.0",
    )
    answer = render(
        Outcome(
            "scan_dependencies",
            200,
            data,
            request_id="abc12345",
            warnings=(warning,),
            telemetry={"duration_ms": 245},
        )
    )
    timestamp = answer["metadata"].pop("timestamp")
    assert answer == {
        "status": "partial_success",
        "success": True,
        "errors": [
            {
                "message": "Invalid version specifier in 'package==' from project section",
                "suggestion": "Use valid version operators: package>=1.0.0",
                "severity": "warning",
                "code": "invalid_version",
                "recoverable": True,
            }
        ],
        "warnings": [],
        "suggestions": ["Use valid version operators: package>=1.0.0"],
        "metadata": {
            "request_id": "abc12345",
            "tool_name": "scan_dependencies",
            "tool_version": "1.0.0",
            "execution_time": 0.245,
        },
        "data": data,
    }
    assert timestamp.endswith("Z")
    told = datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    assert abs(datetime.datetime.now(datetime.timezone.utc) - told).total_seconds() < 60


def test_a_success_without_warnings_is_a_success() -> None:
    answer = render(Outcome("t", 200, {"a": None}))
    assert (answer["status"], answer["success"]) == ("success", True)
    assert answer["data"] == {"a": None}


def test_a_success_with_a_warning_is_partial() -> None:
    answer = render(TRIMMED)
    assert answer["status"] == "partial_success"
    assert answer["warnings"] == ["2 rows left out"]
    assert answer["errors"] == []


def test_an_error_beside_a_success_is_never_more_than_a_warning() -> None:
    answer = render(WARNED)
    assert answer["success"] is True
    assert [(error["code"], error["severity"]) for error in answer["errors"]] == [
        ("partial_failure", "warning")
    ]


def test_suggestions_are_told_once() -> None:
    assert render(WARNED)["suggestions"] == ["Ask again for source b.", "Refresh the cache."]


def test_every_problem_is_an_error() -> None:
    answer = render(invalid(NESTED, MISSING_NAME))
    assert answer["status"] == "failure"
    assert answer["success"] is False
    assert answer["errors"] == [
        {
            "message": "A valid integer is required.",
            "suggestion": "Send a whole number.",
            "severity": "error",
            "code": "invalid",
            "recoverable": True,
            "context": {
                "pointer": "/items/0/quantity",
                "field": "items[0].quantity",
                "received": "many",
            },
        },
        {
            "message": "This field is required.",
            "suggestion": "Provide 'name' and call again.",
            "severity": "error",
            "code": "required",
            "recoverable": True,
            "context": {
                "pointer": "/name",
                "field": "name",
                "accepted": "a string of at most 50 characters",
                "received": None,
            },
        },
    ]
    assert answer["suggestions"] == ["Send a whole number.", "Provide 'name' and call again."]
    assert "data" not in answer


def test_a_failure_tells_its_context() -> None:
    answer = render(THROTTLED)
    assert answer["errors"][0]["context"] == {"retry_after_seconds": 45}
    assert answer["metadata"]["rate_limit"]["remaining"] == 0


@pytest.mark.parametrize("category", Category)
def test_severity_and_recoverability_follow_the_category(category: Category) -> None:
    error = render(Outcome("t", 400, failure=Failure("X", category, "m", "r")))["errors"][0]
    assert error["severity"] == HANDLING[category].severity.value
    assert error["recoverable"] is HANDLING[category].recoverable


@pytest.mark.parametrize("category", Category)
def test_every_failure_is_at_least_an_error(category: Category) -> None:
    """A response with lesser errors only would be a success by the contract's own rule."""
    assert HANDLING[category].severity in {Severity.ERROR, Severity.CRITICAL}


def test_a_page_tells_its_place_in_the_metadata() -> None:
    answer = render(PAGE)
    assert answer["data"] == {"results": [{"id": 1, "name": "a"}, {"id": 2, "name": None}]}
    assert answer["metadata"]["pagination"]["next"] == {"page": 2}


def test_what_was_left_out_is_told_in_the_metadata() -> None:
    assert render(TRIMMED)["metadata"]["dropped_content_ids"] == ["2", "3"]


def test_a_soft_failure_keeps_its_data() -> None:
    answer = render(SOFT_WITH_DATA)
    assert answer["status"] == "failure"
    assert answer["data"] == {"results": [{"id": 1, "name": "a"}, None]}


@pytest.mark.parametrize("outcome", [outcome for outcome, _ in TABLE.values()], ids=list(TABLE))
def test_the_model_decides_the_same_status(outcome: Outcome) -> None:
    """What is rendered, read by the model and finalized, is what was rendered."""
    answer = render(outcome)
    finalized = StandardMCPResponse.model_validate(answer).finalize()
    for response in (answer, finalized):
        response["metadata"].pop("request_id", None)
        del response["metadata"]["timestamp"]
    assert finalized == answer
