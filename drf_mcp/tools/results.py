"""An outcome as the result of ``tools/call``, the envelope encoded once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from json.encoder import encode_basestring
from typing import Any

from drf_mcp.dispatch.encoding import AnswerEncoder, unencodable
from drf_mcp.dispatch.errors.remediation import UNWRITABLE
from drf_mcp.envelopes import Envelope
from drf_mcp.json_text import NestedTooDeep, is_nested_deeper, to_bytes
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Encoded, Era, jsonrpc
from drf_mcp.truncation.budget import Budget

# Of objects and arrays inside one another in an answer. serde_json, which clients in Rust use,
# reads 127 of a message, the official Python SDK 200, Python's json some 990; a message adds three.
MAX_DEPTH = 120

_ENVELOPES: dict[type[Envelope], Envelope] = {}


def make_envelope(envelope_class: type[Envelope]) -> Envelope:
    """Return the one instance of an envelope class."""
    envelope = _ENVELOPES.get(envelope_class)
    if envelope is None:
        envelope = _ENVELOPES[envelope_class] = envelope_class()
    return envelope


def tool_result(
    outcome: Outcome,
    envelope: Envelope,
    era: Era,
    encoder: AnswerEncoder,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """Return the members of a CallToolResult, the envelope in both channels."""
    texts = envelope.texts(outcome, encoder.encode)
    if budget is not None and budget.is_exceeded(outcome, "".join(texts)):
        outcome = outcome.changed(data=encoder.plain(envelope.answer(outcome)), body=None)
        outcome = budget.fit(outcome, lambda it: "".join(envelope.texts(it, encoder.encode)))
        texts = envelope.texts(outcome, encoder.encode)
    if texts[0][:1] in ("{", "[") and is_nested_deeper(texts[0], MAX_DEPTH):
        raise NestedTooDeep(MAX_DEPTH)
    blocks = [b'{"type":"text","text":%b}' % to_bytes(encode_basestring(text)) for text in texts]
    blocks += [
        jsonrpc.encode(block) for block in outcome.content if block["type"] in era.content_types
    ]
    members: dict[str, Any] = {"content": Encoded(b"[%b]" % b",".join(blocks))}
    if envelope.structured_content:
        members["structuredContent"] = Encoded(to_bytes(texts[0]))
    if outcome.is_error:
        members["isError"] = True
    if meta := envelope.result_meta(outcome):
        members["_meta"] = meta
    return members


def explained(failed: Outcome, outcome: Outcome, encoder: AnswerEncoder, exc: Exception) -> Outcome:
    """Return the outcome of a result that could not be written, saying what it holds.

    Args:
        failed: the outcome to tell instead.
        outcome: what could not be written.
        encoder: what could not write it.
        exc: why.
    """
    # What failed while it was read would be read again, and nothing is wrong with its type.
    if failed.failure is None or encoder.unread is not None:
        return failed
    if isinstance(exc, (NestedTooDeep, RecursionError)):
        # Looking for the place would write the value once more for each level.
        found: str | None = (
            f"The answer cannot be written as JSON: it is {NestedTooDeep(MAX_DEPTH)}"
        )
    else:
        told = (where(name, part, encoder) for name, part in parts(outcome))
        found = next(filter(None, told), None)
    if found is None:
        return failed
    failure = replace(
        failed.failure,
        message=f"{found}. It was logged under the id {failed.request_id}.",
        remediation=UNWRITABLE.text,
        recoverable=UNWRITABLE.recoverable,
    )
    return replace(failed, failure=failure)


def parts(outcome: Outcome) -> Iterator[tuple[str, Any]]:
    """Yield what a view put into an outcome, each part with its name."""
    yield "The answer", outcome.data
    yield "The telemetry", outcome.telemetry
    yield "The meta", outcome.meta
    for warning in outcome.warnings:
        yield f"The context of the warning {warning.code}", warning.context
    if outcome.failure is not None:
        yield "The context of the failure", outcome.failure.context


def where(name: str, part: Any, encoder: AnswerEncoder) -> str:
    """Return where a part holds what JSON cannot, "" if nowhere."""
    found = unencodable(part, encoder)
    if found is None:
        return ""
    pointer, wrong = found
    return f"{name} cannot be written as JSON: {pointer or 'it'} is {wrong}"
