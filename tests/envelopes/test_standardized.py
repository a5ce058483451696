"""The standard response model, its builder and its decorator."""

from __future__ import annotations

import asyncio
import enum
import json
import logging
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import override_settings
from rest_framework import exceptions
from rest_framework.decorators import api_view, permission_classes
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from drf_mcp.codes import Category
from drf_mcp.dispatch.errors.mapper import ErrorMapper
from drf_mcp.envelopes import (
    ResponseBuilder,
    ResponseError,
    ResponseMetadata,
    ResponseSeverity,
    StandardMCPResponse,
    format_exception,
    standardized_response,
)
from drf_mcp.exceptions import Conflict, FeatureDisabled


class ScanResponse(StandardMCPResponse):
    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
        self.metadata.tool_name = "scan_dependencies"


def response(**members: Any) -> StandardMCPResponse:
    return StandardMCPResponse(metadata=ResponseMetadata(tool_name="t"), **members)


def error(severity: str, suggestion: str | None = None) -> ResponseError:
    return ResponseError(
        message="m", severity=ResponseSeverity(severity), code="c", suggestion=suggestion
    )


def test_a_warning_makes_a_success_partial() -> None:
    partial = response()
    partial.add_warning("Some warning")
    assert partial.partial_success
    assert partial.finalize()["status"] == "partial_success"


@pytest.mark.parametrize(
    ("severity", "status"),
    [
        ("info", "partial_success"),
        ("warning", "partial_success"),
        ("error", "failure"),
        ("critical", "failure"),
    ],
)
def test_a_serious_error_is_a_failure(severity: str, status: str) -> None:
    answer = response()
    answer.add_error(error(severity))
    assert answer.finalize()["status"] == status


def test_a_suggestion_is_made_once_and_never_empty() -> None:
    answer = response()
    for suggestion in ("", "Ask.", "Ask."):
        answer.add_suggestion(suggestion)
    assert answer.suggestions == ["Ask."]


def test_metadata_is_filled() -> None:
    metadata = response().finalize()["metadata"]
    assert len(metadata["request_id"]) == 8
    assert metadata["timestamp"].endswith("Z")
    assert metadata["tool_version"] == "1.0.0"


class SpecNotFound(exceptions.APIException):
    status_code = 404
    default_detail = "No such spec."
    default_code = "spec_not_found"


@pytest.mark.parametrize(
    ("exc", "code", "message", "recoverable"),
    [
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
            "items: name: Too long.",
            True,
        ),
        (SpecNotFound(), "spec_not_found", "No such spec.", True),
        (Conflict("Closed."), "conflict", "Closed.", True),
        (
            FeatureDisabled("export"),
            "feature_disabled",
            "Feature 'export' is not enabled",
            False,
        ),
        (ValueError("password=hunter2"), "internal_error", "An internal error occurred.", True),
    ],
)
def test_an_exception_tells_what_the_caller_may_know(
    exc: Exception, code: str, message: str, recoverable: bool
) -> None:
    told = format_exception(exc)
    assert (told.code, told.message, told.recoverable) == (code, message, recoverable)
    assert told.suggestion


class ScanMapper(ErrorMapper):
    def get_error_code(self, status: int, *args: Any, exc: Any = None, **kwargs: Any) -> str:
        return "NO_LOCK" if isinstance(exc, LockFileMissing) else super().get_error_code(status)

    def get_category(self, error_code: str, status: int) -> Category:
        return Category.CONFLICT if error_code == "NO_LOCK" else super().get_category("", status)


@override_settings(DRF_MCP={"ERROR_MAPPER_CLASS": ScanMapper})
def test_the_error_mapper_of_the_project_speaks_for_its_exceptions() -> None:
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


@pytest.mark.parametrize(
    ("value", "data", "success"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"success": False}, {"success": False}, False),
        (None, {}, True),
        ([1], {"result": [1]}, True),
        (StandardMCPResponse(data={"a": 1}), {"a": 1}, True),
    ],
)
def test_the_decorator_wraps_any_value(value: Any, data: Any, success: bool) -> None:
    @standardized_response(StandardMCPResponse)
    async def measure() -> Any:
        return value

    answer = asyncio.run(measure())
    assert answer["data"] == data
    assert answer["success"] is success
    assert answer["metadata"]["tool_name"] == "measure"
    assert answer["metadata"]["execution_time"] >= 0


def test_the_decorator_takes_functions_that_are_no_coroutines() -> None:
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


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (Scan(), "Scan"),
        (AsyncScan(), "AsyncScan"),
        (Scan().__call__, "__call__"),
        (partial(Scan()), "Scan"),
        (partial(AsyncScan()), "AsyncScan"),
        (partial(scan), "scan"),
        (partial(partial(lambda a, path: {"path": path}), 1), "<lambda>"),
    ],
)
def test_the_decorator_takes_partials_and_callable_objects(function: Any, name: str) -> None:
    decorated = standardized_response(StandardMCPResponse)(function)
    answer = decorated("a")
    if asyncio.iscoroutine(answer):
        answer = asyncio.run(answer)
    assert (answer["data"], answer["metadata"]["tool_name"]) == ({"path": "a"}, name)
    assert decorated.__name__ == name


def test_the_decorator_makes_exceptions_failures_and_logs_the_unexpected(
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
    """An exception of a project's own."""


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


@pytest.mark.parametrize("formatter", [ScanErrors, ScanErrors()])
def test_a_projects_own_formatter_tells_its_exceptions(formatter: Any) -> None:
    assert failing(formatter, LockFileMissing()) == {
        "message": "No lock file.",
        "suggestion": "Run lock.",
        "severity": "error",
        "code": "no_lock",
        "recoverable": False,
        "context": {"at": "/"},
    }


def test_what_a_formatter_does_not_know_is_told_as_ever() -> None:
    assert failing(ScanErrors, exceptions.NotFound("No scan."))["message"] == "No scan."


def test_the_decorator_lets_an_interrupt_pass() -> None:
    @standardized_response(StandardMCPResponse)
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


@pytest.mark.parametrize(
    ("answer", "status", "success"),
    [
        ({"a": 1}, 200, True),
        (Response({"a": 1}, status=201), 201, True),
        (Response({"a": 1}, status=400), 400, False),
        (exceptions.NotFound(), 404, False),
        (KeyError("x"), 500, False),
    ],
)
def test_a_decorated_view_answers_with_a_response(answer: Any, status: int, success: bool) -> None:
    @api_view(["GET"])
    @permission_classes([])
    @standardized_response(StandardMCPResponse)
    def view(request: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    given = view(APIRequestFactory().get("/"))
    assert given.status_code == status
    assert given.data["success"] is success
    assert given.data.get("data") in (None, {"a": 1})
    assert given.data["status"] == ("success" if success else "failure")
