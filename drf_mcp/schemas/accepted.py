"""What a schema accepts, in the words of an error message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.schemas.portable import spoken
from drf_mcp.schemas.words import listing

ARTICLES = {"array": "an", "integer": "an", "object": "an"}
MOST_CHOICES = 20


def in_words(schema: Mapping[str, Any]) -> str | None:
    """Return what a schema accepts: "an integer from 1 to 5"; None if it says nothing."""
    choices = schema.get("enum")
    if choices:
        shown = listing(choices[:MOST_CHOICES])
        return f"one of {shown}" + (", …" if len(choices) > MOST_CHOICES else "")
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), None)
        schema = {**schema, "type": kind}
    if kind is None:
        return None
    if kind == "array":
        inner = in_words(schema.get("items") or {})
        return f"an array, each item {inner}" if inner else "an array"
    name = "a date-time" if schema.get("format") == "date-time" else spoken(schema)
    phrases = [name if name.startswith("a ") else f"{ARTICLES.get(kind, 'a')} {name}"]
    phrases += span(schema.get("minimum"), schema.get("maximum"), "")
    phrases += span(schema.get("minLength"), schema.get("maxLength"), " characters")
    if "pattern" in schema:
        phrases.append(f"matching {schema['pattern']}")
    return " ".join(phrases)


def span(low: Any, high: Any, unit: str) -> list[str]:
    """Return the words for bounds, as far as there are any."""
    if low is not None and high is not None:
        return [f"from {low} to {high}{unit}"]
    bound = high if low is None else low
    unit = unit.removesuffix("s") if bound == 1 else unit
    if low is not None:
        return [f"of at least {low}{unit}"]
    return [] if high is None else [f"of at most {high}{unit}"]
