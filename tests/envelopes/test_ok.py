"""The ok envelope: the contract's own examples, then its rules."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.test import override_settings

from drf_mcp.envelopes import OkEnvelope, OkResponse
from drf_mcp.outcomes import (
    Category,
    Failure,
    Fidelity,
    Outcome,
    Pagination,
    Problem,
    Warning,
)
from tests.envelopes.samples import LAST_CURSOR_PAGE, PAGE, RICH, SOFT_WITH_DATA, TABLE, parsed

VERSION = "ai@2026-04-16-beta"
HASH = "sha256-" + "0a" * 32


def render(outcome: Outcome) -> dict[str, Any]:
    """Return what a client gets."""
    answer: dict[str, Any] = parsed(OkEnvelope(), outcome)
    return answer


def sha256(data: Any) -> str:
    """Return the hash as a client would compute it from what it received."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256-" + hashlib.sha256(text.encode()).hexdigest()


def test_example_of_a_success() -> None:
    page = Pagination(has_more=False)
    outcome = Outcome("t", 200, {"a": "b"}, pagination=page, version=VERSION, content_hash=HASH)
    answer = render(outcome)
    del answer["meta"]["pagination"]
    assert answer == {
        "ok": True,
        "data": {"a": "b"},
        "meta": {"content_hash": HASH, "version": VERSION, "next_cursor": None},
    }


def test_example_of_an_error() -> None:
    message = "Element 'missing_element' not found in ai@2026-04-16-beta."
    hint = "Use list_elements to enumerate available elements."
    problem = Problem("element_not_found", message, "/elements/0/element_id", remediation=hint)
    failure = Failure("ELEMENT_NOT_FOUND", Category.NOT_FOUND, message, hint, (problem,))
    assert render(Outcome("t", 404, failure=failure, version=VERSION)) == {
        "ok": False,
        "errors": [
            {
                "code": "element_not_found",
                "message": message,
                "path": "elements[0].element_id",
                "fix_hint": hint,
            }
        ],
        "meta": {"version": VERSION},
    }


def test_example_of_a_soft_failure() -> None:
    problem = Problem(
        "element_required",
        "Category 'purpose' requires at least one element.",
        "/elements",
        remediation="Add an element with category_id='purpose'.",
    )
    failure = Failure("X", Category.VALIDATION, "Invalid.", "Mend.", (problem,), soft=True)
    outcome = Outcome(
        "validate_datachain", 200, failure=failure, version=VERSION, content_hash=HASH
    )
    assert render(outcome) == {
        "ok": False,
        "errors": [
            {
                "code": "element_required",
                "message": "Category 'purpose' requires at least one element.",
                "path": "elements",
                "fix_hint": "Add an element with category_id='purpose'.",
            }
        ],
        "meta": {"content_hash": HASH, "version": VERSION, "warnings": []},
    }
    assert outcome.is_error is False


def test_a_failure_without_problems_is_one_error() -> None:
    failure = Failure("SPEC_NOT_FOUND", Category.NOT_FOUND, "No spec.", "List them.")
    assert render(Outcome("t", 404, failure=failure))["errors"] == [
        {"code": "spec_not_found", "message": "No spec.", "fix_hint": "List them."}
    ]


def test_the_rows_of_a_page_are_its_data() -> None:
    answer = render(PAGE)
    assert answer["data"] == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
    assert answer["meta"]["next_cursor"] == "2"
    assert answer["meta"]["pagination"]["next"] == {"page": 2}


def test_what_the_view_put_beside_the_rows_stays() -> None:
    outcome = Outcome(
        "t", 200, {"count": 1, "results": [1], "facets": {}}, pagination=Pagination(False)
    )
    assert render(outcome)["data"] == {"results": [1], "facets": {}}


def test_next_cursor_is_null_on_the_last_page() -> None:
    assert render(LAST_CURSOR_PAGE)["meta"]["next_cursor"] is None


def test_there_is_no_next_cursor_without_pages() -> None:
    assert "next_cursor" not in render(Outcome("t", 200, {}))["meta"]


def test_a_soft_failure_keeps_its_data() -> None:
    answer = render(SOFT_WITH_DATA)
    assert answer["ok"] is False
    assert answer["data"] == [{"id": 1, "name": "a"}, None]
    assert answer["meta"]["content_hash"] == sha256(answer["data"])


def test_a_soft_failure_with_an_empty_answer_hashes_the_answer() -> None:
    failure = Failure("X", Category.NOT_FOUND, "None.", "Look.", soft=True)
    assert render(Outcome("t", 200, [], failure))["meta"]["content_hash"] == sha256([])


def test_a_hard_failure_has_no_hash_and_no_data() -> None:
    failure = Failure("NOT_FOUND", Category.NOT_FOUND, "No.", "Look.")
    answer = render(Outcome("t", 404, {"detail": "No."}, failure))
    assert "data" not in answer
    assert "content_hash" not in answer["meta"]


def test_the_hash_can_be_computed_from_what_was_received() -> None:
    answer = render(RICH)
    assert answer["meta"]["content_hash"] == sha256(answer["data"])


def test_the_hash_takes_names_of_several_types() -> None:
    answer = render(Outcome("t", 200, {2: "b", "1": "a", 10: "c"}))
    assert answer["meta"]["content_hash"] == sha256(answer["data"])


@pytest.mark.parametrize("mcp_settings", [{}, {"SERVER_VERSION": "2.1"}])
def test_a_version_that_nobody_said_is_absent(mcp_settings: dict[str, Any]) -> None:
    with override_settings(DRF_MCP=mcp_settings):
        assert "version" not in render(Outcome("t", 200))["meta"]


def test_a_version_that_was_said_without_its_hash_has_none() -> None:
    """The hash of one answer would differ from that of another read of the version."""
    assert render(Outcome("t", 200, {"a": 1}, version=VERSION))["meta"] == {"version": VERSION}


def test_what_the_call_took_is_telemetry() -> None:
    outcome = Outcome("t", 200, telemetry={"duration_ms": 3.5})
    assert render(outcome)["meta"]["telemetry"] == {"duration_ms": 3.5}


def test_warnings_are_sentences() -> None:
    outcome = Outcome("t", 200, {}, warnings=(Warning("STALE_CACHE", "Old."),))
    assert render(outcome)["meta"]["warnings"] == ["Old."]


def test_what_was_left_out_is_told() -> None:
    fidelity = Fidelity("reference_only", ("7",), {"a": "sha256:b"})
    meta = render(Outcome("t", 200, [], fidelity=fidelity))["meta"]
    assert meta["content_fidelity"] == "reference_only"
    assert meta["content_fidelity_schema_version"] == "1.0"
    assert meta["dropped_content_ids"] == ["7"]
    assert meta["content_archive_hashes"] == {"a": "sha256:b"}


@pytest.mark.parametrize("outcome", [outcome for outcome, _ in TABLE.values()], ids=list(TABLE))
def test_the_model_takes_and_gives_back_what_is_rendered(outcome: Outcome) -> None:
    answer = render(outcome)
    assert OkResponse.model_validate(answer).model_dump(exclude_unset=True) == answer


@pytest.mark.parametrize(
    "answer",
    [
        {"ok": True, "errors": [{"code": "a", "message": "b"}], "meta": {}},
        {"ok": False, "meta": {}},
    ],
)
def test_the_model_refuses_errors_on_success_and_failure_without(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="errors are given on failure"):
        OkResponse.model_validate(answer)
