"""The digest payload: fields, limits, helpers, and evidence that can be verified."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from drf_mcp.envelopes import (
    DigestPayload,
    EvidenceSnippet,
    Locator,
    deserialize_payload,
    serialize_payload,
    validate_payload_dict,
    verify_evidence,
    verify_payload,
)

EXAMPLE: dict[str, Any] = {
    "version": "1.0",
    "content_type": "digest/v1",
    "query_hash": "ab12cd34",
    "summary": "Condensed summary of the source content...",
    "key_points": [
        "First key insight extracted from the document",
        "Second key insight with supporting detail",
    ],
    "evidence_snippets": [
        {
            "text": "Exact quote from the source document...",
            "locator": "char:1500-1650",
            "relevance_score": 0.85,
        }
    ],
    "original_chars": 25000,
    "digest_chars": 2500,
    "compression_ratio": 0.10,
    "source_text_hash": "sha256:" + "ab" * 32,
}


def snippet(text: str, locator: str) -> EvidenceSnippet:
    return EvidenceSnippet(text=text, locator=locator, relevance_score=1)


def test_the_example_goes_through_every_helper() -> None:
    payload = validate_payload_dict(EXAMPLE)
    assert json.loads(serialize_payload(payload)) == EXAMPLE
    assert deserialize_payload(serialize_payload(payload)) == payload
    assert DigestPayload.from_json(payload.to_json()) == payload


def test_version_and_content_type_have_defaults_and_every_other_field_is_required() -> None:
    defaults = {"version": "1.0", "content_type": "digest/v1"}
    for name in EXAMPLE:
        members = {key: value for key, value in EXAMPLE.items() if key != name}
        if name in defaults:
            assert getattr(validate_payload_dict(members), name) == defaults[name]
        else:
            with pytest.raises(ValidationError, match="Field required"):
                validate_payload_dict(members)


EVIDENCE = EXAMPLE["evidence_snippets"][0]


LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"query_hash": "AB12CD34"}, r"String should match pattern '^[a-f0-9]{8}$'"),
    ({"query_hash": "ab12cd345"}, r"String should match pattern '^[a-f0-9]{8}$'"),
    ({"summary": "x" * 2001}, "String should have at most 2000 characters"),
    ({"key_points": ["x", "x" * 501]}, "key_points[1]: exceeds maximum length of 500"),
    ({"key_points": ["x"] * 11}, "at most 10 items"),
    ({"evidence_snippets": [EVIDENCE] * 11}, "at most 10 items"),
    ({"original_chars": -1}, "greater than or equal to 0"),
    ({"digest_chars": -1}, "greater than or equal to 0"),
    ({"compression_ratio": 1.1}, "Input should be less than or equal to 1"),
    ({"source_text_hash": "sha256:ab"}, "match pattern '^sha256:[a-f0-9]{64}$'"),
    ({"content_type": "text/plain"}, "digest/v1"),
    (
        {"evidence_snippets": [{**EVIDENCE, "relevance_score": 1.5}]},
        "Input should be less than or equal to 1",
    ),
    (
        {"evidence_snippets": [{**EVIDENCE, "text": "x" * 501}]},
        "String should have at most 500 characters",
    ),
    ({"evidence_snippets": [{**EVIDENCE, "locator": "line 3"}]}, "char:START-END"),
]


def test_a_value_over_a_limit_is_refused_with_the_message_of_the_contract() -> None:
    for change, message in LIMITS:
        with pytest.raises(ValidationError) as caught:
            validate_payload_dict({**EXAMPLE, **change})
        assert message in str(caught.value)


def test_a_value_at_a_limit_is_allowed() -> None:
    """The longest texts and lists, and both ends of each range."""
    most = {
        "summary": "x" * 2000,
        "key_points": ["x" * 500] * 10,
        "evidence_snippets": [{**EVIDENCE, "text": "x" * 500, "relevance_score": 1}] * 10,
        "compression_ratio": 1,
    }
    least = {"original_chars": 0, "digest_chars": 0, "compression_ratio": 0, "key_points": []}
    for change in (most, least):
        assert validate_payload_dict({**EXAMPLE, **change})


def test_only_the_two_locator_formats_are_read_and_written() -> None:
    formats = {
        "char:1500-1800": Locator(1500, 1800),
        "page:3:char:200-450": Locator(200, 450, page=3),
        "char:0-0": Locator(0, 0),
    }
    assert {text: Locator.parse(text) for text in formats} == formats
    assert [str(locator) for locator in formats.values()] == list(formats)
    arabic = "char:\N{ARABIC-INDIC DIGIT ONE}-2"
    for text in ("", "char:5-4", "char:-1-4", "page:0:char:1-2", "page:3", "char:1-2\n", arabic):
        with pytest.raises(ValueError, match=r"char:|ends before"):
            Locator.parse(text)


@given(text=st.text(min_size=1), data=st.data())
def test_an_exact_excerpt_verifies(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(len(text), start + 500)))
    assert verify_evidence(snippet(text[start:end], str(Locator(start, end))), text)


def test_a_shifted_excerpt_does_not_verify() -> None:
    assert not verify_evidence(snippet("bcd", "char:0-3"), "abcdef")


def test_offsets_of_a_page_count_within_the_page() -> None:
    pages = ["first page", "second page"]
    assert verify_evidence(snippet("second", "page:2:char:0-6"), pages)
    assert verify_evidence(snippet("pagesecond", "char:6-16"), pages)
    assert not verify_evidence(snippet("second", "page:3:char:0-6"), pages)


def test_offsets_of_a_page_count_within_a_text_without_pages() -> None:
    assert verify_evidence(snippet("cd", "page:3:char:2-4"), "abcdef")


def test_a_payload_verifies_against_its_source_only() -> None:
    expected = {
        ("abcdef", "bc"): True,
        ("abcdeX", "bc"): False,
        ("Xabcdef", "bc"): False,
        ("abcdef", "XX"): False,
    }
    found = {}
    for text, evidence in expected:
        payload = validate_payload_dict(
            {
                **EXAMPLE,
                "evidence_snippets": [snippet(evidence, "char:1-3").model_dump()],
                "source_text_hash": "sha256:" + hashlib.sha256(b"abcdef").hexdigest(),
            }
        )
        found[text, evidence] = verify_payload(payload, text)
    assert found == expected
