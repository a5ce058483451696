"""Assertions that a schema is portable, written independently of the code that makes it so."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from jsonschema import Draft202012Validator

KEYWORDS = {
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
    # Declared by projects, and ignored by clients that do not know it.
    "x-mcp-header",
}
TYPES = {"string", "integer", "number", "boolean", "array", "object"}
NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")
NOT_ECMASCRIPT = re.compile(
    # escapes that JavaScript refuses or reads in another way
    r"\\[AZzGKhHNQERXbBwW@\-_'\" :;,#%&=<>!~`](?![^\[]*\])"
    r"|\(\?(?![:=!]|<=|<!)"  # named groups, comments, flags, conditions, atomic groups
    r"|[*+?}]\+"  # possessive quantifiers
    r"|\{,"
)


def assert_portable(schema: Any, place: str = "") -> None:
    """Assert that all clients accept a schema and every schema in it."""
    if not place:
        Draft202012Validator.check_schema(schema)
        json.dumps(schema, allow_nan=False)
    assert isinstance(schema, dict), f"{place}: {schema!r} is no object"
    assert set(schema) <= KEYWORDS, f"{place}: {set(schema) - KEYWORDS}"
    assert None not in schema.values(), f"{place}: null member"
    assert schema.get("type", "string") in TYPES, f"{place}: type {schema['type']!r}"
    assert_words(schema, place)
    assert_values(schema, place)
    if schema.get("type") == "array":
        assert_portable(schema["items"], f"{place}/items")
    else:
        assert "items" not in schema, f"{place}: items of no array"
    if schema.get("type") == "object":
        assert_members(schema, place)
    else:
        assert not {"properties", "required"} & set(schema), f"{place}: members of no object"


def assert_words(schema: dict[str, Any], place: str) -> None:
    """Assert that a description is a text of at most 1,024 characters."""
    description = schema.get("description", "-")
    assert isinstance(description, str), f"{place}: {description!r}"
    assert 0 < len(description) <= 1024, f"{place}: {len(description)} characters"


def assert_values(schema: dict[str, Any], place: str) -> None:
    """Assert that enums, formats, patterns and bounds are portable."""
    for value in schema.get("enum", ["-"]):
        assert value is not None, f"{place}: null in enum"
        assert value != "", f"{place}: blank in enum"
    assert "enum" not in schema or schema["enum"], f"{place}: nothing in enum"
    assert schema.get("format", "date-time") == "date-time", f"{place}: {schema['format']}"
    if "pattern" in schema:
        assert schema["type"] == "string", f"{place}: pattern of a {schema['type']}"
        assert not NOT_ECMASCRIPT.search(schema["pattern"]), f"{place}: {schema['pattern']}"
    for keyword in ("minimum", "maximum"):
        assert not isinstance(schema.get(keyword, 0), bool)


def assert_members(schema: dict[str, Any], place: str) -> None:
    """Assert that an object's members have portable names and schemas."""
    properties = schema.get("properties", {})
    for name, member in properties.items():
        assert NAME.match(name), f"{place}: {name!r}"
        assert_portable(member, f"{place}/{name}")
    assert set(schema.get("required", ())) <= set(properties), f"{place}: required"


def assert_portable_arguments(schema: dict[str, Any]) -> None:
    """Assert that a tool's input schema is portable: a closed object of portable members."""
    assert_portable_text(json.dumps(schema, allow_nan=False))


# Cached, since the lists of many tests have the same schemas.
@functools.cache
def assert_portable_text(text: str) -> None:
    """Assert that an input schema, given as JSON, is portable."""
    schema = json.loads(text)
    assert schema["type"] == "object"
    assert schema.get("additionalProperties", False) is False
    assert_portable({key: schema[key] for key in schema if key != "additionalProperties"})
    assert_listed(schema)


UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


def assert_listed(schema: dict[str, Any], place: str = "") -> None:
    """Assert that every value has a type, and that only texts are enumerated."""
    assert "type" in schema, f"{place}: no type"
    assert "enum" not in schema or schema["type"] == "string", f"{place}: {schema['enum']}"
    assert all(isinstance(value, str) for value in schema.get("enum", ())), f"{place}: enum"
    texts = [schema.get(name, "") for name in ("description", "pattern", "default")]
    assert not UNSEEN.search(str([*texts, *schema.get("enum", ())])), f"{place}: {texts}"
    for name, member in schema.get("properties", {}).items():
        assert_listed(member, f"{place}/{name}")
    if schema["type"] == "array":
        assert_listed(schema["items"], f"{place}/items")
