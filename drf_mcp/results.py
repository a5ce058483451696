"""An outcome as the result of ``tools/call``, the envelope encoded once."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from drf_mcp.encoding import encode_data, to_bytes
from drf_mcp.envelopes import Envelope
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Encoded, Era, jsonrpc


_ENVELOPES: dict[type[Envelope], Envelope] = {}


def make_envelope(envelope_class: type[Envelope]) -> Envelope:
    """Return the one instance of an envelope class."""
    envelope = _ENVELOPES.get(envelope_class)
    if envelope is None:
        envelope = _ENVELOPES[envelope_class] = envelope_class()
    return envelope


def tool_result(outcome: Outcome, envelope: Envelope, era: Era) -> dict[str, Any]:
    """Return the members of a CallToolResult, the envelope in both channels."""
    rendered = envelope.render(outcome)
    text = envelope.text(outcome, rendered, encode_data)
    blocks = [b'{"type":"text","text":%b}' % to_bytes(encode_basestring(text))]
    blocks += [
        jsonrpc.encode(block) for block in outcome.content if block["type"] in era.content_types
    ]
    members: dict[str, Any] = {"content": Encoded(b"[%b]" % b",".join(blocks))}
    if envelope.structured_content:
        members["structuredContent"] = Encoded(to_bytes(text))
    if outcome.is_error:
        members["isError"] = True
    return members
