"""Content over the limit of bytes or time is cut or left out, with a warning."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from drf_mcp.dispatch.content import ContentReader
from tests.dispatch.views import Source, sending

KEPT = "http://testserver/thing/"
LINES = [f"line {number}\n" for number in range(10, 100)]


def meta(result) -> dict[str, Any]:
    """Return the members of meta that are about the content."""
    members = dict(result.envelope["meta"])
    return {
        name: members[name]
        for name in members
        if name not in ("version", "request_id", "telemetry")
    }


def get_truncation_warning(result) -> dict[str, Any]:
    """Return the only warning of a result, which says that content is missing."""
    (detail,) = result.envelope["meta"]["warning_details"]
    assert (detail["code"], detail["severity"]) == ("CONTENT_TRUNCATED", "info")
    assert result.envelope["meta"]["warnings"] == [detail["message"]]
    return detail


@pytest.fixture
def end_time(monkeypatch) -> None:
    monkeypatch.setattr(ContentReader, "max_stream_seconds", -1.0)


def test_a_text_stream_over_the_limit_is_cut_at_the_limit(serve):
    result = serve(sending(LINES), MAX_CONTENT_BYTES=100).call()
    assert result.data == {"result": "".join(LINES)[:100]}
    assert not result.is_error
    assert meta(result) == {
        "content_fidelity": "partial",
        "content_fidelity_schema_version": "1.0",
        "warnings": [
            "Only the beginning of the text is here: it has more bytes than the 100 that are "
            "taken at most. Ask again for less: filter, or fetch smaller pages."
        ],
        "warning_details": [get_truncation_warning(result)],
    }
    assert get_truncation_warning(result)["context"] == {"reason": "size_limit", "bytes_read": 100}


def test_a_plain_text_over_the_limit_is_cut_and_has_a_link_to_the_whole(serve):
    result = serve(sending("".join(LINES)), MAX_CONTENT_BYTES=100).call()
    assert result.data == {"result": "".join(LINES)[:100]}
    context = {"reason": "size_limit", "bytes_read": 100, "size": 720}
    assert get_truncation_warning(result)["context"] == context
    assert (
        "it has 720 bytes, and at most 100 are taken" in get_truncation_warning(result)["message"]
    )
    link = {"type": "resource_link", "uri": KEPT, "name": "thing", "mimeType": "text/plain"}
    assert result.raw["content"][1:] == [link]


@pytest.mark.usefixtures("end_time")
def test_a_stream_ends_after_the_first_chunk_over_the_time(serve):
    source = Source(itertools.repeat("tick\n"))
    result = serve(sending(source, "text/event-stream")).call()
    assert (source.taken, source.closed) == (1, 1)
    assert result.data == {"result": "tick\n"}
    assert meta(result)["content_fidelity"] == "partial"
    context = {"reason": "time_limit", "bytes_read": 5, "seconds": -1.0}
    assert get_truncation_warning(result)["context"] == context
    assert get_truncation_warning(result)["message"] == (
        "Only the beginning of the text is here: it went on after -1 seconds, when 5 bytes had "
        "been read. Another call would start it anew."
    )


def test_cut_json_is_a_link_with_a_warning(serve):
    rows = [json.dumps({"id": number}) + "," for number in range(100)]
    result = serve(sending(["[", *rows], "application/json"), MAX_CONTENT_BYTES=100).call()
    assert result.data == {"media_type": "application/json", "name": "thing", "uri": KEPT}
    assert meta(result)["content_fidelity"] == "reference_only"
    assert get_truncation_warning(result)["message"] == (
        "A link replaces the content: it has more bytes than the 100 that are taken at most. "
        "Ask again for less: filter, or fetch smaller pages."
    )


def test_every_envelope_says_that_a_text_is_cut(subtests, serve):
    for envelope in ["ResponseV2", "Ok", "Status", "Plain"]:
        with subtests.test(envelope=envelope):
            name = f"drf_mcp.envelopes.{envelope}Envelope"
            thing = serve(sending("".join(LINES)), MAX_CONTENT_BYTES=100, ENVELOPE_CLASS=name)
            text = "".join(block.get("text", "") for block in thing.call().raw["content"])
            assert '"content_fidelity":"partial"' in text.replace(": ", ":")
            assert "Only the beginning of the text is here" in text
