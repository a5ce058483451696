"""Arguments of the right kind, made from an input schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.introspection.field_schema import kind_of

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


def text(schema: dict[str, Any], name: str) -> str:
    """Return a text of the kind, long enough and no longer than it may be."""
    kind = kind_of(schema)
    if kind is not None and kind.example:
        return kind.example
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
