"""Answers of every form that are too long."""

from __future__ import annotations

import json

import pytest

from drf_mcp.calls.budget import FIELDS_HINT
from drf_mcp.envelopes import (
    DigestPayload,
    OkEnvelope,
    PlainEnvelope,
    ResponseV2Envelope,
    StatusEnvelope,
    verify_payload,
)
from drf_mcp.outcomes import Pagination, RateLimit, Warning
from drf_mcp.settings import SMALLEST_BUDGET
from drf_mcp.truncation import canonical_text
from tests.truncation.fitted import fit, fit_data, success

LONG = " ".join(f"Sentence {number} speaks of warehouse {number % 7}." for number in range(200))


def rows(count: int, **members) -> list[dict]:
    """Return rows with ids from 1."""
    return [{"id": number, "name": f"Row {number}", **members} for number in range(1, count + 1)]


def page_of(count: int) -> dict:
    """Return a page of rows."""
    return {"count": 999, "next": "https://x/?page=2", "previous": None, "results": rows(count)}


def test_one_long_text_keeps_its_beginning_and_says_how_to_retrieve_the_rest():
    text = LONG * 20
    fitted = fit_data({"id": 1, "text": text, "title": "T"}, 5000)
    kept = fitted.outcome.data["text"]
    (warning,) = fitted.outcome.warnings
    (entry,) = fitted.entries
    assert fitted.level == "partial"
    assert text.startswith(kept)
    assert 4800 < fitted.tokens <= 5000
    assert fitted.outcome.data == {"id": 1, "text": kept, "title": "T"}
    assert warning.message == (
        f"{len(text) - len(kept)} of {len(text)} characters of text left out, to fit 5000 tokens. "
        f"Next: content_retrieve(archive_id={entry.archive_id!r}, offset={len(kept)}) "
        "within 3600 seconds."
    )
    assert fitted.restored["text"] == text


@pytest.mark.slow
def test_a_text_of_a_script_with_many_tokens_keeps_its_beginning():
    text = "港口的風暴打破了防波堤船隻無法靠岸。" * 80
    fitted = fit(success({"id": 1, "body": text}), 1000)
    assert text.startswith(fitted.outcome.data["body"])
    assert len(fitted.outcome.data["body"]) > 700
    assert fitted.restored == {"id": 1, "body": text}


def test_several_long_texts_are_digests_and_no_row_is_dropped():
    fitted = fit_data(rows(10, body=LONG), 5000)
    assert fitted.level == "summary"
    for row in fitted.outcome.data:
        assert verify_payload(DigestPayload.from_json(row["body"]), canonical_text(LONG))
    assert fitted.restored == rows(10, body=LONG)


def test_several_long_texts_keep_their_beginnings_if_there_is_much_room():
    fitted = fit_data({"a": LONG * 20, "b": LONG * 30}, 8000)
    data = fitted.outcome.data
    assert (LONG * 20).startswith(data["a"])
    assert (LONG * 30).startswith(data["b"])
    assert 0.9 < len(data["a"]) / len(data["b"]) < 1.1
    assert fitted.level == "partial"


def test_a_text_shorter_than_its_share_is_kept_whole_and_leaves_room_to_others():
    fitted = fit_data([{"a": LONG * 9, "b": LONG[:1800]}], 3000)
    assert fitted.outcome.data[0]["b"] == LONG[:1800]
    assert fitted.outcome.fidelity.dropped == ("data[0].a",)
    assert 2800 < fitted.tokens <= 3000


def test_without_a_digester_each_text_keeps_its_beginning():
    fitted = fit_data(rows(10, body=LONG), 5000, digester=None)
    assert fitted.level == "partial"
    assert all(LONG.startswith(row["body"]) for row in fitted.outcome.data)
    assert fitted.restored == rows(10, body=LONG)


@pytest.mark.slow
def test_a_digest_in_the_answer_is_not_digested_again():
    digest = fit_data(rows(9, body=LONG), 5000).outcome.data[0]["body"]
    fitted = fit_data(rows(30, body=digest), 5000)
    assert fitted.level == "partial"
    assert all(row["body"] == digest for row in fitted.outcome.data)


def test_a_digest_is_recognized_in_any_notation():
    digest = {
        "version": "1.0",
        "content_type": "digest/v1",
        "query_hash": "e3b0c442",
        "summary": "The mole broke. " * 120,
        "key_points": ["The ships are safe."] * 10,
        "evidence_snippets": [],
        "original_chars": 9000,
        "digest_chars": 2110,
        "compression_ratio": 0.2344,
        "source_text_hash": "sha256:" + "0" * 64,
    }
    turned = dict(sorted(digest.items(), reverse=True))
    for written in (digest, json.dumps(turned), "\n" + json.dumps(digest, indent=2)):
        data = [{"id": n, "content": written} for n in range(9)]
        fitted = fit_data(data, 4000)
        assert fitted.outcome.data == data[: len(fitted.outcome.data)]
        assert fitted.level == "partial"


def test_a_thousand_short_rows_lose_their_tail_under_one_name():
    """As many rows are kept as fit, and the envelope is written few times to find their number."""
    fitted = fit_data(rows(1000, note="x" * 50), 10_000)
    kept = len(fitted.outcome.data)
    assert fitted.level == "partial"
    assert fitted.outcome.data == rows(1000, note="x" * 50)[:kept]
    assert fitted.outcome.fidelity.dropped == (f"data[{kept}:1000]",)
    assert [item["id"] for item in fitted.items] == list(map(str, range(kept + 1, 1001)))
    assert fitted.restored == rows(1000, note="x" * 50)
    assert 10_000 - fitted.tokens < 200
    assert fitted.written <= 20


def test_a_few_dropped_rows_are_named_by_their_keys():
    fitted = fit_data(rows(30, note="x" * 200), 1900)
    kept = len(fitted.outcome.data)
    assert 10 < kept < 30
    assert fitted.outcome.fidelity.dropped == tuple(map(str, range(kept + 1, 31)))


def test_rows_too_long_for_the_budget_keep_their_id_and_label():
    wide = [{**row, **{f"k{n}": "v" * 30 for n in range(3000)}} for row in rows(5)]
    fitted = fit_data(wide, 5000)
    assert fitted.level == "reference_only"
    assert fitted.outcome.data == rows(5)


def test_the_lists_of_an_object_share_the_budget():
    fitted = fit_data({"cats": rows(500), "dogs": rows(400), "owl": 1}, 2000)
    cats, dogs = len(fitted.outcome.data["cats"]), len(fitted.outcome.data["dogs"])
    assert abs(cats - dogs) <= 1
    assert fitted.outcome.fidelity.dropped == (f"cats[{cats}:500]", f"dogs[{dogs}:400]")
    assert fitted.restored == {"cats": rows(500), "dogs": rows(400), "owl": 1}


def test_rows_without_distinct_keys_are_named_by_their_index():
    for row in ({"id": 1, "note": "x" * 90}, {"note": "x" * 120}):
        fitted = fit_data([row] * 30, 1000)
        kept = len(fitted.outcome.data)
        assert fitted.outcome.fidelity.dropped[0] == f"data[{kept}]"


def test_a_wide_object_loses_its_last_members():
    wide = {f"day-{number}": number for number in range(5000)}
    fitted = fit_data(wide, 2500)
    kept = len(fitted.outcome.data)
    assert kept > 300
    assert list(fitted.outcome.data) == list(wide)[:kept]
    assert fitted.outcome.fidelity.dropped[0] == f"day-{kept}"
    assert fitted.restored == wide


@pytest.mark.slow
def test_a_deep_tree_is_cut_at_a_depth():
    tree: dict = {}
    node = tree
    for number in range(300):
        node["child"] = {"name": f"Level {number}", "text": "t" * 300}
        node = node["child"]
    fitted = fit_data(tree, 2500)
    assert fitted.outcome.data["child"]["name"] == "Level 0"
    assert fitted.restored == tree


def test_the_smallest_budget_leaves_an_empty_answer_and_archives_all():
    fitted = fit_data({"a": 1, "b": ["c"]}, 10)
    assert fitted.outcome.data == {}
    assert fitted.level == "reference_only"
    assert fitted.items == [{"id": "data", "pointer": "", "value": {"a": 1, "b": ["c"]}}]


def test_an_empty_answer_has_the_type_of_the_answer():
    for data, empty in (([1], []), ("text", ""), (7, 7), (None, None)):
        assert fit_data(data, 10).outcome.data == empty


def test_an_empty_page_keeps_its_pagination():
    page = Pagination(True, 999, page=1, next={"page": 2})
    fitted = fit(success(page_of(3), pagination=page), 10)
    assert fitted.outcome.data == {**page_of(3), "results": []}
    assert fitted.envelope["meta"]["pagination"]["next"] == {"page": 2}


def test_warnings_that_fill_the_budget_are_dropped():
    noisy = success({"a": 1}, warnings=(Warning("STALE_CACHE", "w" * 5000),))
    fitted = fit(noisy, 1000)
    assert fitted.tokens <= 1000
    assert [warning.code for warning in fitted.outcome.warnings] == ["CONTENT_TRUNCATED"]


CURSOR = "cD0yMDI2LTExLTIxKzE3JTNBMDA" * 3
OTHER_MEMBERS = {
    "warnings": tuple(Warning("W", "Not all was done.") for _ in range(99)),
    "suggestions": ("Look again. " * 9,) * 9,
    "telemetry": {"duration_ms": 12.5, "database_queries": 4},
    "meta": {"source": "m" * 900},
    "rate_limit": RateLimit(100, 3, 1790000000, 60),
    "pagination": Pagination(True, 999, 20, 7, CURSOR, {"cursor": CURSOR, "search": "mole"}),
}


@pytest.mark.slow
def test_the_smallest_budget_holds_the_metadata_of_an_empty_answer():
    outcome = success(page_of(3) | {"results": rows(99)}, **OTHER_MEMBERS).changed(tool="t" * 64)
    for envelope_class in (ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope):
        for keep in (True, False, None):
            for limit in (1, SMALLEST_BUDGET):
                fitted = fit(outcome, limit, envelope_class, keep, less=FIELDS_HINT)
                assert fitted.tokens <= SMALLEST_BUDGET, (envelope_class, keep, limit)


def test_an_empty_answer_names_its_archived_metadata():
    fitted = fit(success(rows(99), **OTHER_MEMBERS), 1)
    meta = fitted.envelope["meta"]
    assert "Nothing of the answer fits, nor all other members" in meta["warnings"][0]
    assert [item["id"] for item in fitted.items] == [
        "data",
        "warnings",
        "suggestions",
        "meta",
        "telemetry",
    ]


def test_response_v2_has_all_facts_about_a_shortened_answer():
    fitted = fit_data(rows(1000, note="x" * 50), 10_000)
    meta = fitted.envelope["meta"]
    (detail,) = meta["warning_details"]
    entry = fitted.entries[0]
    kept = len(fitted.outcome.data)
    assert list(fitted.envelope) == ["success", "error", "meta", "data"]
    assert meta["content_fidelity"] == "partial"
    assert meta["content_fidelity_schema_version"] == "1.0"
    assert meta["content_archive_hashes"] == {entry.archive_id: entry.content_hash}
    assert meta["dropped_content_ids"] == [f"data[{kept}:1000]"]
    assert detail["code"] == "CONTENT_TRUNCATED"
    assert detail["severity"] == "info"
    assert detail["context"] == {
        "dropped_count": 1000 - kept,
        "total_count": 1000,
        "reason": "token_limit_exceeded",
    }
    summary = f"{1000 - kept} of 1000 items left out, to fit 10000 tokens."
    call = f"Next: content_retrieve(archive_id='{entry.archive_id}') within 3600 seconds."
    assert detail["message"] == f"{summary} {call}"
    assert meta["warnings"] == [summary]


@pytest.mark.slow
def test_at_most_fifty_names_are_listed():
    fitted = fit_data({f"of {n}": rows(20) for n in range(70)}, 5000)
    assert len(fitted.envelope["meta"]["dropped_content_ids"]) == 50


def order(number: int, lines: int) -> dict:
    """Return a row with a nested list."""
    inner = [{"id": line, "sku": "s" * 40} for line in range(lines)]
    return {"id": number, "name": f"Order {number}", "status": "paid", "lines": inner}


@pytest.mark.slow
def test_a_row_keeps_as_much_of_its_nested_list_as_fits():
    """A row in a page keeps as much as a row in a list."""
    answer = [order(1, 1000)]
    for data, page in ((answer, None), (page_of(0) | {"results": answer}, Pagination(False))):
        fitted = fit(success(data, pagination=page), 10_000)
        (row,) = fitted.outcome.data["results"] if page else fitted.outcome.data
        assert 9_800 < fitted.tokens <= 10_000
        assert row["status"] == "paid"
        assert len(row["lines"]) > 300
        assert fitted.level == "partial"
        assert fitted.restored == data


@pytest.mark.slow
def test_one_row_with_a_long_list_displaces_no_other_row():
    fitted = fit_data([order(0, 1000), *(order(n, 3) for n in range(1, 20))], 10_000)
    assert [row["id"] for row in fitted.outcome.data] == list(range(20))
    assert all(len(row["lines"]) == 3 for row in fitted.outcome.data[1:])
    assert fitted.tokens > 9_500


def test_dropped_parts_have_different_names():
    """A dot in a name is no path, and a member is no row."""
    text = "x y. " * 1500
    fitted = fit_data({"a.b": text, "a": {"b": text}, "": {"": text}}, 2000)
    dropped = fitted.envelope["meta"]["dropped_content_ids"]
    assert len(set(dropped)) == 3
    fitted = fit_data(
        {"rows": [{"id": f"k{n}", "of": "x" * 99} for n in range(30)], "k29": text}, 1500
    )
    dropped = fitted.envelope["meta"]["dropped_content_ids"]
    assert len(set(dropped)) == len(dropped)
    assert "rows[" in dropped[0]


def test_a_member_and_metadata_with_the_same_name_are_named_differently():
    noisy = tuple(Warning("W", "w" * 300) for _ in range(60))
    fitted = fit(success({"warnings": "x y. " * 1500, "id": 1}, warnings=noisy), 1000)
    names = [item["id"] for item in fitted.items]
    assert sorted(names) == ["/warnings", "warnings"]


def test_a_part_with_a_very_long_name_gets_a_short_one():
    fitted = fit_data({"k" * 3000: {"m" * 3000: "x y. " * 3000}}, 5000)
    (name,) = fitted.envelope["meta"]["dropped_content_ids"]
    assert len(name) < 300
    assert fitted.items[0]["pointer"] == f"/{'k' * 3000}/{'m' * 3000}"


def test_without_an_archive_content_retrieve_is_not_named():
    fitted = fit_data(rows(1000), 2500, keep=None)
    meta = fitted.envelope["meta"]
    assert "content_archive_hashes" not in meta
    assert "content_retrieve" not in fitted.text
    assert meta["dropped_content_ids"]


def test_an_archive_that_fails_is_a_warning_and_content_retrieve_is_not_named():
    fitted = fit_data(rows(1000), 2500, keep=False)
    codes = [detail["code"] for detail in fitted.envelope["meta"]["warning_details"]]
    assert fitted.tokens <= 2500
    assert codes == ["CONTENT_TRUNCATED", "ARCHIVE_UNAVAILABLE"]
    assert "content_retrieve" not in fitted.text
    assert "content_archive_hashes" not in fitted.envelope["meta"]


def test_the_length_of_a_measurement_does_not_change_how_much_fits():
    kept = {
        len(fit(success(rows(200), telemetry={"duration_ms": took}), 2500).outcome.data)
        for took in (1.5, 12.25, 123.125, 1234.0625)
    }
    assert len(kept) == 1
