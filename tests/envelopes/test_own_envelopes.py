"""Envelopes that a view built itself: rendered in the active one, never wrapped twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timezone
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rest_framework.response import Response

from drf_mcp.codes import HANDLING
from drf_mcp.envelopes import (
    OkError,
    OkMeta,
    OkResponse,
    ResponseError,
    ResponseMetadata,
    ResponseSeverity,
    StandardMCPResponse,
    error_response,
    metadata,
    ok,
    parse_own_envelope,
    response_v2,
    status,
    success_response,
)
from drf_mcp.outcomes import Category
from tests.dispatch.views import answering
from tests.envelopes.conftest import ENVELOPES
from tests.envelopes.samples import STRUCTURED, parsed
from tests.envelopes.test_arbitrary_outcomes import values

WORKED: dict[str, Callable[[], Any]] = {
    "ToolResponse": lambda: success_response({"a": 1}, warnings=["Old."]),
    "asdict": lambda: asdict(success_response({"a": 1}, warnings=["Old."])),
    "OkResponse": lambda: OkResponse(ok=True, data={"a": 1}, meta=OkMeta(warnings=["Old."])),
    "StandardMCPResponse": lambda: StandardMCPResponse(data={"a": 1}, warnings=["Old."]),
}
SAID = {"message": "No such spec.", "error_code": "SPEC_NOT_FOUND", "error_type": "not_found"}
FAILED: dict[str, Callable[[], Any]] = {
    "ToolResponse": lambda: error_response(**SAID),
    "asdict": lambda: asdict(error_response(**SAID)),
    "StandardMCPResponse": lambda: failed_status(),
}
ANSWERED = {
    "response_v2": lambda e: (e["data"], e["meta"]["warnings"]),
    "ok": lambda e: (e["data"], e["meta"]["warnings"]),
    "status": lambda e: (e["data"], e["warnings"]),
    "plain": lambda e: (e, ["Old."]),
}


def failed_status() -> StandardMCPResponse:
    response = StandardMCPResponse()
    response.add_error(
        ResponseError(
            message="No such spec.", severity=ResponseSeverity.ERROR, code="spec_not_found"
        )
    )
    return response


def view(make: Callable[[], Any], status: int = 200) -> Any:
    return answering(lambda request: Response(make(), status=status))


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("make", WORKED.values(), ids=WORKED)
def test_a_success_is_rendered_in_the_active_envelope(serve, make, envelope):
    result = serve(view(make)).call(envelope)
    assert "isError" not in result.raw
    assert ANSWERED[envelope](result.envelope) == ({"a": 1}, ["Old."])


@pytest.mark.parametrize("make", FAILED.values(), ids=FAILED)
def test_a_failure_sets_is_error_whatever_the_http_status(serve, make):
    result = serve(view(make)).call()
    assert result.is_error
    assert (result.code, result.envelope["error"]) == ("SPEC_NOT_FOUND", "No such spec.")
    ok = serve(view(make)).call("ok")
    assert [error["code"] for error in ok.envelope["errors"]] == ["spec_not_found"]


def test_a_success_with_an_error_status_is_a_failure(serve):
    assert serve(view(lambda: success_response({"a": 1}), status=500)).call().is_error


def test_a_failure_may_say_that_it_is_soft(serve):
    def make() -> Any:
        return error_response(**SAID, data={"hits": [1]}, meta={"soft": True})

    result = serve(view(make)).call("ok")
    assert "isError" not in result.raw
    assert (result.envelope["ok"], result.envelope["data"]) == (False, {"hits": [1]})


def test_an_ok_that_says_no_with_a_good_status_is_soft(serve):
    def make() -> OkResponse:
        error = OkError(code="loose", message="Loose.", path="links[1]", fix_hint="Fix it.")
        return OkResponse(ok=False, errors=[error], data=[1, None], meta=OkMeta())

    soft, hard = serve(view(make)).call("ok"), serve(view(make, status=409)).call("ok")
    assert "isError" not in soft.raw
    assert soft.envelope["data"] == [1, None]
    assert hard.is_error
    for result in (soft, hard):
        (error,) = result.envelope["errors"]
        assert error == {
            "code": "loose",
            "message": "Loose.",
            "path": "links[1]",
            "fix_hint": "Fix it.",
        }


def test_a_soft_no_keeps_its_errors_and_its_data_under_plain(serve):
    errors = [
        OkError(code="loose", message="Link 1 is loose", path="links[1]", fix_hint="Fix it"),
        OkError(code="long", message="It is too long."),
    ]

    def make() -> OkResponse:
        return OkResponse(ok=False, errors=errors, data=[1, None], meta=OkMeta())

    result = serve(view(make)).call("plain")
    assert "isError" not in result.raw
    assert result.envelope == {
        "detail": "links[1]: Link 1 is loose. Fix it. It is too long.",
        "data": [1, None],
    }


def test_everything_that_meta_may_say_is_kept(serve):
    said = {
        "pagination": {"cursor": "c2", "has_more": True, "total_count": 9},
        "rate_limit": {"limit": 100, "remaining": 50, "reset_at": "2026-09-21T14:13:20Z"},
        "content_fidelity": "summary",
        "content_fidelity_schema_version": "1.0",
        "dropped_content_ids": ["x"],
        "content_archive_hashes": {"a": "sha256:b"},
        "warnings": ["Old."],
        "warning_details": [
            {"code": "STALE_CACHE", "severity": "info", "message": "Old.", "context": {"h": 1}}
        ],
    }
    meta = serve(view(lambda: success_response({}, **said))).read()["meta"]
    assert {name: meta[name] for name in said} == said


RESETS = "2026-09-21T14:13:20Z"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (RESETS, RESETS),
        ("2026-09-21T16:13:20+02:00", "2026-09-21T16:13:20+02:00"),
        (1_790_000_000, RESETS),
        (1_790_000_000.0, RESETS),
        (datetime(2026, 9, 21, 14, 13, 20, tzinfo=timezone.utc), RESETS),
    ],
)
def test_a_time_of_reset_is_a_text_however_it_is_said(serve, said, told):
    limit = {"limit": 1, "reset_at": said}
    as_model = serve(view(lambda: success_response({}, rate_limit=limit)))
    as_dict = serve(view(lambda: v2(meta={"rate_limit": limit})))
    assert as_model.read()["meta"]["rate_limit"] == {"limit": 1, "reset_at": told}
    assert as_dict.read()["meta"]["rate_limit"] == {"limit": 1, "reset_at": told}


@pytest.mark.parametrize(
    ("said", "told"), [("hour", "hour"), (60, "minute"), (86400, "day"), (90, "90 seconds")]
)
def test_a_period_is_a_text_however_it_is_said(serve, said, told):
    made = serve(view(lambda: v2(meta={"rate_limit": {"limit": 1, "period": said}})))
    assert made.read()["meta"]["rate_limit"] == {"limit": 1, "period": told}


@pytest.mark.parametrize("said", ["soon", 1e300, [1], float("nan")])
def test_a_time_of_reset_that_is_no_time_is_not_told(serve, said):
    outcome = parse_own_envelope(v2(meta={"rate_limit": {"limit": 1, "reset_at": said}}), 200)
    assert outcome.rate_limit.reset_at is None


def v2(**members: Any) -> dict[str, Any]:
    meta = {"version": "response-v2", **members.pop("meta", {})}
    return {"success": True, "data": {}, "error": None, "meta": meta, **members}


def refused(data: dict[str, Any]) -> dict[str, Any]:
    return v2(success=False, error="No.", data=data)


REFUSED = [
    ("request_id", "a b"),
    ("request_id", "é"),
    ("pagination", {"page": 0}),
    ("pagination", {"page_size": 0}),
    ("pagination", {"total_count": -1}),
    ("pagination", {"total_count": 1.5}),
    ("rate_limit", {"limit": -1}),
    ("rate_limit", {"remaining": True}),
    ("rate_limit", {"retry_after": "soon"}),
    ("rate_limit", {"reset_at": "soon"}),
    ("telemetry", {"duration_ms": -1}),
    ("telemetry", {"downstream_calls": 1.5}),
    ("telemetry", {"cache_hit": "yes"}),
]


@pytest.mark.parametrize(("name", "said"), REFUSED)
def test_what_the_contract_does_not_allow_is_left_out_and_logged(serve, caplog, name, said):
    served = serve(view(lambda: v2(meta={name: said, "more": 1})))
    meta = served.read()["meta"]
    assert meta["more"] == 1
    assert meta.get(name) != said
    assert name == "request_id" or name not in meta
    (place,) = said if isinstance(said, dict) else [""]
    assert f"{name}.{place}".rstrip(".") in caplog.text


@pytest.mark.parametrize(("name", "said"), REFUSED)
def test_the_helpers_refuse_what_the_contract_does_not_allow(name, said):
    for make in (success_response, partial(error_response, "No.")):
        with pytest.raises(ValueError, match=f"not as the contract has it: {name}"):
            make(**{name: said})


@pytest.mark.parametrize(
    "said",
    ["2026-09-21T14:13:20", "2026-09-21 14:13", datetime(2026, 9, 21, 14, 13, 20)],
)
def test_a_time_without_a_zone_is_in_the_zone_of_the_project(serve, settings, said):
    settings.TIME_ZONE = "Europe/Stockholm"
    limit = {"limit": 1, "reset_at": said}
    for make in (
        lambda: success_response({}, rate_limit=limit),
        lambda: v2(meta={"rate_limit": limit}),
    ):
        told = serve(view(make)).read()["meta"]["rate_limit"]["reset_at"]
        assert told.startswith("2026-09-21T14:13")
        assert told.endswith("+02:00")


@pytest.mark.parametrize("code", ["spec_not_found", "specNotFound", "Spec not found"])
@pytest.mark.parametrize(
    "make",
    [
        lambda code: error_response("No.", error_code=code),
        lambda code: refused({"error_code": code}),
    ],
    ids=["helper", "dict"],
)
def test_a_code_in_any_case_has_its_type_and_advice(serve, make, code):
    data = serve(view(lambda: make(code))).read()["data"]
    assert (data["error_code"], data["error_type"]) == ("SPEC_NOT_FOUND", "not_found")
    assert data["remediation"] == HANDLING[Category.NOT_FOUND].remediation


@pytest.mark.parametrize(
    "make", [lambda **meta: success_response({}, **meta), lambda **m: v2(meta=m)]
)
def test_a_warning_in_any_case_has_its_code_and_severity(serve, make):
    detail = {"code": "fallback_used", "message": "From the backup."}
    served = serve(view(lambda: make(warning_details=[detail])))
    (told,) = served.read()["meta"]["warning_details"]
    assert told == {**detail, "code": "FALLBACK_USED", "severity": "info"}


def test_unknown_members_of_pagination_and_rate_limit_are_kept(serve):
    said = {
        "pagination": {"cursor": "c2", "page_count": 3, "links": {"up": "/a"}},
        "rate_limit": {"limit": 9, "burst": 2, "scope": "search"},
    }
    meta = serve(view(lambda: v2(meta=said))).read()["meta"]
    assert meta["pagination"] == {**said["pagination"], "has_more": True}
    assert meta["rate_limit"] == said["rate_limit"]


def test_pages_that_do_not_say_whether_more_follow_are_told_as_they_are(serve):
    made = serve(view(lambda: v2(meta={"pagination": {"total_count": 3}})))
    assert made.read()["meta"]["pagination"] == {"total_count": 3}


def test_details_of_any_kind_are_kept(serve):
    details = {"limit": 5, "used": {"today": 7}}
    data = serve(view(lambda: refused({"error_code": "CONFLICT", "details": details}))).read()[
        "data"
    ]
    assert data["details"] == details


def test_details_that_name_an_argument_are_its_problem_too(serve):
    details = {"field": "lines[0].name", "constraint": "required", "hint": "Look."}
    served = serve(view(lambda: refused({"error_code": "MISSING_REQUIRED", "details": details})))
    told = served.read()["data"]["details"]
    assert {name: told[name] for name in details} == details
    assert (told["received"], "problems" in told) == (None, False)
    assert served.read("ok")["errors"][0]["path"] == "lines[0].name"


@pytest.mark.parametrize("wrong", [{"problems": [None]}, {"field": 3}, {"constraint": None}])
def test_details_of_a_wrong_type_count_for_nothing(serve, wrong):
    told = serve(view(lambda: refused({"error_code": "CONFLICT", "details": {"a": 1, **wrong}})))
    details = told.read()["data"]["details"]
    assert details["a"] == 1
    assert not wrong.items() <= details.items()


def test_unknown_members_of_a_warning_belong_to_its_context(serve):
    detail = {"code": "STALE_CACHE", "message": "Old.", "source": "a", "context": {"hours": 2}}
    (told,) = serve(view(lambda: v2(meta={"warning_details": [detail]}))).read()["meta"][
        "warning_details"
    ]
    assert told["context"] == {"source": "a", "hours": 2}


@pytest.mark.parametrize(
    "said", [{"dropped_content_ids": ["x"]}, {"content_archive_hashes": {"a": "sha256:b"}}]
)
def test_what_was_dropped_is_told_where_no_level_is(serve, said):
    meta = serve(view(lambda: v2(meta=said))).read()["meta"]
    assert meta["content_fidelity"] == "partial"
    assert meta["content_fidelity_schema_version"] == "1.0"
    assert {name: meta[name] for name in said} == said


@pytest.mark.parametrize(
    ("data", "status", "error_type"),
    [
        ({"error_code": "CONFLICT"}, 404, "conflict"),
        ({"error_code": "SPEC_NOT_FOUND"}, 200, "not_found"),
        ({"error_code": "SPEC_NOT_FOUND"}, 400, "not_found"),
        ({"error_code": "OUT_OF_INK"}, 409, "conflict"),
        ({"error_code": "OUT_OF_INK"}, 503, "unavailable"),
        ({"error_code": "OUT_OF_INK"}, 200, "internal"),
        ({"error_code": "OUT_OF_INK", "error_type": "validation"}, 409, "validation"),
        ({}, 404, "not_found"),
    ],
)
def test_the_type_of_an_error_follows_its_code_then_its_ending_then_the_status(
    serve, data, status, error_type
):
    told = serve(view(lambda: refused(data), status=status)).read()["data"]
    assert told["error_type"] == error_type
    assert ("Try again" in told["remediation"]) is (error_type in ("internal", "unavailable"))


@pytest.mark.parametrize("make", [lambda made: made, asdict], ids=["model", "asdict"])
def test_what_error_response_filled_in_gives_way_to_the_status(serve, make):
    served = serve(view(lambda: make(error_response("Out of ink.")), status=409))
    data = served.read()["data"]
    assert (data["error_code"], data["error_type"]) == ("CONFLICT", "conflict")
    assert data["remediation"] == HANDLING[Category.CONFLICT].remediation


def test_everything_that_a_standard_response_says_is_kept(serve):
    said = {
        "request_id": "own",
        "timestamp": "2025-08-07T10:30:00Z",
        "tool_name": "scan_dependencies",
        "tool_version": "2.1",
        "execution_time": 0.5,
        "pagination": {"total_count": 9},
        "build": "b7",
    }
    errors = [
        {"message": "Two names.", "severity": "warning", "code": "names", "recoverable": False}
    ]

    def make() -> StandardMCPResponse:
        return StandardMCPResponse(metadata=ResponseMetadata(**said), errors=errors, data={"a": 1})

    envelope = serve(view(make)).read("status")
    assert envelope["metadata"] == said
    assert (envelope["errors"], envelope["warnings"]) == (errors, [])
    assert (envelope["status"], envelope["data"]) == ("partial_success", {"a": 1})


def test_a_standard_response_that_failed_keeps_its_data(serve):
    """As the contract's ``create_failure`` makes one."""
    error = {"message": "Gone.", "severity": "error", "code": "gone", "recoverable": True}

    def make() -> StandardMCPResponse:
        return StandardMCPResponse(success=False, errors=[error], data={"package_name": "a"})

    envelope = serve(view(make)).read("status")
    assert (envelope["errors"], envelope["data"]) == ([error], {"package_name": "a"})
    assert serve(view(make)).read()["data"]["package_name"] == "a"


def test_a_tool_whose_version_nobody_says_has_the_contracts(serve):
    served = serve(answering(lambda request: Response({})))
    assert served.read("status")["metadata"]["tool_version"] == "1.0.0"


@pytest.mark.parametrize("make", [*WORKED.values(), *FAILED.values()])
def test_plain_http_gives_the_envelope_itself(serve, make):
    """REST framework's own renderer writes the models as they stand."""
    body, made = serve(view(make)).get(), make()
    expected = made if isinstance(made, dict) else made.as_json()
    volatile = ("metadata",)
    assert {k: v for k, v in body.items() if k not in volatile} == {
        k: v for k, v in expected.items() if k not in volatile
    }


def test_a_finalized_response_is_plain_data(serve):
    envelope = serve(view(lambda: StandardMCPResponse(data={"a": 1}).finalize())).read()
    assert envelope["data"]["status"] == "success"
    assert envelope["data"]["data"] == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [
        {"success": True},
        {"success": True, "meta": None},
        {"success": False, "meta": {"version": "response-v1"}},
        {"data": {}, "meta": {"version": "response-v2"}},
    ],
)
def test_what_only_resembles_an_envelope_is_data(serve, body):
    assert serve(view(lambda: body)).read()["data"] == body


METAS = (response_v2.META, ok.META, status.METADATA)
RESERVED = sorted({"soft", "extra"}.union(*(meta["properties"] for meta in METAS)))
FACTS = (metadata.PAGINATION, metadata.RATE_LIMIT)
MEMBERS = sorted({"code", "message", "field", "burst"}.union(*(f["properties"] for f in FACTS)))
objects = st.dictionaries(st.sampled_from(MEMBERS), values | st.floats(), max_size=3)
metas = st.dictionaries(
    st.sampled_from(RESERVED), values | objects | st.lists(objects, max_size=2), max_size=4
)
errors = st.dictionaries(
    st.sampled_from(["error_code", "error_type", "remediation", "details", "more"]),
    values | st.fixed_dictionaries({"problems": st.lists(objects | values, max_size=2)}),
    max_size=3,
)
SCHEMAS = [(used(), Draft202012Validator(used().schema({}))) for used in STRUCTURED]


@given(
    meta=metas,
    success=st.booleans() | values,
    data=values | errors,
    error=values,
)
def test_whatever_a_dict_of_that_version_holds_the_result_validates(meta, success, data, error):
    body = {
        "success": success,
        "data": data,
        "error": error,
        "meta": {**meta, "version": "response-v2"},
    }
    outcome = parse_own_envelope(body, 200)
    assert outcome is not None
    assert (outcome.failure is None) is bool(success)
    for envelope, validator in SCHEMAS:
        validator.validate(parsed(envelope, replace(outcome, tool="t")))
