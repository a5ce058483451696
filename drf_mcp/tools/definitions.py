"""What ``tools/list`` says of tools: their output schemas by envelope, and a cache of its JSON."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any

from drf_mcp.envelopes import Envelope
from drf_mcp.outcomes import MISSING
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import relax_schema

_ENVELOPES: dict[type[Envelope], Envelope] = {}
# In each process. The list of a thousand tools has some two million bytes.
MOST_BYTES = 32 * 1024 * 1024


class DefinitionCache:
    """A cache of lists of definitions as JSON, for all callers who see the same tools."""

    def __init__(self) -> None:
        self.joined: OrderedDict[Hashable, bytes] = OrderedDict()
        self.size = 0
        self.lock = threading.Lock()

    def find(self, key: Hashable) -> bytes | None:
        """Return the list of a key, None if there is none."""
        with self.lock:
            joined = self.joined.get(key)
            if joined is not None:
                self.joined.move_to_end(key)
            return joined

    def keep(self, key: Hashable, joined: bytes) -> None:
        """Keep a list, and drop those that were least recently used."""
        with self.lock:
            self.size += len(joined) - len(self.joined.pop(key, b""))
            self.joined[key] = joined
            while self.size > MOST_BYTES:
                self.size -= len(self.joined.popitem(last=False)[1])


# Keywords for people, and keywords whose members are names of their own.
WORDS = frozenset({"title", "description", "examples", "default", "$comment"})
NAMED = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
DEFINITIONS = DefinitionCache()


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
    is_known = kind != "envelope" and not tool.takes_items
    output = tool.schema.output if is_known else {}
    if kind == "data":
        return describe_data(envelope, output) if output else None
    return envelope.schema(output)


def describe_data(envelope: Envelope, output: dict[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of the members that hold the view's value, without words.

    It holds for failures too, which have an object of their own in the same place.
    """
    whole, around = envelope.schema(output), envelope.schema({})
    if whole is None or around is None:
        return None
    known = find_success(around)
    data = {
        name: schema if schema.get("type") == "object" else {"anyOf": [schema, {"type": "object"}]}
        for name, schema in without_words({"properties": find_success(whole)})["properties"].items()
        if schema != known.get(name)
    }
    return {"type": "object", "properties": data}


def find_success(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    # An envelope describes its success before its failure.
    members: Mapping[str, Any] = schema.get("anyOf", [schema])[0].get("properties", {})
    return members


def without_words(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_words(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: {key: without_words(each) for key, each in value.items()}
        if name in NAMED and isinstance(value, Mapping)
        else without_words(value)
        for name, value in schema.items()
        if name not in WORDS
    }
