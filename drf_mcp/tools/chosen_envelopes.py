"""The envelope of a tool's results, and what a definition says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.envelopes import Envelope
from drf_mcp.outcomes import MISSING
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import relax_schema

_ENVELOPES: dict[type[Envelope], Envelope] = {}


def make_envelope(envelope_class: type[Envelope]) -> Envelope:
    # One instance of each class: envelopes hold no state of a call.
    if envelope_class not in _ENVELOPES:
        _ENVELOPES[envelope_class] = envelope_class()
    return _ENVELOPES[envelope_class]


def choose_envelope_class(
    tool: Tool | None, endpoint_class: type[Envelope] | None = None
) -> type[Envelope]:
    own = tool.options.envelope_class if tool else None
    chosen: type[Envelope] = own or endpoint_class or mcp_settings.ENVELOPE_CLASS
    return chosen


def get_output_schema(tool: Tool, envelope: Envelope) -> Mapping[str, Any] | None:
    own = tool.options.output_schema
    kind = mcp_settings.OUTPUT_SCHEMA if own is MISSING else own
    if kind is None:
        return None
    if isinstance(kind, Mapping):
        return envelope.schema(relax_schema(kind))
    # Several objects are answered by a list.
    is_known = kind == "full" and not tool.takes_items
    return envelope.schema(tool.schema.output if is_known else {})
