"""What is known of a value and has no keyword in a schema: data, from which words are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from drf_mcp.introspection.types import Schema

# The word "text", and an image of one pixel.
TEXT = "dGV4dA=="
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)


@dataclass(frozen=True)
class Kind:
    """A kind of text or number.

    Attributes:
        sentence: how a description says it; "" where a keyword is understood everywhere.
        words: how an error message says it.
        example: a value of this kind, "" if none is known.
    """

    sentence: str
    words: str
    example: str = ""


FORMATS = {
    "date-time": Kind("", "a date-time", "2026-01-31T12:00:00Z"),
    "date": Kind("Date, YYYY-MM-DD", "a date (YYYY-MM-DD)", "2026-01-31"),
    "time": Kind("Time, hh:mm[:ss]", "a time of day (hh:mm[:ss])", "12:00:00"),
    "duration": Kind("Duration, [DD] [hh:[mm:]]ss", "a duration ([DD] [hh:[mm:]]ss)", "01:00:00"),
    "email": Kind("Email address", "an email address", "name@example.com"),
    "uri": Kind("URL", "a URL", "https://example.com"),
    "uuid": Kind("UUID", "a UUID", "6b1f6c5e-2a53-4d0e-9c55-0f3f4f1f7a10"),
    "ipv4": Kind("IPv4 address", "an IPv4 address", "192.0.2.1"),
    "ipv6": Kind("IPv6 address", "an IPv6 address", "2001:db8::1"),
    "byte": Kind("Base64 encoded", "base64", TEXT),
    "binary": Kind("File content, base64 encoded", "a file as base64", TEXT),
}
"""The kinds that ``format`` names."""

IP_ADDRESS = Kind("IPv4 or IPv6 address", "an IPv4 or IPv6 address", "192.0.2.1")
WHOLE_NUMBER = Kind("Whole number", "a whole number", "1")
DECIMAL = Kind("Decimal number", "a decimal number", "1")
FILE = Kind("File as base64 or data URI", "a file as base64 or data URI", TEXT)
IMAGE = Kind(
    "Image as base64 or data URI",
    "an image as base64 or data URI",
    f"data:image/png;base64,{PNG}",
)
FILES = (FILE, IMAGE, FORMATS["binary"])


def own_format(format_name: str) -> Kind:
    """Return the kind of a text in a format that is not one of `FORMATS`."""
    return Kind(f"Format: {format_name}", f"a string in the format {format_name}")


@dataclass(frozen=True)
class Facts:
    """What is known of a value.

    Attributes:
        kind: the kind of text or number, None if nothing but its JSON type is known.
        limits: the bounds that no keyword holds, in words.
        meant: what it is meant to be, in words, where anything is taken.
        finder: the tool that lists the objects it identifies, "" if there is none.
    """

    kind: Kind | None = None
    limits: tuple[str, ...] = ()
    meant: str = ""
    finder: str = ""


UNKNOWN = Facts()


class Described(Schema):
    """A schema that carries facts, which are never written as JSON.

    ``schema | {...}`` keeps them; ``{**schema}`` does not.
    """

    def __init__(self, schema: Schema, facts: Facts) -> None:
        super().__init__(schema)
        self.facts = facts

    def __or__(self, other: Any) -> Any:
        """Return the schema with other members, and the same facts."""
        return Described({**self, **other}, self.facts)


def facts_of(schema: Any) -> Facts:
    """Return what a schema carries."""
    return schema.facts if isinstance(schema, Described) else UNKNOWN


def knowing(schema: Schema, **facts: Any) -> Schema:
    """Return a schema that carries further facts."""
    return with_facts(schema, replace(facts_of(schema), **facts))


def with_facts(schema: Schema, facts: Facts) -> Schema:
    """Return a schema that carries these facts."""
    return schema if facts == facts_of(schema) else Described(schema, facts)


def kind_of(schema: Schema) -> Kind | None:
    """Return the kind of a text or number, by what the schema carries or by its format."""
    known = facts_of(schema).kind
    name = schema.get("format")
    if known is not None or not isinstance(name, str):
        return known
    if name in FORMATS:
        return FORMATS[name]
    types = schema.get("type")
    is_text = "string" in types if isinstance(types, list) else types == "string"
    return own_format(name) if is_text else None
