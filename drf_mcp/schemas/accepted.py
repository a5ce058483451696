"""What a schema accepts, in the words of an error message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.schemas.portable import FORMATS, spoken
from drf_mcp.schemas.words import listing

ARTICLES = {"array": "an", "integer": "an", "object": "an"}
MOST_CHOICES = 20

FORMAT_NAMES = {
    "date-time": "a date-time",
    "date": "a date (YYYY-MM-DD)",
    "time": "a time of day (hh:mm[:ss])",
    "duration": "a duration ([DD] [hh:[mm:]]ss)",
    "email": "an email address",
    "uri": "a URL",
    "uuid": "a UUID",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "byte": "base64",
    "binary": "a file as base64",
}
"""The kinds of values that formats stand for."""

SENTENCE_NAMES = {
    **{FORMATS[name]: words for name, words in FORMAT_NAMES.items() if name in FORMATS},
    "IPv4 or IPv6 address": "an IPv4 or IPv6 address",
    "Whole number": "a whole number",
    "Decimal number": "a decimal number",
    "File as base64 or data URI": "a file as base64 or data URI",
    "Image as base64 or data URI": "an image as base64 or data URI",
}
"""The kinds that no keyword stands for: a description tells them, in these sentences."""

SENTENCE = re.compile(rf"(?:^|[.!?] )({'|'.join(map(re.escape, SENTENCE_NAMES))})(?=[. ])")
OWN_FORMAT = re.compile(r"(?:^|[.!?] )Format: (.+?)\.(?: |$)")
DIGITS = re.compile(r"Decimal number\.((?: (?:At (?:least|most)|\d+ decimal) .+?\.(?= |$))+)")
FINDER = re.compile(r"(?:^|[.!?] )Find it with (\w+)\.")


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
    name = named_kind(schema) if kind in ("string", "number") else ""
    # What has a kind of its own is never empty.
    shortest = None if name else schema.get("minLength")
    phrases = [name or f"{ARTICLES.get(kind, 'a')} {spoken(schema)}"]
    phrases += span(schema.get("minimum"), schema.get("maximum"), "")
    phrases += span(shortest, schema.get("maxLength"), " characters")
    if "pattern" in schema:
        phrases.append(f"matching {schema['pattern']}")
    if finder := FINDER.search(schema.get("description", "")):
        phrases.append(f"that {finder[1]} gives")
    return " ".join(phrases)


def named_kind(schema: Mapping[str, Any]) -> str:
    """Return the kind of a string or number that a format or a sentence names; "" if none does."""
    if schema.get("format") in FORMAT_NAMES:
        return FORMAT_NAMES[schema["format"]]
    description = schema.get("description", "")
    if found := SENTENCE.search(description):
        digits = DIGITS.search(description)
        limits = [part[:1].lower() + part[1:] for part in sentences_of(digits[1])] if digits else []
        return SENTENCE_NAMES[found[1]] + (f" ({', '.join(limits)})" if limits else "")
    if found := OWN_FORMAT.search(description):
        return f"a string in the format {found[1]}"
    return ""


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text without their full stops."""
    return re.split(r"\. ", text.strip().removesuffix("."))


def span(low: Any, high: Any, unit: str) -> list[str]:
    """Return the words for bounds, as far as there are any."""
    if low is not None and high is not None:
        return [f"from {low} to {high}{unit}"]
    bound = high if low is None else low
    unit = unit.removesuffix("s") if bound == 1 else unit
    if low is not None:
        return [f"of at least {low}{unit}"]
    return [] if high is None else [f"of at most {high}{unit}"]
