"""The code, type, message, remediation and retry of each exception of a view."""

from __future__ import annotations

import logging

import pytest
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response

from drf_mcp.exceptions import Conflict, FeatureDisabled
from tests.dispatch.views import answering, raising


def own(status: int, code: str = "error", detail: str = "Said by the project.") -> Exception:
    members = {"status_code": status, "default_code": code, "default_detail": detail}
    return type("ProjectError", (exceptions.APIException,), members)()


TABLE = [
    (exceptions.ParseError(), 400, "INVALID_FORMAT", "validation"),
    (exceptions.ParseError("Line 3 is torn."), 400, "INVALID_FORMAT", "validation"),
    (exceptions.UnsupportedMediaType("x/y"), 415, "INVALID_FORMAT", "validation"),
    (exceptions.NotAcceptable(), 406, "INVALID_FORMAT", "validation"),
    (exceptions.ValidationError("bad"), 400, "VALIDATION_ERROR", "validation"),
    (exceptions.ValidationError("bad", code="stale"), 400, "VALIDATION_ERROR", "validation"),
    (exceptions.ValidationError("taken", code="unique"), 400, "DUPLICATE_ENTRY", "conflict"),
    (exceptions.NotAuthenticated(), 401, "UNAUTHORIZED", "authentication"),
    (exceptions.AuthenticationFailed(), 401, "UNAUTHORIZED", "authentication"),
    (exceptions.PermissionDenied(), 403, "FORBIDDEN", "authorization"),
    (exceptions.PermissionDenied("Ask Eve."), 403, "FORBIDDEN", "authorization"),
    (exceptions.PermissionDenied("Pay.", "plan_too_small"), 403, "PLAN_TOO_SMALL", "authorization"),
    (exceptions.NotFound(), 404, "NOT_FOUND", "not_found"),
    (exceptions.NotFound("No such hat."), 404, "NOT_FOUND", "not_found"),
    (Http404(), 404, "NOT_FOUND", "not_found"),
    (Http404("No such hat."), 404, "NOT_FOUND", "not_found"),
    (PermissionDenied(), 403, "FORBIDDEN", "authorization"),
    (exceptions.MethodNotAllowed("PUT"), 405, "METHOD_NOT_ALLOWED", "validation"),
    (exceptions.Throttled(), 429, "RATE_LIMIT_EXCEEDED", "rate_limit"),
    (exceptions.Throttled(wait=12.3), 429, "RATE_LIMIT_EXCEEDED", "rate_limit"),
    (FeatureDisabled("refunds"), 403, "FEATURE_DISABLED", "feature_flag"),
    (Conflict(), 409, "CONFLICT", "conflict"),
    (Conflict("The order has left."), 409, "CONFLICT", "conflict"),
    (own(404, "spec_not_found"), 404, "SPEC_NOT_FOUND", "not_found"),
    (own(400, "too_late"), 400, "TOO_LATE", "validation"),
    (own(402), 402, "VALIDATION_ERROR", "validation"),
    (own(402, "payment_required"), 402, "PAYMENT_REQUIRED", "validation"),
    (own(409, "order_shipped"), 409, "ORDER_SHIPPED", "conflict"),
    (own(409), 409, "CONFLICT", "conflict"),
    (own(410), 410, "NOT_FOUND", "not_found"),
    (own(418), 418, "VALIDATION_ERROR", "validation"),
    (own(422), 422, "VALIDATION_ERROR", "validation"),
    (own(422, "unbalanced"), 422, "UNBALANCED", "validation"),
    (own(451), 451, "VALIDATION_ERROR", "validation"),
    (own(500), 500, "INTERNAL_ERROR", "internal"),
    (own(502), 502, "INTERNAL_ERROR", "internal"),
    (own(502, "bank_down"), 502, "BANK_DOWN", "internal"),
    (own(503), 503, "UNAVAILABLE", "unavailable"),
    (own(503, "search_offline"), 503, "SEARCH_OFFLINE", "unavailable"),
]


def name_of(value: object) -> str:
    return type(value).__name__ if isinstance(value, Exception) else str(value)


@pytest.mark.slow
def test_an_exception_has_its_code_its_type_and_the_message_of_http(subtests, serve):
    for exc, status, code, error_type in TABLE:
        with subtests.test(exc=exc, status=status, code=code, error_type=error_type):
            thing = serve(raising(exc))
            over_http = thing.get()
            result = thing.call()
            assert over_http.status_code == status
            assert result.is_error
            assert (result.code, result.data["error_type"]) == (code, error_type)
            body = over_http.json()
            assert result.envelope["error"] == (
                body["detail"] if isinstance(body, dict) else body[0]
            )
            assert len(result.data["remediation"]) > 10


def test_a_validation_error_may_have_the_code_of_another_exception(subtests, serve):
    for code, expected in [
        ("parse_error", "INVALID_FORMAT"),
        ("conflict", "CONFLICT"),
        ("not_found", "NOT_FOUND"),
    ]:
        with subtests.test(code=code, expected=expected):
            result = serve(raising(exceptions.ValidationError("no", code=code))).call()
            assert result.code == expected
            assert result.problems == []


def test_a_throttled_call_says_how_long_to_wait(subtests, serve):
    for wait, seconds, remediation in [
        (None, None, "Wait, then call again."),
        (12.3, 13, "Wait 13 seconds before calling again."),
        (1, 1, "Wait 1 second before calling again."),
    ]:
        with subtests.test(wait=wait, seconds=seconds, remediation=remediation):
            thing = serve(raising(exceptions.Throttled(wait=wait)))
            result = thing.call()
            assert result.data.get("retry_after_seconds") == seconds
            assert thing.get().headers.get("Retry-After") == (
                None if seconds is None else str(seconds)
            )
            assert result.data["remediation"] == remediation


def test_an_exception_that_django_answers_with_400_is_not_quoted(subtests, serve):
    for exc in [
        SuspiciousOperation("secret"),
        BadRequest("secret"),
        MultiPartParserError("secret"),
    ]:
        with subtests.test(exc=exc):
            thing = serve(raising(exc))
            result = thing.call()
            assert thing.get().status_code == 400
            assert result.code == "VALIDATION_ERROR"
            assert result.envelope["error"] == "Bad Request"
            assert "secret" not in str(result.raw)


class Secret(Exception):
    """Its message is not for callers."""


def test_a_crash_is_an_internal_error_with_the_request_id_of_its_log_record(
    serve, reported, caplog
):
    with caplog.at_level(logging.DEBUG, logger="drf_mcp"):
        result = serve(raising(Secret("password=hunter2"))).call()
    request_id = result.envelope["meta"]["request_id"]
    assert result.is_error
    assert (result.code, result.data["error_type"]) == ("INTERNAL_ERROR", "internal")
    assert result.envelope["error"] == (
        f"An unexpected error occurred. It was logged under the id {request_id}."
    )
    assert "request id" in result.data["remediation"]
    assert set(result.data) == {"error_code", "error_type", "remediation"}
    assert "hunter2" not in str(result.raw)
    assert "Secret" not in str(result.raw)
    (record,) = [r for r in caplog.records if r.name.startswith("drf_mcp") and r.exc_info]
    assert (record.levelno, record.exc_info[0]) == (logging.ERROR, Secret)
    assert request_id in record.getMessage()
    (request,) = reported
    assert (request.method, request.path) == ("GET", "/thing/")


class SetsTeam:
    """Sets an attribute on requests to the API, and on no request to the endpoint."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if request.path.startswith("/thing/"):
            request.team = "red"
        return self.get_response(request)


def test_the_log_names_the_middleware_that_sets_what_the_request_lacks(serve, settings, caplog):
    name = f"{__name__}.SetsTeam"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, name]
    thing = serve(answering(lambda request: Response({"team": request.team})))
    assert thing.get().json() == {"team": "red"}
    assert thing.call().envelope["data"]["error_code"] == "INTERNAL_ERROR"
    (record,) = [each for each in caplog.records if each.name == "drf_mcp" and each.exc_info]
    line = f'{name} sets request.team: add "{name}" to DRF_MCP["CALL_MIDDLEWARE"].'
    assert record.getMessage().endswith(line)


def test_the_log_names_no_middleware_for_another_attribute(serve, caplog):
    thing = serve(answering(lambda request: Response({"team": request.team})))
    thing.call()
    assert "CALL_MIDDLEWARE" not in caplog.text
