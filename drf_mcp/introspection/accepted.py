"""What a schema accepts, in the words of an error message."""

from __future__ import annotations

from typing import Any

from drf_mcp.introspection.field_schema import facts_of, kind_of
from drf_mcp.introspection.portable import spoken
from drf_mcp.introspection.text import listing
from drf_mcp.introspection.types import Schema

ARTICLES = {"array": "an", "integer": "an", "object": "an"}
MOST_CHOICES = 20


def in_words(schema: Schema) -> str | None:
    """Return what a schema accepts: "an integer from 1 to 5"; None if it says nothing."""
    choices = schema.get("enum")
    if choices:
        shown = listing(choices[:MOST_CHOICES])
        return f"one of {shown}" + (", …" if len(choices) > MOST_CHOICES else "")
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), None)
        schema = schema | {"type": kind}
    if kind is None:
        return None
    if kind == "array":
        inner = in_words(schema.get("items") or {})
        return f"an array, each item {inner}" if inner else "an array"
    name = named_kind(schema) if kind in ("string", "number") else ""
    # What has a kind of its own is never empty.
    shortest = None if name else schema.get("minLength")
    phrases = [name or f"{ARTICLES.get(kind, 'a')} {spoken(schema)}"]
    phrases += span(schema.get("minimum"), schema.get("maximum"), "")
    phrases += span(shortest, schema.get("maxLength"), " characters")
    if "pattern" in schema:
        phrases.append(f"matching {schema['pattern']}")
    if finder := facts_of(schema).finder:
        phrases.append(f"that {finder} gives")
    return " ".join(phrases)


def named_kind(schema: Schema) -> str:
    """Return the kind of a string or number with its limits; "" if it has no name."""
    kind, limits = kind_of(schema), facts_of(schema).limits
    if kind is None or not limits:
        return kind.words if kind else ""
    words, bracket, inside = kind.words.removesuffix(")").partition(" (")
    return f"{words} ({', '.join([inside, *limits] if bracket else limits)})"


def span(low: Any, high: Any, unit: str) -> list[str]:
    """Return the words for bounds, as far as there are any."""
    if low is not None and high is not None:
        return [f"from {low} to {high}{unit}"]
    bound = high if low is None else low
    unit = unit.removesuffix("s") if bound == 1 else unit
    if low is not None:
        return [f"of at least {low}{unit}"]
    return [] if high is None else [f"of at most {high}{unit}"]
