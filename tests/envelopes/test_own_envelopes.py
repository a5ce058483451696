"""Envelopes that a view built itself are rendered in the active envelope and not wrapped twice.

Most tests use `reread`; the first ones show that a call gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

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
from tests.envelopes.conftest import drop_volatile, reread
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


def v2(**members: Any) -> dict[str, Any]:
    meta = {"version": "response-v2", **members.pop("meta", {})}
    return {"success": True, "data": {}, "error": None, "meta": meta, **members}


def refused(data: dict[str, Any]) -> dict[str, Any]:
    return v2(success=False, error="No.", data=data)


def reread_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the rendered ``meta`` of a dict."""
    return reread(v2(meta=meta))["meta"]


# --- By calls ------------------------------------------------------------------------------


def test_a_success_is_rendered_in_the_active_envelope(thing):
    for make in WORKED.values():
        for envelope, read in ANSWERED.items():
            result = thing.answer_with(make()).call(envelope)
            assert "isError" not in result.raw
            assert read(result.envelope) == ({"a": 1}, ["Old."])
            if envelope in ("response_v2", "ok"):
                assert drop_volatile(result.envelope) == drop_volatile(reread(make(), envelope))


def test_plain_http_gives_the_envelope_itself(thing):
    """REST framework's own renderer writes the models unchanged."""
    for make in (*WORKED.values(), *FAILED.values()):
        body, made = thing.answer_with(make()).get(), make()
        expected = dict(made if isinstance(made, dict) else made.as_json())
        for volatile in (body, expected):
            volatile.pop("metadata", None)
        assert body == expected


def test_a_failure_may_be_marked_as_soft(thing):
    soft = error_response(**SAID, data={"hits": [1]}, meta={"soft": True})
    result = thing.answer_with(soft).call("ok")
    assert "isError" not in result.raw
    assert (result.envelope["ok"], result.envelope["data"]) == (False, {"hits": [1]})


def test_ok_false_with_status_200_is_a_soft_failure(thing):
    """Plain keeps its errors and its data."""
    loose = OkError(code="loose", message="Link 1 is loose", path="links[1]", fix_hint="Fix it")
    errors = [loose, OkError(code="long", message="It is too long.")]
    body = OkResponse(ok=False, errors=errors, data=[1, None], meta=OkMeta())
    plain = thing.answer_with(body).call("plain")
    soft, hard = thing.call("ok"), thing.answer_with(body, status=409).call("ok")
    assert ["isError" in result.raw for result in (soft, hard, plain)] == [False, True, False]
    assert soft.envelope["data"] == [1, None]
    assert [error["message"] for error in soft.envelope["errors"]] == [e.message for e in errors]
    assert soft.envelope["errors"][0] == hard.envelope["errors"][0] == loose.model_dump()
    assert plain.envelope == {
        "detail": "links[1]: Link 1 is loose. Fix it. It is too long.",
        "data": [1, None],
    }


def test_a_body_that_resembles_an_envelope_is_data(thing):
    for body in (
        {"success": True},
        {"success": True, "meta": None},
        {"success": False, "meta": {"version": "response-v1"}},
        {"data": {}, "meta": {"version": "response-v2"}},
        {"ok": True, "data": {"a": 1}, "meta": {}},
        dict(StandardMCPResponse(data={"a": 1}).finalize()),
    ):
        assert parse_own_envelope(body, 200) is None
    copied = thing.answer_with(body).read()["data"]
    assert (copied["status"], copied["data"]) == ("success", {"a": 1})


# --- The members of meta -------------------------------------------------------------------


def test_all_members_of_meta_are_kept():
    written = {
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
    meta = reread(success_response({}, **written))["meta"]
    assert {name: meta[name] for name in written} == written


RESETS = "2026-09-21T14:13:20Z"
RATE_LIMITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    # The time of a reset becomes a text.
    ({"reset_at": RESETS}, {"reset_at": RESETS}),
    ({"reset_at": "2026-09-21T16:13:20+02:00"}, {"reset_at": "2026-09-21T16:13:20+02:00"}),
    ({"reset_at": 1_790_000_000}, {"reset_at": RESETS}),
    ({"reset_at": 1_790_000_000.0}, {"reset_at": RESETS}),
    ({"reset_at": datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)}, {"reset_at": RESETS}),
    # A time without a zone has the zone of the project.
    ({"reset_at": "2026-09-21T14:13:20"}, {"reset_at": "2026-09-21T14:13:20+02:00"}),
    ({"reset_at": "2026-09-21 14:13"}, {"reset_at": "2026-09-21T14:13:00+02:00"}),
    ({"reset_at": datetime(2026, 9, 21, 14, 13, 20)}, {"reset_at": "2026-09-21T14:13:20+02:00"}),
    # A period becomes a text.
    ({"period": "hour"}, {"period": "hour"}),
    ({"period": 60}, {"period": "minute"}),
    ({"period": 86400}, {"period": "day"}),
    ({"period": 90}, {"period": "90 seconds"}),
    ({"burst": 2, "scope": "search"}, {"burst": 2, "scope": "search"}),
]


def test_times_and_periods_of_any_type_become_strings(settings):
    settings.TIME_ZONE = "Europe/Stockholm"
    for written, expected in RATE_LIMITS:
        limit = {"limit": 1, **written}
        for body in (success_response({}, rate_limit=limit), v2(meta={"rate_limit": limit})):
            assert reread(body)["meta"]["rate_limit"] == {"limit": 1, **expected}
    for written in ("soon", 1e300, [1], float("nan")):
        assert reread_meta({"rate_limit": {"limit": 1, "reset_at": written}})["rate_limit"] == {
            "limit": 1
        }


REFUSED: list[tuple[str, Any]] = [
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


def test_values_that_the_contract_forbids_are_left_out_and_logged(caplog):
    """The helpers refuse the same values."""
    for name, written in REFUSED:
        caplog.clear()
        meta = reread_meta({name: written, "more": 1})
        assert meta["more"] == 1
        assert meta.get(name) in (None, "req_1")
        (place,) = written if isinstance(written, dict) else [""]
        assert f"{name}.{place}".rstrip(".") in caplog.text
        arguments: Any = {name: written}
        with pytest.raises(ValueError, match=f"not as the contract has it: {name}"):
            success_response(**arguments)
        with pytest.raises(ValueError, match=f"not as the contract has it: {name}"):
            error_response("No.", **arguments)


def test_missing_members_of_meta_are_filled_in_and_others_kept():
    """A pagination without `has_more` stays without it unless a member implies it."""
    pages = [
        ({"cursor": "c2", "page_count": 3}, {"cursor": "c2", "page_count": 3, "has_more": True}),
        ({"cursor": "c2", "links": {"up": "/a"}}, {"links": {"up": "/a"}, "has_more": True}),
        ({"total_count": 3}, {"total_count": 3}),
    ]
    for written, expected in pages:
        page = reread_meta({"pagination": written})["pagination"]
        assert page == {**written, **expected}
    dropped = {"dropped_content_ids": ["x"]}, {"content_archive_hashes": {"a": "sha256:b"}}
    for written in dropped:
        level = {"content_fidelity": "partial", "content_fidelity_schema_version": "1.0"}
        assert (written | level).items() <= reread_meta(written).items()


def test_the_code_of_a_warning_is_found_in_any_case():
    """Other members go into its context."""
    detail = {"code": "fallback_used", "message": "From the backup."}
    expected = {**detail, "code": "FALLBACK_USED", "severity": "info"}
    for body in (
        success_response({}, warning_details=[detail]),
        v2(meta={"warning_details": [detail]}),
    ):
        assert reread(body)["meta"]["warning_details"] == [expected]
    further = {**detail, "source": "a", "context": {"hours": 2}}
    (written,) = reread_meta({"warning_details": [further]})["warning_details"]
    assert written["context"] == {"source": "a", "hours": 2}


# --- The members of an error ---------------------------------------------------------------


def test_an_error_code_in_any_case_has_its_type_and_remediation():
    for code in ("spec_not_found", "specNotFound", "Spec not found"):
        for body in (error_response("No.", error_code=code), refused({"error_code": code})):
            assert reread(body)["data"] == {
                "error_code": "SPEC_NOT_FOUND",
                "error_type": "not_found",
                "remediation": HANDLING[Category.NOT_FOUND].remediation,
            }


def test_details_of_a_wrong_type_are_left_out_and_others_kept():
    kept = {"limit": 5, "used": {"today": 7}}
    for wrong in ({}, {"problems": [None]}, {"field": 3}, {"constraint": None}):
        details = {**kept, **wrong}
        found = reread(refused({"error_code": "CONFLICT", "details": details}))["data"]["details"]
        assert kept.items() <= found.items()
        assert not wrong or not wrong.items() <= found.items()


def test_details_that_name_an_argument_become_its_problem():
    details = {"field": "lines[0].name", "constraint": "required", "hint": "Look."}
    body = refused({"error_code": "MISSING_REQUIRED", "details": details})
    assert reread(body)["data"]["details"] == details
    assert reread(body, "ok")["errors"][0]["path"] == "lines[0].name"
    details["problems"] = [{"pointer": "/size", "code": "invalid", "message": "Too big."}]
    body["error"] = "lines[0].name: It is missing. (1 more problem)"
    messages = [error["message"] for error in reread(body, "ok")["errors"]]
    assert messages == ["It is missing.", "Too big."]


TYPES = [
    ({"error_code": "CONFLICT"}, 404, "conflict"),
    ({"error_code": "SPEC_NOT_FOUND"}, 200, "not_found"),
    ({"error_code": "SPEC_NOT_FOUND"}, 400, "not_found"),
    ({"error_code": "OUT_OF_INK"}, 409, "conflict"),
    ({"error_code": "OUT_OF_INK"}, 503, "unavailable"),
    ({"error_code": "OUT_OF_INK"}, 200, "internal"),
    ({"error_code": "OUT_OF_INK", "error_type": "validation"}, 409, "validation"),
    ({}, 404, "not_found"),
]


def test_the_type_of_an_error_follows_its_code_then_the_codes_suffix_then_the_status():
    for data, http_status, error_type in TYPES:
        found = reread(refused(data), status=http_status)["data"]
        assert found["error_type"] == error_type
        assert ("Try again" in found["remediation"]) is (error_type in ("internal", "unavailable"))


def test_defaults_of_error_response_are_replaced_by_those_of_the_status():
    filled = error_response("Out of ink.")
    for body in (filled, asdict(filled)):
        assert reread(body, status=409)["data"] == {
            "error_code": "CONFLICT",
            "error_type": "conflict",
            "remediation": HANDLING[Category.CONFLICT].remediation,
        }
    assert reread(filled, status=503)["data"]["error_code"] == "INTERNAL_ERROR"


# --- The standard response -----------------------------------------------------------------


def test_all_members_of_a_standard_response_are_kept():
    written = {
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
    body: Any = StandardMCPResponse(
        metadata=ResponseMetadata(**written), errors=errors, data={"a": 1}
    )
    assert reread(body, "status") == {
        "status": "partial_success",
        "success": True,
        "errors": errors,
        "warnings": [],
        "suggestions": [],
        "metadata": written,
        "data": {"a": 1},
    }


# --- Dicts of any content ------------------------------------------------------------------

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


@pytest.mark.slow
@given(meta=metas, success=st.booleans() | values, data=values | errors, error=values)
def test_any_dict_with_the_version_gives_a_valid_result(meta, success, data, error):
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
