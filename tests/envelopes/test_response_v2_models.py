"""`success_response` and `error_response`, used as the contract shows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from drf_mcp.codes import CODES, HANDLING
from drf_mcp.envelopes import (
    ErrorData,
    ResponseV2Envelope,
    ToolResponse,
    error_response,
    success_response,
)
from drf_mcp.outcomes import Category, Outcome
from tests.envelopes.samples import TABLE, parsed


def test_example_of_a_success() -> None:
    response = success_response(
        data={"result": {"a": 1}},
        warnings=["Old."],
        pagination={"cursor": "c", "has_more": True, "total_count": 9},
        request_id="req_abc123",
    )
    assert asdict(response) == {
        "success": True,
        "data": {"result": {"a": 1}},
        "error": None,
        "meta": {
            "version": "response-v2",
            "request_id": "req_abc123",
            "warnings": ["Old."],
            "pagination": {"cursor": "c", "has_more": True, "total_count": 9},
        },
    }


def test_example_of_a_missing_argument() -> None:
    response = error_response(
        message="Validation failed: spec_id is required",
        error_code="MISSING_REQUIRED",
        error_type="validation",
        remediation="Provide a non-empty spec_id parameter",
        details={"field": "spec_id", "constraint": "required"},
        request_id="req_abc123",
    )
    assert asdict(response) == {
        "success": False,
        "data": {
            "error_code": "MISSING_REQUIRED",
            "error_type": "validation",
            "remediation": "Provide a non-empty spec_id parameter",
            "details": {"field": "spec_id", "constraint": "required"},
        },
        "error": "Validation failed: spec_id is required",
        "meta": {"version": "response-v2", "request_id": "req_abc123"},
    }


def test_every_documented_parameter_of_an_error_is_taken() -> None:
    response = error_response(
        message="m",
        error_code="CONFLICT",
        error_type="conflict",
        remediation="r",
        data={"state": "closed"},
        details={"field": "state"},
        request_id="req_1",
        rate_limit={"limit": 1},
        telemetry={"duration_ms": 3},
        meta={"trace": "t"},
    )
    assert asdict(response)["meta"] == {
        "version": "response-v2",
        "request_id": "req_1",
        "rate_limit": {"limit": 1},
        "telemetry": {"duration_ms": 3},
        "trace": "t",
    }


def test_only_the_message_of_an_error_is_required() -> None:
    assert asdict(error_response("Broken."))["data"] == {
        "error_code": "INTERNAL_ERROR",
        "error_type": "internal",
        "remediation": HANDLING[CODES["INTERNAL_ERROR"]].remediation,
    }


@pytest.mark.parametrize(
    ("code", "category"), [*CODES.items(), ("SPEC_NOT_FOUND", Category.NOT_FOUND)]
)
def test_a_code_brings_its_category_and_advice(code: str, category: Category) -> None:
    data = error_response("m", error_code=code).data
    assert data["error_type"] == category.value
    assert data["remediation"] == HANDLING[category].remediation


def test_a_category_of_ones_own_is_kept() -> None:
    assert error_response("m", error_type="billing").data["error_type"] == "billing"


def test_data_of_an_error_cannot_pose_as_the_standard_members() -> None:
    assert error_response("m", data={"error_code": "X"}).data["error_code"] == "INTERNAL_ERROR"


@pytest.mark.parametrize("message", ["", " \n"])
def test_an_empty_message_is_refused(message: str) -> None:
    with pytest.raises(ValidationError, match="say in a sentence"):
        error_response(message)


@pytest.mark.parametrize("data", [[1], [], "text", 0, False, {1}])
def test_data_that_is_no_dict_is_refused_with_what_to_do(data: Any) -> None:
    with pytest.raises(TypeError, match=r"data must be a dict, not .*: give the value a name"):
        success_response(data)
    with pytest.raises(TypeError, match="details must be a dict"):
        error_response("m", details=data)
    with pytest.raises(TypeError, match="meta must be a dict"):
        success_response(meta=data)


@pytest.mark.parametrize("said", [{}, {"meta": {}}])
def test_content_fidelity_brings_its_schema_version(said: Any) -> None:
    level: Any = {"content_fidelity": "partial"}
    arguments = {**said, **level} if "meta" not in said else {"meta": level}
    assert success_response(**arguments).meta["content_fidelity_schema_version"] == "1.0"


def test_a_schema_version_that_is_said_is_kept() -> None:
    said: Any = {"content_fidelity": "full", "content_fidelity_schema_version": "1.1"}
    assert success_response(**said).meta["content_fidelity_schema_version"] == "1.1"


def test_a_rate_limit_is_written_in_words() -> None:
    limit = {"limit": 100, "reset_at": 1_790_000_000, "period": 60, "burst": 3}
    assert success_response(rate_limit=limit).meta["rate_limit"] == {
        "limit": 100,
        "reset_at": "2026-09-21T14:13:20Z",
        "period": "minute",
        "burst": 3,
    }


def test_the_version_cannot_be_overwritten() -> None:
    assert success_response(meta={"version": "x"}).meta["version"] == "response-v2"


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="requestid"):
        success_response(requestid="x")  # type: ignore[call-arg]


def test_a_reserved_member_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ValidationError, match="content_fidelity"):
        success_response(content_fidelity="most")  # type: ignore[arg-type]


@pytest.mark.parametrize(("success", "error"), [(True, "No."), (False, None)])
def test_error_and_success_must_agree(success: bool, error: str | None) -> None:
    with pytest.raises(ValidationError, match="null on success"):
        ToolResponse(success=success, error=error)


@pytest.mark.parametrize("outcome", [outcome for outcome, _ in TABLE.values()], ids=list(TABLE))
def test_the_model_gives_back_what_is_rendered(outcome: Outcome) -> None:
    answer = parsed(ResponseV2Envelope(), outcome)
    assert asdict(ToolResponse(**answer)) == answer
    if outcome.failure is not None:
        assert TypeAdapter(ErrorData).validate_python(answer["data"]) == answer["data"]
