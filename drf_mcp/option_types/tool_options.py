from __future__ import annotations

from collections.abc import Mapping

from drf_mcp.option_types.hints import EXAMPLES, ICONS, MetaMembers
from drf_mcp.option_types.kinds import (
    Choice,
    Class,
    Either,
    Flag,
    Function,
    Kind,
    MappingOf,
    Number,
    Text,
    Words,
)

SCHEMAS = MappingOf(
    MappingOf(Kind(none=True), "a schema"), "a dict from names to JSON Schemas", none=True
)
JSON_SCHEMA = MappingOf(Kind(none=True), "a JSON Schema as a dict", none=True)
KINDS: Mapping[str, Kind] = {
    "name": Text(none=True),
    "title": Text(lazy=True, none=True),
    "description": Text(lazy=True, none=True),
    **dict.fromkeys(
        ("read_only", "destructive", "idempotent", "open_world", "extra_query", "portable", "many"),
        Flag(none=True),
    ),
    "archive": Flag(none=True),
    "query": SCHEMAS,
    "body": SCHEMAS,
    "input_schema": JSON_SCHEMA,
    "output_schema": Either(Choice("envelope", "full"), JSON_SCHEMA, none=True),
    "envelope_class": Class("drf_mcp.envelopes.Envelope", none=True),
    "max_result_tokens": Number(0, none=True),
    "max_error_tokens": Number(0, none=True),
    "throttle_scope": Text(none=True),
    "time_limit": Number(0, none=True),
    "condition": Function(none=True),
    "tags": Words(),
    "examples": EXAMPLES,
    "keywords": Words(),
    "untrusted": Words(),
    "required_capabilities": MappingOf(Kind(), "a dict such as {'elicitation': {}}", none=True),
    "meta": MetaMembers(none=True),
    "icons": ICONS,
}
COLLECTIONS = frozenset({"tags", "examples", "keywords", "icons", "untrusted"})
VIEW_KINDS: Mapping[str, Kind] = {
    "actions": Words(none=True),
    "exclude": Words(),
    "name": Text(none=True),
}
