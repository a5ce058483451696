"""The "standard response" contract: its envelope, models and decorator."""

from __future__ import annotations

import asyncio
import enum
import json
import logging
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import override_settings
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.codes import HANDLING, Category, Severity
from drf_mcp.dispatch.errors import ErrorMapper
from drf_mcp.envelopes import (
    ResponseBuilder,
    ResponseError,
    ResponseMetadata,
    ResponseSeverity,
    StandardMCPResponse,
    StatusEnvelope,
    format_exception,
    standardized_response,
)
from drf_mcp.exceptions import Conflict, FeatureDisabled
from drf_mcp.outcomes import Failure, Outcome
from tests.dispatch.views import validating
from tests.envelopes.conftest import reread
from tests.envelopes.samples import TABLE, WARNED, parsed

# --- The envelope --------------------------------------------------------------------------


def test_an_error_of_a_success_is_at_most_a_warning():
    answer = parsed(StatusEnvelope(), WARNED)
    assert (answer["success"], answer["status"]) == (True, "partial_success")
    errors = [(error["code"], error["severity"]) for error in answer["errors"]]
    assert errors == [("partial_failure", "warning")]


def test_severity_and_recoverability_follow_the_category():
    """The contract calls a response with only lesser errors a success."""
    found = {}
    for category in Category:
        outcome = Outcome("t", 400, failure=Failure("X", category, "m", "r"))
        (error,) = parsed(StatusEnvelope(), outcome)["errors"]
        found[category] = (error["severity"], error["recoverable"])
    assert found == {c: (HANDLING[c].severity.value, HANDLING[c].recoverable) for c in Category}
    assert {HANDLING[c].severity for c in Category} == {Severity.ERROR, Severity.CRITICAL}


def test_the_model_has_the_same_status():
    for outcome, _schema in TABLE.values():
        answer = parsed(StatusEnvelope(), outcome)
        finalized = StandardMCPResponse.model_validate(answer).finalize()
        for response in (answer, finalized):
            response["metadata"].pop("request_id", None)
            del response["metadata"]["timestamp"]
        assert finalized == answer


# --- Through calls -------------------------------------------------------------------------

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


def drop_volatile(envelope: dict[str, Any]) -> dict[str, Any]:
    metadata = envelope["metadata"]
    assert set(VOLATILE) <= set(metadata)
    kept = {name: value for name, value in metadata.items() if name not in VOLATILE}
    return {**envelope, "metadata": kept}


def noted(request) -> Response:
    """Answer with the example, by notes of the call."""
    call_context(request).warn(
        INVALID_VERSION["message"],
        code="INVALID_VERSION",
        remediation=INVALID_VERSION["suggestion"],
    )
    return Response(SCAN)


def modelled(request) -> Response:
    """Answer with the example, by the contract's model."""
    response = StandardMCPResponse(metadata=ResponseMetadata(tool_name="thing"), data=SCAN)
    response.add_error(ResponseError(**INVALID_VERSION))
    response.add_suggestion(INVALID_VERSION["suggestion"])
    return Response(response)


def test_the_example_of_a_partial_success(thing):
    """By notes or by the contract's model; the metadata have the time and the duration."""
    for view in (noted, modelled):
        envelope = thing.answer_with(view).read("status")
        assert drop_volatile(envelope) == EXAMPLE
        metadata = envelope["metadata"]
        moment = datetime.fromisoformat(metadata["timestamp"].replace("Z", "+00:00"))
        assert re.fullmatch(r".+T.+Z", metadata["timestamp"])
        assert abs((datetime.now(UTC) - moment).total_seconds()) < 60
        assert metadata["execution_time"] > 0
        assert metadata["tool_version"] == "1.0.0"


def test_a_suggestion_occurs_once(serve, thing):
    class Two(serializers.Serializer):
        a = serializers.IntegerField()
        b = serializers.IntegerField()

    def suggesting(request) -> Response:
        notes = call_context(request)
        for _ in range(2):
            notes.suggest("Ask for fewer.")
        return Response({})

    assert thing.answer_with(suggesting).read("status")["suggestions"] == ["Ask for fewer."]
    envelope = serve(validating(Two)).read("status")
    assert len(envelope["errors"]) == 2
    assert len(envelope["suggestions"]) == len(set(envelope["suggestions"])) == 2


def test_every_error_of_a_failed_model_is_kept():
    """The code of "response-v2" is that of the serious error."""
    errors = [
        {
            "message": f"Source {name} failed.",
            "suggestion": f"Ask {name} again.",
            "severity": severity,
            "code": f"source_{name}",
            "recoverable": recoverable,
            "context": {"source": name},
        }
        for name, severity, recoverable in (("a", "warning", True), ("b", "critical", False))
    ]
    suggestions = [error["suggestion"] for error in errors]
    body: Any = StandardMCPResponse(success=False, errors=errors, suggestions=suggestions)
    envelope = reread(body, "status")
    assert (envelope["status"], envelope["errors"]) == ("failure", errors)
    assert envelope["suggestions"] == suggestions
    assert reread(body)["data"]["error_code"] == "SOURCE_B"
    assert [error["code"] for error in reread(body, "ok")["errors"]] == ["source_a", "source_b"]


def test_a_failed_model_is_an_error_in_plain(thing):
    errors = [
        ResponseError(message=f"{name} failed.", severity=severity, code=f"source_{name}")
        for name, severity in (("a", "info"), ("b", "critical"))
    ]
    result = thing.answer_with(StandardMCPResponse(success=False, errors=errors)).call("plain")
    assert result.is_error
    assert "b failed." in result.raw["content"][0]["text"]


def decorated(answer: Any) -> Any:
    @standardized_response(StandardMCPResponse)
    def view(request: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return view


def test_a_decorated_view_answers_with_a_response(thing):
    for answer, status in (
        ({"a": 1}, 200),
        (Response({"a": 1}, status=201), 201),
        (Response({"a": 1}, status=400), 400),
        (exceptions.NotFound(), 404),
        (KeyError("x"), 500),
    ):
        given = thing.answer_with(decorated(answer)).http.get("/thing/")
        assert given.status_code == status
        assert given.data["success"] is (status < 300)
        assert given.data.get("data") in (None, {"a": 1})
        assert given.data["status"] == ("success" if status < 300 else "failure")
        plain = thing.call("plain")
        assert plain.is_error is (status >= 300)
        assert status >= 300 or plain.envelope == {"a": 1}


# --- Models, builder and decorator ---------------------------------------------------------


class ScanResponse(StandardMCPResponse):
    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
        self.metadata.tool_name = "scan_dependencies"


def response(**members: Any) -> StandardMCPResponse:
    return StandardMCPResponse(metadata=ResponseMetadata(tool_name="t"), **members)


def test_a_warning_makes_a_success_partial_and_a_serious_error_a_failure() -> None:
    partial = response()
    partial.add_warning("Some warning")
    assert partial.partial_success
    found = {"": partial.finalize()["status"]}
    for severity in ResponseSeverity:
        answer = response()
        answer.add_error(ResponseError(message="m", severity=severity, code="c"))
        found[severity.value] = answer.finalize()["status"]
    assert found == {
        "": "partial_success",
        "info": "partial_success",
        "warning": "partial_success",
        "error": "failure",
        "critical": "failure",
    }


def test_metadata_is_filled() -> None:
    """A suggestion occurs once, and is never empty."""
    answer = response()
    for suggestion in ("", "Ask.", "Ask."):
        answer.add_suggestion(suggestion)
    assert answer.suggestions == ["Ask."]
    metadata = answer.finalize()["metadata"]
    assert len(metadata["request_id"]) == 8
    assert metadata["timestamp"].endswith("Z")
    assert metadata["tool_version"] == "1.0.0"


class SpecNotFound(exceptions.APIException):
    status_code = 404
    default_detail = "No such spec."
    default_code = "spec_not_found"


EXCEPTIONS: list[tuple[Exception, str, str, bool]] = [
    (exceptions.NotFound(), "not_found", "Not found.", True),
    (Http404("/secret"), "not_found", "Not found.", True),
    (
        PermissionDenied("secret"),
        "forbidden",
        "You do not have permission to perform this action.",
        False,
    ),
    (
        exceptions.ValidationError({"items": [{"name": ["Too long."]}]}),
        "validation_error",
        "items.0.name: Too long.",
        True,
    ),
    (SpecNotFound(), "spec_not_found", "No such spec.", True),
    (Conflict("Closed."), "conflict", "Closed.", True),
    (FeatureDisabled("export"), "feature_disabled", "Feature 'export' is not enabled", False),
    (ValueError("password=hunter2"), "internal_error", "An internal error occurred.", True),
]


def test_an_exception_becomes_a_public_message() -> None:
    for exc, *expected in EXCEPTIONS:
        error = format_exception(exc)
        assert [error.code, error.message, error.recoverable] == expected
        assert error.suggestion


class ScanMapper(ErrorMapper):
    def get_error_code(self, status: int, *args: Any, exc: Any = None, **kwargs: Any) -> str:
        return "NO_LOCK" if isinstance(exc, LockFileMissing) else super().get_error_code(status)

    def get_category(self, error_code: str, status: int) -> Category:
        return Category.CONFLICT if error_code == "NO_LOCK" else super().get_category("", status)


@override_settings(DRF_MCP={"ERROR_MAPPER_CLASS": ScanMapper})
def test_the_projects_error_mapper_maps_its_exceptions() -> None:
    error = format_exception(LockFileMissing())
    assert (error.code, error.severity) == ("no_lock", ResponseSeverity.ERROR)
    assert format_exception(ValueError()).message == "An internal error occurred."


def test_build_error_response() -> None:
    failed = ResponseBuilder.build_error_response(
        ScanResponse, exceptions.NotFound(), {"path": "a"}, execution_time=0.5
    )
    assert isinstance(failed, ScanResponse)
    answer = failed.finalize()
    assert answer["status"] == "failure"
    assert answer["errors"][0]["context"] == {"path": "a"}
    assert answer["suggestions"] == [answer["errors"][0]["suggestion"]]
    assert answer["metadata"]["tool_name"] == "scan_dependencies"
    assert answer["metadata"]["execution_time"] == 0.5


class TheirSeverity(enum.Enum):
    WARNING = "warning"
    ERROR = "error"


@dataclass
class TheirError:
    message: str = "Bad version"
    suggestion: str | None = "Mend it"
    severity: TheirSeverity = TheirSeverity.WARNING
    error_code: str = "invalid_version"
    recoverable: bool = True
    context: dict[str, Any] | None = None


def test_build_from_formatted_errors() -> None:
    built = ResponseBuilder.build_from_formatted_errors(
        ScanResponse, [TheirError()], success=True, data={"a": 1}
    ).finalize()
    assert built["status"] == "partial_success"
    assert built["errors"][0]["code"] == "invalid_version"
    assert built["suggestions"] == ["Mend it"]
    assert built["data"] == {"a": 1}


def test_the_decorator_wraps_any_value() -> None:
    rows: list[tuple[Any, Any, bool]] = [
        ({"a": 1}, {"a": 1}, True),
        ({"success": False}, {"success": False}, False),
        (None, {}, True),
        ([1], {"result": [1]}, True),
        (StandardMCPResponse(data={"a": 1}), {"a": 1}, True),
    ]

    @standardized_response(StandardMCPResponse)
    async def measure(value: Any) -> Any:
        return value

    for value, data, success in rows:
        answer = asyncio.run(measure(value))
        assert (answer["data"], answer["success"]) == (data, success)
        assert answer["metadata"]["tool_name"] == "measure"
        assert answer["metadata"]["execution_time"] >= 0


def test_the_decorator_accepts_synchronous_functions() -> None:
    @standardized_response(StandardMCPResponse)
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert add(1, b=2)["data"] == {"result": 3}  # type: ignore[index]
    assert add.__doc__ == "Add."


class Scan:
    def __call__(self, path: str) -> dict[str, str]:
        return {"path": path}


class AsyncScan:
    async def __call__(self, path: str) -> dict[str, str]:
        return {"path": path}


async def scan(path: str) -> dict[str, str]:
    return {"path": path}


FUNCTIONS: list[tuple[Any, str]] = [
    (Scan(), "Scan"),
    (AsyncScan(), "AsyncScan"),
    (Scan().__call__, "__call__"),
    (partial(Scan()), "Scan"),
    (partial(AsyncScan()), "AsyncScan"),
    (partial(scan), "scan"),
    (partial(partial(lambda a, path: {"path": path}), 1), "<lambda>"),
]


def test_the_decorator_accepts_partials_and_callable_objects() -> None:
    for function, name in FUNCTIONS:
        decorated = standardized_response(StandardMCPResponse)(function)
        answer: Any = decorated("a")
        if asyncio.iscoroutine(answer):
            answer = asyncio.run(answer)
        assert (answer["data"], answer["metadata"]["tool_name"]) == ({"path": "a"}, name)
        assert decorated.__name__ == name


def test_the_decorator_turns_exceptions_into_failures_and_logs_unexpected_ones(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @standardized_response(StandardMCPResponse)
    async def crash() -> None:
        raise ValueError("password=hunter2")

    with caplog.at_level(logging.ERROR, "drf_mcp"):
        answer = asyncio.run(crash())
    assert answer["status"] == "failure"
    assert answer["errors"][0]["severity"] == "critical"
    assert "hunter2" not in json.dumps(answer)
    assert "hunter2" in caplog.text
    assert caplog.records[0].getMessage() == f"crash failed [{answer['metadata']['request_id']}]"


class LockFileMissing(Exception):
    """An exception of a project."""


class ScanErrors:
    @staticmethod
    def format_exception(exc: Exception, context: dict[str, Any] | None = None) -> Any:
        if isinstance(exc, LockFileMissing):
            error = TheirSeverity.ERROR
            return TheirError("No lock file.", "Run lock.", error, "no_lock", False, {"at": "/"})
        return None


def failing(formatter: Any, exc: Exception) -> dict[str, Any]:
    @standardized_response(StandardMCPResponse, error_formatter=formatter)
    def crash() -> None:
        raise exc

    answer: Any = crash()
    assert answer["status"] == "failure"
    (error,) = answer["errors"]
    assert answer["suggestions"] == [error["suggestion"]]
    return dict(error)


def test_a_projects_formatter_formats_its_exceptions() -> None:
    """It formats other exceptions as without it."""
    for formatter in (ScanErrors, ScanErrors()):
        assert failing(formatter, LockFileMissing()) == {
            "message": "No lock file.",
            "suggestion": "Run lock.",
            "severity": "error",
            "code": "no_lock",
            "recoverable": False,
            "context": {"at": "/"},
        }
    assert failing(ScanErrors, exceptions.NotFound("No scan."))["message"] == "No scan."


def test_the_decorator_passes_on_an_interrupt() -> None:
    @standardized_response(StandardMCPResponse)
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
