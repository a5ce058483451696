"""Every answer of every handler arrives whole in every envelope, whatever the budget.

What a result has no room for is named, each name fetches what it stands for, and slices are
followed to the last. By night all of the matrix runs, by day each kind of answer once.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from drf_mcp import envelopes
from drf_mcp.exposure import registry
from drf_mcp.truncation import count_tokens
from tests.stored.answers import HANDLERS, SHAPES, WAYS, find_marks, make_handlers, read_whole

pytestmark = pytest.mark.django_db
ENVELOPES = ("ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope")
BUDGETS = (1000, 2000, 6000)
KINDS = list(itertools.product(WAYS, SHAPES))
OTHERS = list(itertools.product(HANDLERS, ENVELOPES, BUDGETS))
# By day each kind has another of the others; 41 has no divisor in common with their number.
DRAWN = [(*kind, *OTHERS[41 * n % len(OTHERS)]) for n, kind in enumerate(KINDS)]
WHOLE = [(*kind, *others) for kind in KINDS for others in OTHERS]
CASES = WHOLE if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else DRAWN
ARCHIVED = re.compile(r"archive_id='([\w-]+)'")
AGAIN = re.compile(r"(?i)\b(call|ask)( it| the tool)? again")


@pytest.mark.parametrize(("way", "shape", "handler", "envelope", "budget"), CASES)
def test_an_answer_arrives_whole(expose, alice, way, shape, handler, envelope, budget):
    value, (give, said) = SHAPES[shape](), WAYS[way]
    expose(
        make_handlers(lambda: give(value))[handler],
        ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}",
        ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive",
        MAX_RESULT_TOKENS=budget,
        MAX_ERROR_TOKENS=budget,
        MAX_KEPT_RESULTS=10_000,
    )
    (tool,) = registry.tools().keys() - {"content_retrieve"}
    raw = alice.call(tool, **({"pk": 1} if handler == "retrieve" else {})).raw

    def check(result: Any) -> None:
        check_result(result, envelope, budget)

    check(raw)
    text = "\n".join(block["text"] for block in raw["content"])
    assert bool(raw.get("isError")) == (way in ("error_response", "409")), text
    for each in said:
        assert each in text, text
    check_failure(text, way, envelope)
    lost = find_marks(json.dumps(value)) - find_marks(text)
    names = set(ARCHIVED.findall(text))
    if lost:
        (detail,) = find_details(raw, envelope)
        assert 0 < detail["context"]["dropped_count"] <= detail["context"]["total_count"]
    if handler == "decorated":
        # Nothing runs the decorator again, so nothing is kept.
        assert not names
        return
    given = "".join(read_whole(alice, each, check) for each in names)
    assert lost <= find_marks(given), text
    if handler == "create" and not raw.get("isError"):
        assert not AGAIN.search(text), text
    check_names(alice, raw, envelope, lost)


def check_result(raw: dict[str, Any], envelope: str, budget: int) -> None:
    text = "".join(block["text"] for block in raw["content"])
    assert count_tokens(text) <= budget, text
    if envelope == "PlainEnvelope":
        assert "structuredContent" not in raw
        return
    rendered = json.loads(raw["content"][0]["text"])
    assert raw["structuredContent"] == rendered
    Draft202012Validator(getattr(envelopes, envelope)().schema({})).validate(rendered)


def check_failure(text: str, way: str, envelope: str) -> None:
    codes = {"SoftFailure": "closed_today", "error_response": "spec_broken", "409": "sold_out"}
    if way in codes and envelope != "PlainEnvelope":
        assert codes[way] in text.lower(), text
        assert '"success":true' not in text
        assert '"ok":true' not in text


def find_meta(raw: dict[str, Any], envelope: str) -> dict[str, Any]:
    if envelope == "PlainEnvelope":
        return json.loads(raw["content"][-1]["text"]) if len(raw["content"]) > 1 else {}
    body = raw["structuredContent"]
    return body["metadata" if envelope == "StatusEnvelope" else "meta"]


def find_details(raw: dict[str, Any], envelope: str) -> list[dict[str, Any]]:
    details = find_meta(raw, envelope).get("warning_details", [])
    return [each for each in details if each["code"] == "CONTENT_TRUNCATED"]


def check_names(agent: Any, raw: dict[str, Any], envelope: str, lost: set[str]) -> None:
    """Check that each name fetches something, and that all names fetch all that is lost."""
    meta = find_meta(raw, envelope)
    own = {"mine-1", "mine"}
    names = [each for each in meta.get("dropped_content_ids", []) if each not in own]
    archives = [each for each in meta.get("content_archive_hashes", {}) if each not in own]
    assert bool(names) >= bool(lost)
    for archive_id in archives:
        given = ""
        for name in names[:3]:
            fetched = read_whole(agent, archive_id, lambda raw: None, ids=[name])
            assert fetched
            given += fetched
        if len(names) <= 3:
            assert lost <= find_marks(given)
