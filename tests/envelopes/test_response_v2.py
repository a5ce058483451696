"""The "response-v2" contract: its examples, members, codes and limits.

First tests of models and helpers as functions, then tests through calls.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.codes import CODES, HANDLING, Category
from drf_mcp.envelopes import (
    ErrorData,
    ResponseV2Envelope,
    ToolResponse,
    error_response,
    success_response,
)
from tests.dispatch.views import validating
from tests.envelopes.conftest import drop_volatile, reread
from tests.envelopes.samples import TABLE, parsed

# --- Helpers and models --------------------------------------------------------------------

META = {"version": "response-v2", "request_id": "req_abc123"}
CONTRACT_ADVICE = {"remediation": "Provide a non-empty spec_id parameter"}


def failed(error: str, data: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"success": False, "data": data, "error": error, "meta": {**META, **meta}}


# The contract's examples of its helpers, and every documented parameter.
EXAMPLES: dict[str, tuple[ToolResponse, dict[str, Any]]] = {
    "success": (
        success_response(
            data={"result": {"a": 1}},
            warnings=["Old."],
            pagination={"cursor": "c", "has_more": True, "total_count": 9},
            request_id="req_abc123",
        ),
        {
            "success": True,
            "data": {"result": {"a": 1}},
            "error": None,
            "meta": {
                **META,
                "warnings": ["Old."],
                "pagination": {"cursor": "c", "has_more": True, "total_count": 9},
            },
        },
    ),
    "missing argument": (
        error_response(
            message="Validation failed: spec_id is required",
            error_code="MISSING_REQUIRED",
            error_type="validation",
            details={"field": "spec_id", "constraint": "required", "received": None},
            request_id="req_abc123",
            **CONTRACT_ADVICE,
        ),
        failed(
            "Validation failed: spec_id is required",
            {
                "error_code": "MISSING_REQUIRED",
                "error_type": "validation",
                **CONTRACT_ADVICE,
                "details": {"field": "spec_id", "constraint": "required", "received": None},
            },
        ),
    ),
    "not found": (
        error_response(
            message="Spec 'x' not found",
            error_code="SPEC_NOT_FOUND",
            error_type="not_found",
            remediation='Verify the spec ID exists using spec(action="list")',
            request_id="req_abc123",
        ),
        failed(
            "Spec 'x' not found",
            {
                "error_code": "SPEC_NOT_FOUND",
                "error_type": "not_found",
                "remediation": 'Verify the spec ID exists using spec(action="list")',
            },
        ),
    ),
    "feature flag": (
        error_response(
            message="Feature 'x' is not enabled",
            error_code="FEATURE_DISABLED",
            error_type="feature_flag",
            data={"feature": "x"},
            remediation="Contact support to enable this feature",
            request_id="req_abc123",
        ),
        failed(
            "Feature 'x' is not enabled",
            {
                "error_code": "FEATURE_DISABLED",
                "error_type": "feature_flag",
                "remediation": "Contact support to enable this feature",
                "feature": "x",
            },
        ),
    ),
    "rate limit": (
        error_response(
            message="Rate limit exceeded: 100 requests per minute",
            error_code="RATE_LIMIT_EXCEEDED",
            error_type="rate_limit",
            data={"retry_after_seconds": 45},
            remediation="Wait 45 seconds before retrying. Consider batching requests.",
            rate_limit={"limit": 100, "remaining": 0, "reset_at": 1_790_000_000},
            telemetry={"duration_ms": 3},
            meta={"trace": "t"},
            request_id="req_abc123",
        ),
        failed(
            "Rate limit exceeded: 100 requests per minute",
            {
                "error_code": "RATE_LIMIT_EXCEEDED",
                "error_type": "rate_limit",
                "remediation": "Wait 45 seconds before retrying. Consider batching requests.",
                "retry_after_seconds": 45,
            },
            rate_limit={"limit": 100, "remaining": 0, "reset_at": "2026-09-21T14:13:20Z"},
            telemetry={"duration_ms": 3},
            trace="t",
        ),
    ),
}


def test_the_examples_of_the_helpers_are_what_the_contract_shows(thing):
    """A view that answers with one gives the tool the same."""
    expected = {name: shown for name, (_, shown) in EXAMPLES.items()}
    made = {name: asdict(response) for name, (response, _) in EXAMPLES.items()}
    assert made == expected
    assert {name: reread(body) for name, body in made.items()} == expected
    result = thing.answer_with(made["rate limit"]).call()
    assert result.is_error
    assert result.envelope == expected["rate limit"]


def test_only_the_message_of_an_error_is_required():
    """Its data cannot replace the standard members, but may add members and a category."""
    standard = {
        "error_code": "INTERNAL_ERROR",
        "error_type": "internal",
        "remediation": HANDLING[CODES["INTERNAL_ERROR"]].remediation,
    }
    assert error_response("Broken.").data == standard
    assert error_response("m", data={"error_code": "X"}).data == standard
    assert error_response("m", error_type="billing").data["error_type"] == "billing"


def test_a_code_has_its_category_and_remediation():
    expected = {**CODES, "SPEC_NOT_FOUND": Category.NOT_FOUND}
    made = {code: error_response("m", error_code=code).data for code in expected}
    assert {code: (data["error_type"], data["remediation"]) for code, data in made.items()} == {
        code: (category.value, HANDLING[category].remediation)
        for code, category in expected.items()
    }


def test_the_common_codes_are_known():
    common = """
        VALIDATION_ERROR INVALID_FORMAT MISSING_REQUIRED NOT_FOUND DUPLICATE_ENTRY CONFLICT
        UNAUTHORIZED FORBIDDEN FEATURE_DISABLED RATE_LIMIT_EXCEEDED INTERNAL_ERROR UNAVAILABLE
    """
    assert set(common.split()) <= set(CODES)
    assert not {"SPEC_NOT_FOUND", "TASK_NOT_FOUND"} & set(CODES)


def test_every_error_type_of_the_contract_has_its_retry_advice():
    retry = {
        "validation": "refused again",
        "authentication": "credentials",
        "authorization": "Do not repeat",
        "not_found": "Look up",
        "conflict": "current state",
        "rate_limit": "Wait",
        "feature_flag": "Do not repeat",
        "internal": "Try again later",
        "unavailable": "Try again later",
    }
    assert {category.value for category in Category} == set(retry)
    assert [c for c in Category if retry[c.value] not in HANDLING[c].remediation] == []


def test_data_that_are_no_dict_are_refused_with_advice():
    wrong: list[Any] = [[1], [], "text", 0, False, {1}]
    for data in wrong:
        with pytest.raises(TypeError, match=r"data must be a dict, not .*: give the value a name"):
            success_response(data)
        with pytest.raises(TypeError, match="details must be a dict"):
            error_response("m", details=data)
        with pytest.raises(TypeError, match="meta must be a dict"):
            success_response(meta=data)


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "success with an error": ("null on success", {"success": True, "error": "No."}),
    "failure without one": ("null on success", {"success": False, "error": None}),
    "empty error": ("say in a sentence", {"success": False, "error": ""}),
    "blank error": ("say in a sentence", {"success": False, "error": " \n"}),
    "level": (
        "content_fidelity",
        {"success": True, "meta": {"version": "response-v2", "content_fidelity": "most"}},
    ),
}


def test_a_response_that_breaks_the_contract_is_refused():
    for words, members in WRONG.values():
        with pytest.raises(ValidationError, match=words):
            ToolResponse(**members)
    with pytest.raises(TypeError, match="requestid"):
        success_response(requestid="x")  # type: ignore[call-arg]


def test_meta_has_its_versions():
    """The version of the contract cannot be changed, that of the fidelity can."""
    level: dict[str, Any] = {"content_fidelity": "partial"}
    given: dict[str, Any] = {**level, "content_fidelity_schema_version": "1.1"}
    made = [success_response(**level), success_response(meta=level), success_response(**given)]
    assert [one.meta["content_fidelity_schema_version"] for one in made] == ["1.0", "1.0", "1.1"]
    assert success_response(meta={"version": "x"}).meta["version"] == "response-v2"


def test_a_rate_limit_has_a_text():
    limit = {"limit": 100, "reset_at": 1_790_000_000, "period": 60, "burst": 3}
    words = {"reset_at": "2026-09-21T14:13:20Z", "period": "minute"}
    assert success_response(rate_limit=limit).meta["rate_limit"] == {**limit, **words}


def test_the_model_reads_and_writes_the_rendered_envelope():
    for outcome, _schema in TABLE.values():
        answer = parsed(ResponseV2Envelope(), outcome)
        assert asdict(ToolResponse(**answer)) == answer
        if outcome.failure is not None:
            assert TypeAdapter(ErrorData).validate_python(answer["data"]) == answer["data"]


def test_the_example_of_partial_fidelity():
    data = {
        "research_id": "research-001",
        "findings": [
            {"id": "finding-001", "title": "Primary result", "content": "..."},
            {"id": "finding-002", "title": "Secondary result", "content": "..."},
        ],
        "total_findings": 5,
    }
    meta = {
        "content_fidelity_schema_version": "1.0",
        "content_fidelity": "partial",
        "dropped_content_ids": ["finding-003", "finding-004", "finding-005"],
        "content_archive_hashes": {"findings-archive": "sha256:e3b0c44298fc1c149afbf4c8996fb924"},
        "warnings": ["3 findings omitted due to token limits"],
        "request_id": "req_abc123",
    }
    assert reread(asdict(success_response(data, **meta))) == {
        "success": True,
        "data": data,
        "error": None,
        "meta": {"version": "response-v2", **meta},
    }


# --- Through calls -------------------------------------------------------------------------


class Spec(serializers.Serializer):
    spec_id = serializers.CharField()


def test_an_empty_success_is_a_success(thing):
    expected = {None: {}, (): {"results": []}}
    for answer, data in expected.items():
        assert drop_volatile(thing.answer_with(answer).read()) == {
            "success": True,
            "data": data,
            "error": None,
            "meta": {"version": "response-v2"},
        }


def test_the_example_of_an_error(serve):
    envelope = serve(validating(Spec)).read()
    details = envelope["data"]["details"]
    assert {name: details[name] for name in ("field", "constraint", "received")} == {
        "field": "spec_id",
        "constraint": "required",
        "received": None,
    }
    assert envelope["data"]["error_code"] == "MISSING_REQUIRED"
    assert envelope["data"]["error_type"] == "validation"
    assert envelope["data"]["remediation"].startswith("Send a string")
    assert envelope["error"].startswith("spec_id: ")


def test_the_example_of_warning_details(thing):
    """Blocked or partial work is a success with warnings."""
    details = [
        {
            "code": "PARTIAL_FAILURE",
            "severity": "warning",
            "message": "3 sources failed to respond",
            "context": {
                "failed_sources": ["source-a", "source-b", "source-c"],
                "successful_sources": 7,
                "total_sources": 10,
            },
        },
        {
            "code": "STALE_CACHE",
            "severity": "warning",
            "message": "Cache data is 2 hours old",
            "context": {"cache_age_seconds": 7200, "max_freshness_seconds": 3600},
        },
    ]

    def partly(request) -> Response:
        for detail in details:
            warn = call_context(request).warn
            warn(detail["message"], code=detail["code"], context=detail["context"])
        return Response({"results": []})

    assert drop_volatile(thing.answer_with(partly).read()) == {
        "success": True,
        "data": {"results": []},
        "error": None,
        "meta": {
            "version": "response-v2",
            "warnings": ["3 sources failed to respond", "Cache data is 2 hours old"],
            "warning_details": details,
        },
    }


def test_a_standard_warning_code_has_its_severity(thing):
    severities = {
        "CONTENT_TRUNCATED": "info",
        "STALE_CACHE": "warning",
        "PARTIAL_FAILURE": "warning",
        "DEPRECATED_FIELD": "info",
        "RATE_LIMIT_APPROACHING": "warning",
        "FALLBACK_USED": "info",
    }

    def warned(request) -> Response:
        for code in severities:
            call_context(request).warn("Something.", code=code)
        return Response({})

    assert thing.answer_with(warned).read()["meta"]["warning_details"] == [
        {"code": code, "severity": severity, "message": "Something."}
        for code, severity in severities.items()
    ]


def test_an_exception_without_a_message_gets_a_sentence(thing):
    for exc in (exceptions.NotFound(""), exceptions.ValidationError([""])):
        assert thing.answer_with(exc).read()["error"].strip()
        assert thing.read("ok")["errors"][0]["code"]
