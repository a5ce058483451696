"""Arguments of the right kind, made from an input schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.schemas.accepted import named_kind

# The word "text", and an image of one pixel.
TEXT = "dGV4dA=="
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)

KINDS = {
    "a date-time": "2026-01-31T12:00:00Z",
    "a date": "2026-01-31",
    "a time of day": "12:00:00",
    "a duration": "01:00:00",
    "an email address": "name@example.com",
    "a URL": "https://example.com",
    "a UUID": "6b1f6c5e-2a53-4d0e-9c55-0f3f4f1f7a10",
    "an IPv4 address": "192.0.2.1",
    "an IPv6 address": "2001:db8::1",
    "an IPv4 or IPv6 address": "192.0.2.1",
    "a whole number": "1",
    "a decimal number": "1",
    "base64": TEXT,
    "a file as base64": TEXT,
    "a file as base64 or data URI": TEXT,
    "an image as base64 or data URI": f"data:image/png;base64,{PNG}",
}
"""Texts by the kinds that `named_kind` tells, without what it says of them in brackets."""

WORD = "text"
MAX_REPEATED = 12


def example_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for the required members of an object's schema, none for the others."""
    properties = schema.get("properties", {})
    return {name: example(properties.get(name, {}), name) for name in schema.get("required", ())}


def example(schema: Any, name: str = "") -> Any:
    """Return a value that a schema takes; "..." where any will do.

    Args:
        schema: a JSON Schema of the portable subset.
        name: what the value is called, which tells an e-mail address.
    """
    if not isinstance(schema, Mapping):
        return "..."
    for stated in ("default", "const"):
        if stated in schema:
            return schema[stated]
    for stated in ("examples", "enum"):
        if schema.get(stated):
            return schema[stated][0]
    kinds = schema.get("type")
    kind = next((k for k in kinds if k != "null"), None) if isinstance(kinds, list) else kinds
    maker = MAKERS.get(kind or "")
    return "..." if maker is None else maker(schema, name)


def number(schema: Mapping[str, Any], name: str) -> Any:
    """Return a number within the bounds, 1 if it may be."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and least > 1:
        return least
    return most if most is not None and most < 1 else 1


def text(schema: Mapping[str, Any], name: str) -> str:
    """Return a text of the kind, long enough and no longer than it may be."""
    kind = named_kind(schema).partition(" (")[0]
    if kind in KINDS:
        return KINDS[kind]
    if "email" in name:
        return "name@example.com"
    value = WORD.ljust(schema.get("minLength", 0), "x")
    value = value[: schema.get("maxLength", len(value))]
    return value if "pattern" not in schema else matching(schema["pattern"], value)


def matching(pattern: str, value: str) -> str:
    """Return a text that a simple pattern takes; of another pattern, the value all the same."""
    repeated = [letter * length for length in range(1, MAX_REPEATED + 1) for letter in "aA1"]
    candidates = (text for text in (value, *repeated) if re.search(pattern, text))
    return next(candidates, value)


def array(schema: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list of one item, or of as many as there have to be."""
    return [example(schema.get("items", {}), name)] * max(schema.get("minItems", 1), 1)


MAKERS: dict[str, Any] = {
    "integer": number,
    "number": number,
    "string": text,
    "boolean": lambda schema, name: True,
    "array": array,
    "object": lambda schema, name: example_arguments(schema),
}
