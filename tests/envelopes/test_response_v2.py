"""The examples and rules of the "response-v2" contract, through views and tools."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.codes import CODES, HANDLING, Category
from drf_mcp.envelopes import error_response, success_response
from tests.dispatch.views import answering, raising, validating
from tests.envelopes.conftest import told


class Spec(serializers.Serializer):
    spec_id = serializers.CharField()


@pytest.mark.parametrize(
    ("answer", "data"),
    [(None, {}), ([], {"results": []}), ({"items": [], "count": 0}, {"items": [], "count": 0})],
)
def test_an_empty_success_is_a_success(serve, answer, data):
    envelope = serve(answering(lambda request: Response(answer))).read()
    assert told(envelope) == {
        "success": True,
        "data": data,
        "error": None,
        "meta": {"version": "response-v2"},
    }


def test_blocked_work_is_a_success_with_a_warning(serve):
    def blocked(request) -> Response:
        call_context(request).warn("Waiting for a review.", code="PARTIAL_FAILURE")
        return Response({"state": "blocked"})

    envelope = serve(answering(blocked)).read()
    assert (envelope["success"], envelope["data"]) == (True, {"state": "blocked"})
    assert envelope["meta"]["warnings"] == ["Waiting for a review."]


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
    assert envelope["data"]["remediation"].startswith("Provide 'spec_id'.")
    assert envelope["error"].startswith("spec_id: ")


def test_the_example_of_warning_details(serve):
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

    assert told(serve(answering(partly)).read()) == {
        "success": True,
        "data": {"results": []},
        "error": None,
        "meta": {
            "version": "response-v2",
            "warnings": ["3 sources failed to respond", "Cache data is 2 hours old"],
            "warning_details": details,
        },
    }


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("CONTENT_TRUNCATED", "info"),
        ("STALE_CACHE", "warning"),
        ("PARTIAL_FAILURE", "warning"),
        ("DEPRECATED_FIELD", "info"),
        ("RATE_LIMIT_APPROACHING", "warning"),
        ("FALLBACK_USED", "info"),
    ],
)
def test_a_standard_warning_code_has_its_severity(serve, code, severity):
    def warned(request) -> Response:
        call_context(request).warn("Something.", code=code)
        return Response({})

    (detail,) = serve(answering(warned)).read()["meta"]["warning_details"]
    assert detail == {"code": code, "severity": severity, "message": "Something."}


def test_the_example_of_partial_fidelity(serve):
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
    }
    view = answering(lambda request: Response(asdict(success_response(data, **meta))))
    envelope = told(serve(view).read())
    assert envelope == {
        "success": True,
        "data": data,
        "error": None,
        "meta": {"version": "response-v2", **meta},
    }


EXAMPLES = [
    {
        "message": "Spec 'x' not found",
        "error_code": "SPEC_NOT_FOUND",
        "error_type": "not_found",
        "remediation": 'Verify the spec ID exists using spec(action="list")',
    },
    {
        "message": "Feature 'x' is not enabled",
        "error_code": "FEATURE_DISABLED",
        "error_type": "feature_flag",
        "data": {"feature": "x"},
        "remediation": "Contact support to enable this feature or check its flag",
    },
    {
        "message": "Rate limit exceeded: 100 requests per minute",
        "error_code": "RATE_LIMIT_EXCEEDED",
        "error_type": "rate_limit",
        "data": {"retry_after_seconds": 45},
        "remediation": "Wait 45 seconds before retrying. Consider batching requests.",
        "rate_limit": {"limit": 100, "remaining": 0, "reset_at": 1_790_000_000},
    },
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_helpers_come_through_as_they_are(serve, example):
    body = asdict(error_response(request_id="req_abc123", **example))
    result = serve(answering(lambda request: Response(body))).call()
    envelope = result.envelope
    assert result.is_error
    assert envelope == body


# The error types of the contract and whether it says to retry.
RETRY = {
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


def test_the_error_types_are_those_of_the_contract():
    assert {category.value for category in Category} == set(RETRY)


@pytest.mark.parametrize("category", Category)
def test_every_error_type_says_whether_to_call_again(category):
    assert RETRY[category.value] in HANDLING[category].remediation


def test_the_common_codes_are_known():
    common = """
        VALIDATION_ERROR INVALID_FORMAT MISSING_REQUIRED NOT_FOUND DUPLICATE_ENTRY CONFLICT
        UNAUTHORIZED FORBIDDEN FEATURE_DISABLED RATE_LIMIT_EXCEEDED INTERNAL_ERROR UNAVAILABLE
    """
    assert set(common.split()) <= set(CODES)
    assert not {"SPEC_NOT_FOUND", "TASK_NOT_FOUND"} & set(CODES)


@pytest.mark.parametrize("exc", [exceptions.NotFound(""), exceptions.ValidationError([""])])
def test_an_exception_without_a_sentence_is_told_by_one_all_the_same(serve, exc):
    served = serve(raising(exc))
    assert served.read()["error"].strip()
    assert served.read("ok")["errors"][0]["code"]
