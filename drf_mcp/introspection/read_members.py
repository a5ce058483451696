"""The schemas of members of a request that code reads and nothing declares."""

from __future__ import annotations

from typing import Any

from drf_mcp.introspection.field_schema import FieldSchema, explain, make_text
from drf_mcp.introspection.source.request_members import MemberReading
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import ANY, Relation, Schema, ValueInfo, ValueInfos

# More values are no help for a choice, and cost every list.
MOST_LITERALS, LONGEST = 12, 40
TEXT: Schema = {"type": "string"}
BOOLEAN = frozenset({"true", "false"})
SWITCHES = BOOLEAN | {"yes", "no", "y", "n", "t", "f", "1", "0", "on", "off"}
TYPES: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float)}


def describe_member(reading: MemberReading, bare: Schema) -> Schema:
    """Return the schema of a member, with what code shows of its value.

    Args:
        bare: the schema of a member without anything known.
    """
    if reading.several:
        return {"type": "array", "items": _describe_member(reading, TEXT)}
    schema = _describe_member(reading, bare)
    default = find_default(reading, schema)
    return schema if default is None else schema | {"default": default}


def _describe_member(reading: MemberReading, bare: Schema) -> Schema:
    if reading.kind in TYPES:
        return FieldSchema({"type": reading.kind})
    schema = make_text(reading.kind) if reading.kind else FieldSchema(bare)
    values = find_literals(reading)
    if not values or (reading.several and len(values) == 1):
        return schema
    # A query has true and false as these words.
    if (
        bare is TEXT
        and SWITCHES.issuperset(v.lower() for v in values)
        and not BOOLEAN.isdisjoint(values)
    ):
        return FieldSchema({"type": "boolean"})
    if reading.is_closed:
        return FieldSchema({"type": "string", "enum": list(values)})
    label = "Known values" if len(values) > 1 else "Known value"
    return FieldSchema(explain({**schema, "type": "string"}, f"{label}: {join_values(values)}"))


def find_literals(reading: MemberReading) -> tuple[str, ...]:
    """Return the texts with which a value is compared, () where they are no help."""
    texts = [v for v in reading.literals if isinstance(v, str) and any(map(str.isalnum, v))]
    is_long = len(texts) > MOST_LITERALS and not reading.is_closed
    if is_long or any(len(text) > LONGEST or not text.isprintable() for text in texts):
        return ()
    numbers = [v for v in reading.literals if not isinstance(v, (str, bool))]
    return () if numbers else tuple(texts)


def find_default(reading: MemberReading, schema: Schema) -> Any:
    """Return the value that code takes where none is sent, None for one that means nothing."""
    default, kinds = reading.default, TYPES.get(reading.kind)
    if kinds is not None:
        if isinstance(default, str) and default.lstrip("-").isdecimal():
            default = int(default)
        return default if isinstance(default, kinds) and not isinstance(default, bool) else None
    if schema.get("type") == "boolean":
        return True if str(default).lower() in ("true", "1", "yes") else None
    fits = isinstance(default, str) and 0 < len(default) <= LONGEST
    return default if fits and schema.get("type") == "string" else None


def find_member_info(reading: MemberReading) -> ValueInfos:
    """Return the object that a member identifies."""
    if len(reading.rows) != 1:
        return {}
    ((model, key),) = reading.rows
    return {(ANY,) if reading.several else (): ValueInfo(relation=Relation(model, key))}
