"""Content that a result has no room or no time for: what is given of it, what is said."""

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
    """Return what the envelope says of the answer's fidelity, without what each call has."""
    told = dict(result.envelope["meta"])
    return {name: told[name] for name in told if name not in ("version", "request_id", "telemetry")}


def truncated(result) -> dict[str, Any]:
    """Return the one warning of a result, which is that something is missing."""
    (detail,) = result.envelope["meta"]["warning_details"]
    assert (detail["code"], detail["severity"]) == ("CONTENT_TRUNCATED", "info")
    assert result.envelope["meta"]["warnings"] == [detail["message"]]
    return detail


@pytest.fixture
def no_time(monkeypatch) -> None:
    monkeypatch.setattr(ContentReader, "max_stream_seconds", -1.0)


def test_a_text_that_is_read_whole_says_nothing(serve):
    assert meta(serve(sending(LINES)).call()) == {}
    assert meta(serve(sending("".join(LINES))).call()) == {}


def test_a_text_stream_over_the_limit_is_given_up_to_the_limit(serve):
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
        "warning_details": [truncated(result)],
    }
    assert truncated(result)["context"] == {"reason": "size_limit", "bytes_read": 100}


def test_a_text_over_the_limit_that_is_no_stream_is_given_alike_with_a_link_to_the_whole(serve):
    result = serve(sending("".join(LINES)), MAX_CONTENT_BYTES=100).call()
    assert result.data == {"result": "".join(LINES)[:100]}
    context = {"reason": "size_limit", "bytes_read": 100, "size": 720}
    assert truncated(result)["context"] == context
    assert "it has 720 bytes, of which 100 are taken at most" in truncated(result)["message"]
    link = {"type": "resource_link", "uri": KEPT, "name": "thing", "mimeType": "text/plain"}
    assert result.raw["content"][1:] == [link]


def test_no_character_is_cut(serve):
    assert serve(sending("xéééééé"), MAX_CONTENT_BYTES=10).call().data == {"result": "xéééé"}


def test_a_cut_text_is_read_in_its_own_charset(serve):
    view = sending("é\n".encode("utf-16-le") * 10, "text/plain; charset=utf-16-le")
    assert serve(view, MAX_CONTENT_BYTES=11).call().data == {"result": "é\né\né"}


@pytest.mark.usefixtures("no_time")
def test_a_stream_is_left_at_its_first_chunk_after_the_time(serve):
    source = Source(itertools.repeat("tick\n"))
    result = serve(sending(source, "text/event-stream")).call()
    assert (source.taken, source.closed) == (1, 1)
    assert result.data == {"result": "tick\n"}
    assert meta(result)["content_fidelity"] == "partial"
    context = {"reason": "time_limit", "bytes_read": 5, "seconds": -1.0}
    assert truncated(result)["context"] == context
    assert truncated(result)["message"] == (
        "Only the beginning of the text is here: it went on after -1 seconds, when 5 bytes had "
        "been read. Another call would start it anew."
    )


@pytest.mark.usefixtures("no_time")
def test_a_stream_that_passes_both_limits_at_once_is_too_long(serve):
    result = serve(sending(itertools.repeat("tick\n")), MAX_CONTENT_BYTES=3).call()
    assert truncated(result)["context"]["reason"] == "size_limit"


def test_json_that_was_cut_is_a_link_that_says_so(serve):
    rows = [json.dumps({"id": number}) + "," for number in range(100)]
    result = serve(sending(["[", *rows], "application/json"), MAX_CONTENT_BYTES=100).call()
    assert result.data == {"media_type": "application/json", "name": "thing", "uri": KEPT}
    assert meta(result)["content_fidelity"] == "reference_only"
    assert truncated(result)["message"] == (
        "A link replaces the content: it has more bytes than the 100 that are taken at most. "
        "Ask again for less: filter, or fetch smaller pages."
    )


def test_a_file_over_the_limit_says_its_size(serve):
    result = serve(sending(b"x" * 300, "application/pdf"), MAX_CONTENT_BYTES=100).call()
    assert meta(result)["content_fidelity"] == "reference_only"
    assert truncated(result)["message"] == (
        "A link replaces the content: it has 300 bytes, of which 100 are taken at most."
    )
    assert truncated(result)["context"]["size"] == 300


def test_an_error_text_over_the_limit_is_told_by_its_status(serve):
    result = serve(sending(LINES, status=502), MAX_CONTENT_BYTES=100).call()
    assert (result.code, result.envelope["error"]) == ("INTERNAL_ERROR", "Bad Gateway")


def test_a_cut_text_over_the_budget_tells_of_both(serve):
    """The level is that of the last step, which never claims more than the first."""
    view = sending("word " * 9000)
    told = meta(serve(view, MAX_CONTENT_BYTES=20_000, MAX_RESULT_TOKENS=1500).call())
    first, second = told["warning_details"]
    assert (first["code"], second["code"]) == ("CONTENT_TRUNCATED", "CONTENT_TRUNCATED")
    assert first["context"]["bytes_read"] == 20_000
    assert told["content_fidelity"] == "partial"


def test_every_envelope_tells_that_a_text_is_cut(subtests, serve):
    for envelope in ["ResponseV2", "Ok", "Status", "Plain"]:
        with subtests.test(envelope=envelope):
            name = f"drf_mcp.envelopes.{envelope}Envelope"
            thing = serve(sending("".join(LINES)), MAX_CONTENT_BYTES=100, ENVELOPE_CLASS=name)
            said = "".join(block.get("text", "") for block in thing.call().raw["content"])
            assert '"content_fidelity":"partial"' in said.replace(": ", ":")
            assert "Only the beginning of the text is here" in said
