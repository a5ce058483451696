"""The portable subset of JSON Schema: what every client and model provider accepts.

One pass at the end turns a schema for input into that subset. A keyword outside it
becomes one inside, or words in the description, so that nothing the view wants is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeGuard

from drf_mcp.introspection.field_schema import (
    FORMATS,
    facts_of,
    kind_of,
    own_format,
    with_facts,
)
from drf_mcp.introspection.names import is_portable
from drf_mcp.introspection.patterns import is_ecmascript
from drf_mcp.introspection.references import resolved
from drf_mcp.introspection.text import explain, listing, text
from drf_mcp.introspection.types import Schema

LONGEST_DESCRIPTION = 1024

KEYWORDS = (
    "type",
    "description",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "default",
)
"""Every keyword of the subset, in the order written."""

TYPED = ("type", "items", "properties", "required", "additionalProperties")
"""Keywords that cannot stand where values are of several types."""


def portable(schema: Any) -> Schema:
    """Return the schema in the portable subset.

    Of JSON Schema it uses the members of `KEYWORDS` alone, one type at a time; arrays
    always have ``items``; patterns compile in ECMAScript; null appears nowhere.
    """
    return narrowed(resolved(schema, schema))


def narrowed(schema: Any) -> Schema:
    """Return a schema without references in the portable subset."""
    if not isinstance(schema, dict):  # true takes anything, false has nothing to take
        return {}
    facts = facts_of(schema)
    for step in SETTLING:
        schema = step(schema)
    # The format is about to become words, which nothing reads.
    facts = replace(facts, kind=facts.kind or kind_of(schema))
    for step in WRITING:
        schema = step(schema)
    known = {name: schema[name] for name in KEYWORDS if schema.get(name) is not None}
    return with_facts(shortened(known), facts)


def combined(schema: Schema) -> Schema:
    """Merge what all of several schemas ask; choose between several, or leave it open."""
    for part in schema.get("allOf") or ():
        if isinstance(part, dict):
            schema = merged(combined(part), schema)
    for keyword in ("anyOf", "oneOf"):
        members = [member for member in schema.get(keyword) or () if isinstance(member, dict)]
        schema = chosen(schema, [combined(member) for member in members])
    return schema


def merged(base: Schema, over: Schema) -> Schema:
    """Return one schema that asks what both ask; the second decides where they differ."""
    properties = {**base.get("properties", {}), **over.get("properties", {})}
    required = list(dict.fromkeys([*base.get("required", []), *over.get("required", [])]))
    both = {**base, **over}
    return {
        **both,
        **({"properties": properties} if properties else {}),
        **({"required": required} if required else {}),
    }


def chosen(schema: Schema, members: list[Schema]) -> Schema:
    """Return one schema for a choice between several."""
    others = [member for member in members if member.get("type") != "null"]
    schema = explain(schema, "May be null") if len(others) < len(members) else schema
    members = others
    if not members:
        return schema
    if len(members) == 1:
        return merged(members[0], schema)
    types = {str(member.get("type")) for member in members}
    if len(types) == 1 and all("enum" in member for member in members):
        values = [value for member in members for value in member["enum"]]
        return merged({**members[0], "enum": values}, schema)
    known = {"type": members[0]["type"]} if len(types) == 1 and "type" in members[0] else {}
    spoken_members = dict.fromkeys(filter(None, map(spoken, members)))
    return explain({**schema, **known}, f"Either {' or '.join(spoken_members)}")


def spoken(schema: Any) -> str:
    """Return a schema in two or three words."""
    if not isinstance(schema, dict):
        return "any value"
    if schema.get("enum"):
        return f"one of {listing(schema['enum'])}"
    kind = schema.get("type") or "any value"
    name = " or ".join(kind) if isinstance(kind, list) else str(kind)
    inner = spoken(schema["items"]) if kind == "array" and schema.get("items") else ""
    return f"{name} of {inner}" if inner else name


def single_type(schema: Schema) -> Schema:
    """Settle on one type without null; on none if there are several."""
    types = schema.get("type")
    if isinstance(types, list):
        others = [name for name in types if name != "null"]
        schema = {**schema, "type": others[0] if len(others) == 1 else None}
        schema = explain(schema, "May be null") if len(others) < len(types) else schema
        if len(others) > 1:
            return without_type(schema, others)
    if schema.get("type") == "null":
        return {**schema, "type": None}
    if schema.get("type") is None and schema.get("properties"):
        return {**schema, "type": "object"}
    return schema


def without_type(schema: Schema, types: list[str]) -> Schema:
    """Return a schema of several types as one of any value that says which those are."""
    kinds = [spoken_members({**schema, "type": name, "enum": None}) for name in types]
    rest = {name: value for name, value in schema.items() if name not in TYPED}
    return explain(rest, f"Either {' or '.join(kinds)}")


def spoken_members(schema: Schema) -> str:
    """Return a schema in a few words, an object with the names of its members."""
    names = listing(schema.get("properties") or ()) if schema.get("type") == "object" else ""
    return f"object with {names}" if names else spoken(schema)


def without_null(schema: Schema) -> Schema:
    """Write ``const`` as an enumeration, and keep null and "" out of enumerations.

    Some providers refuse an empty string there, so it is put in words.
    """
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return schema
    kept = [value for value in values if value is not None and value != ""]
    unique = [value for place, value in enumerate(kept) if value not in kept[:place]]
    if schema.get("type") is None and unique and all(isinstance(value, str) for value in unique):
        schema = {**schema, "type": "string"}
    blank = "May be blank" if "" in values else ""
    return explain({**schema, "enum": unique or None}, blank)


def plain_format(schema: Schema) -> Schema:
    """Keep the one format that is understood everywhere, and say the others."""
    name = schema.get("format")
    if name is None or (name == "date-time" and schema.get("type") == "string"):
        return schema
    rest = {**schema, "format": None}
    if name in FORMATS:
        return explain(rest, FORMATS[name].sentence)
    return explain(rest, own_format(name).sentence) if schema.get("type") == "string" else rest


def plain_pattern(schema: Schema) -> Schema:
    """Keep a pattern that ECMAScript compiles, and say another."""
    pattern = schema.get("pattern")
    if pattern is None or (schema.get("type") == "string" and is_ecmascript(pattern)):
        return schema
    return explain({**schema, "pattern": None}, f"Must match {pattern}")


def inclusive(schema: Schema) -> Schema:
    """Write exclusive bounds of integers as inclusive ones, and say those of numbers."""
    schema = bound(schema, "exclusiveMinimum", "minimum", "Greater than", 1, max)
    return bound(schema, "exclusiveMaximum", "maximum", "Less than", -1, min)


def bound(
    schema: Schema,
    exclusive: str,
    keyword: str,
    words: str,
    step: int,
    tightest: Callable[..., int],
) -> Schema:
    """Replace one exclusive bound, in its own form or as OpenAPI 3.0's flag."""
    limit = schema.get(exclusive)
    if limit is True:
        limit = schema.get(keyword)
        schema = {**schema, keyword: None}
    if not is_number(schema.get(keyword)):
        schema = {**schema, keyword: None}
    if not is_number(limit):
        return schema
    if schema.get("type") != "integer":
        return explain(schema, f"{words} {limit}")
    whole = math.floor(limit) if step > 0 else math.ceil(limit)
    present = schema.get(keyword)
    return {**schema, keyword: tightest(whole + step, present if is_number(present) else whole)}


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return True for a finite JSON number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def said(schema: Schema) -> Schema:
    """Say what no keyword of the subset can: titles, values of an object, steps, examples."""
    values = schema.get("additionalProperties")
    phrases = (
        "" if schema.get("description") else text(schema.get("title")),
        f"Values: {spoken(values)}" if isinstance(values, dict) and values else "",
        f"A multiple of {schema['multipleOf']}" if schema.get("multipleOf") else "",
        "No duplicates" if schema.get("uniqueItems") is True else "",
        f"At least {schema['minProperties']} members" if schema.get("minProperties") else "",
        f"At most {schema['maxProperties']} members" if schema.get("maxProperties") else "",
        f"Example: {schema['example']}" if isinstance(schema.get("example"), (str, int)) else "",
    )
    return explain(schema, *phrases)


def nested(schema: Schema) -> Schema:
    """Narrow items and members."""
    if schema.get("type") == "array":
        schema = {**schema, "items": narrowed(schema.get("items"))}
    else:
        schema = {**schema, "items": None}
    if schema.get("type") == "object":
        return with_members(schema)
    return {**schema, "properties": None, "required": None}


def with_members(schema: Schema) -> Schema:
    """Narrow the members of an object; a name no client takes is told in words."""
    members = schema.get("properties") or {}
    properties = {name: narrowed(member) for name, member in members.items() if is_portable(name)}
    required = [name for name in schema.get("required") or () if name in properties]
    others = listing(name for name in members if not is_portable(name))
    schema = {**schema, "properties": properties or None, "required": required or None}
    return explain(schema, f"Also takes {others}" if others else "")


def shortened(schema: Schema) -> Schema:
    """Cut a description that is too long, between two words."""
    description = schema.get("description", "")
    if len(description) <= LONGEST_DESCRIPTION:
        return schema
    cut = description[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0]
    return {**schema, "description": f"{cut[: LONGEST_DESCRIPTION - 1]}…"}


SETTLING = (combined, single_type, without_null)
WRITING = (
    plain_format,
    plain_pattern,
    inclusive,
    said,
    nested,
)
