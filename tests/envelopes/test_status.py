"""The example and rules of the "standard response" contract, through views and tools."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.envelopes import (
    ResponseError,
    ResponseMetadata,
    StandardMCPResponse,
    standardized_response,
)
from tests.dispatch.views import answering, validating

VOLATILE = ("request_id", "timestamp", "execution_time", "tool_version")
SCAN: dict[str, Any] = {
    "project_name": "my-project",
    "project_path": "/path/to/project",
    "dependencies": [],
    "dependency_count": 15,
    "scan_timestamp": "2025-08-07T10:30:00Z",
}
INVALID_VERSION = {
    "message": "Invalid version specifier in 'package==' from project section",
    "suggestion": "Use valid version operators: package>=1.0.0",
    "severity": "warning",
    "code": "invalid_version",
    "recoverable": True,
}
EXAMPLE = {
    "status": "partial_success",
    "success": True,
    "errors": [INVALID_VERSION],
    "warnings": [],
    "suggestions": ["Use valid version operators: package>=1.0.0"],
    "metadata": {"tool_name": "thing"},
    "data": SCAN,
}


def told(envelope: dict[str, Any]) -> dict[str, Any]:
    metadata = envelope["metadata"]
    assert set(VOLATILE) <= set(metadata)
    kept = {name: value for name, value in metadata.items() if name not in VOLATILE}
    return {**envelope, "metadata": kept}


def noted(request) -> Response:
    """Answer the example with a note of the view's."""
    call_context(request).warn(
        INVALID_VERSION["message"],
        code="INVALID_VERSION",
        remediation=INVALID_VERSION["suggestion"],
    )
    return Response(SCAN)


def modelled(request) -> Response:
    """Answer the example with the contract's own model."""
    response = StandardMCPResponse(metadata=ResponseMetadata(tool_name="thing"), data=SCAN)
    response.add_error(ResponseError(**INVALID_VERSION))
    response.add_suggestion(INVALID_VERSION["suggestion"])
    return Response(response)


@pytest.mark.parametrize("view", [noted, modelled])
def test_the_example_of_a_partial_success(serve, view):
    assert told(serve(answering(view)).read("status")) == EXAMPLE


def test_the_metadata_says_when_and_how_long(serve):
    metadata = serve(answering(lambda request: Response({}))).read("status")["metadata"]
    moment = datetime.fromisoformat(metadata["timestamp"].replace("Z", "+00:00"))
    assert re.fullmatch(r".+T.+Z", metadata["timestamp"])
    assert abs((datetime.now(timezone.utc) - moment).total_seconds()) < 60
    assert 0 < metadata["execution_time"] < 60


def test_a_suggestion_is_made_once(serve):
    class Two(serializers.Serializer):
        a = serializers.IntegerField()
        b = serializers.IntegerField()

    def suggesting(request) -> Response:
        notes = call_context(request)
        for _ in range(2):
            notes.suggest("Ask for fewer.")
        return Response({})

    assert serve(answering(suggesting)).read("status")["suggestions"] == ["Ask for fewer."]
    envelope = serve(validating(Two)).read("status")
    assert len(envelope["errors"]) == 2
    assert len(envelope["suggestions"]) == len(set(envelope["suggestions"])) == 2


def test_every_error_of_a_model_that_failed_is_told_as_it_was(serve):
    errors = [
        {
            "message": f"Source {name} failed.",
            "suggestion": f"Ask {name} again.",
            "severity": severity,
            "code": f"source_{name}",
            "recoverable": recoverable,
            "context": {"source": name},
        }
        for name, severity, recoverable in (("a", "warning", True), ("b", "error", False))
    ]

    suggestions = [error["suggestion"] for error in errors]
    body = StandardMCPResponse(success=False, errors=errors, suggestions=suggestions)
    result = serve(answering(lambda request: Response(body))).call("status")
    assert result.is_error
    assert result.envelope["status"] == "failure"
    assert result.envelope["errors"] == errors
    assert result.envelope["suggestions"] == suggestions


@pytest.mark.parametrize(
    ("envelope", "named"),
    [("response_v2", "SOURCE_B"), ("ok", "source_b"), ("plain", "b failed.")],
)
def test_a_model_that_failed_is_named_after_its_serious_error(serve, envelope, named):
    errors = [
        ResponseError(message=f"{name} failed.", severity=severity, code=f"source_{name}")
        for name, severity in (("a", "info"), ("b", "critical"))
    ]
    body = StandardMCPResponse(success=False, errors=errors)
    result = serve(answering(lambda request: Response(body))).call(envelope)
    assert result.is_error
    assert named in result.raw["content"][0]["text"]


def test_a_decorated_view_answers_plain_data(serve):
    @standardized_response(StandardMCPResponse)
    def scan(request) -> dict[str, Any]:
        return {"a": 1}

    thing = serve(answering(scan))
    body = thing.get()
    answer = thing.read("plain")
    assert (body["status"], body["data"]) == ("success", {"a": 1})
    assert (answer["status"], answer["data"]) == ("success", {"a": 1})
