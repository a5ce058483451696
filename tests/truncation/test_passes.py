"""How often a long answer is encoded and decoded as JSON for a result and an archive."""

from __future__ import annotations

import json
import sys
from unittest import mock

import pytest

from drf_mcp import json_text
from tests.truncation.conftest import Said

ENVELOPES = ["ResponseV2", "Ok", "Status", "Plain"]
LAST = "the last row of all"
ROWS = [{"id": n, "z": "x" * 300, "a": LAST if n == 600 else ""} for n in range(601)]


@pytest.fixture
def count_passes(library, alice, monkeypatch):
    """Count how often the last row, which the result leaves out, is encoded and decoded."""
    encode, decode = json.JSONEncoder.encode, json.JSONDecoder.decode
    counts = {"written": 0, "read": 0}

    def counting(write):
        def count_written(*values):
            text = write(*values)
            counts["written"] += LAST in text
            return text

        return count_written

    # Modules import these functions by name.
    for write in (json_text.encode_plain, json_text.encode_ascii, json_text.canonical_json):
        counted = counting(write)
        for name, module in list(sys.modules.items()):
            if name.startswith("drf_mcp."):
                for attribute in [n for n, value in vars(module).items() if value is write]:
                    monkeypatch.setattr(module, attribute, counted)

    def counting_decode(decoder, text, *args):
        counts["read"] += LAST in text
        return decode(decoder, text, *args)

    def count(answer: object, envelope: str = "ResponseV2") -> tuple[int, int]:
        counts.update(written=0, read=0)
        library(ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}Envelope")
        monkeypatch.setattr(Said, "answer", answer)
        with (
            mock.patch.object(json.JSONEncoder, "encode", counting(encode)),
            mock.patch.object(json.JSONDecoder, "decode", counting_decode),
        ):
            alice.call("said")
        return counts["written"], counts["read"]

    return count


@pytest.mark.slow
def test_rows_are_encoded_twice_and_decoded_once(count_passes):
    """Once for their length, and once for the archive and the hash."""
    for envelope in ENVELOPES:
        assert count_passes(ROWS, envelope) == (2, 1), envelope
    assert count_passes({"results": ROWS}) == (2, 1)


@pytest.mark.slow
def test_a_long_text_is_encoded_twice_and_decoded_once(count_passes):
    """Once for its length, and once for the archive and the hash."""
    for envelope in ENVELOPES:
        answer = {"id": 1, "text": "Chapter. " * 20_000 + LAST}
        assert count_passes(answer, envelope) == (2, 1), envelope
