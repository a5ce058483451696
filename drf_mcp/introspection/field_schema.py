"""JSON Schemas with what no keyword says of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

ANY_VALUE = "Any JSON value"
# An enumeration of more values is described in words, with some of them.
MOST_VALUES = 50
# The word "text", and an image of one pixel.
TEXT = "dGV4dA=="
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)


@dataclass(frozen=True)
class ValueKind:
    """A kind of text, such as a date.

    Attributes:
        sentence: for descriptions; "" where every client knows the format.
        words: for errors.
        example: such a text.
        pattern: the texts that REST framework and Django read, "" where other code reads them.
        plain: whether the pattern says the same as the sentence.
    """

    sentence: str
    words: str
    example: str = ""
    pattern: str = ""
    plain: bool = False


FORMATS = {
    "date-time": ValueKind("", "a date-time", "2026-01-31T12:00:00Z"),
    "date": ValueKind("Date, YYYY-MM-DD", "a date (YYYY-MM-DD)", "2026-01-31", plain=True),
    "time": ValueKind("Time, hh:mm[:ss]", "a time of day (hh:mm[:ss])", "12:00:00"),
    "duration": ValueKind(
        "Duration, [DD] [hh:[mm:]]ss", "a duration ([DD] [hh:[mm:]]ss)", "01:00:00"
    ),
    "email": ValueKind("Email address", "an email address", "name@example.com", plain=True),
    "uri": ValueKind("URL", "a URL", "https://example.com"),
    "uuid": ValueKind("UUID", "a UUID", "6b1f6c5e-2a53-4d0e-9c55-0f3f4f1f7a10"),
    "ipv4": ValueKind("IPv4 address", "an IPv4 address", "192.0.2.1"),
    "ipv6": ValueKind("IPv6 address", "an IPv6 address", "2001:db8::1"),
    "ip": ValueKind("IPv4 or IPv6 address", "an IPv4 or IPv6 address", "192.0.2.1"),
    "byte": ValueKind("Base64 encoded", "base64", TEXT),
    "binary": ValueKind("File content, base64 encoded", "a file as base64", TEXT),
}
# No longer than the words for them, since every list has them. What they let pass, such as a month
# 13, the view refuses.
PATTERNS = {"date": r"\d{4}-\d\d-\d\d", "email": r"\S+@\S+"}
WHOLE_NUMBER = ValueKind("Whole number", "a whole number", "1")
DECIMAL = ValueKind("Decimal number", "a decimal number", "1", plain=True)
FILE = ValueKind("File as base64 or data URI", "a file as base64 or data URI", TEXT)
IMAGE = ValueKind(
    "Image as base64 or data URI",
    "an image as base64 or data URI",
    f"data:image/png;base64,{PNG}",
)
FILES = (FILE, IMAGE, FORMATS["binary"])


def make_own_format(format_name: str) -> ValueKind:
    return ValueKind(f"Format: {format_name}", f"a string in the format {format_name}")


@dataclass(frozen=True)
class Meaning:
    """What no keyword says of a value.

    Attributes:
        limits: bounds for which the type has no keyword, in words.
        intention: the intended values, in words, where the schema takes any.
        finder: the tool that lists the objects which the value identifies.
        identity: the sentence of the description that says what the value identifies.
        examples: values that people wrote.
        choices: pairs of value and label, where an enumeration would be too long.
        json_type: the type that lists show, where the schema takes any value.
    """

    kind: ValueKind | None = None
    limits: tuple[str, ...] = ()
    intention: str = ""
    finder: str = ""
    identity: str = ""
    examples: tuple[Any, ...] = ()
    choices: tuple[tuple[Any, Any], ...] = ()
    json_type: str = ""


UNKNOWN = Meaning()


class FieldSchema(dict[str, Any]):
    """A JSON Schema with what its values mean, such as a moment or a key."""

    # The meaning is not written as JSON. ``schema | {...}`` keeps it, ``{**schema}`` does not.

    def __init__(self, schema: Any = (), meaning: Meaning = UNKNOWN) -> None:
        super().__init__(schema)
        self.meaning = meaning

    @classmethod
    def of(cls, schema: Any) -> FieldSchema:
        if isinstance(schema, FieldSchema):
            return schema
        return cls(schema if isinstance(schema, dict) else ())

    def __or__(self, other: Any) -> FieldSchema:  # type: ignore[override]
        return FieldSchema({**self, **other}, self.meaning)

    def with_meaning(self, **meaning: Any) -> FieldSchema:
        return FieldSchema(self, replace(self.meaning, **meaning))

    def with_example(self, value: Any) -> FieldSchema:
        return (self | {"examples": [value]}).with_meaning(examples=(value,))

    def with_kind(self, kind: ValueKind) -> FieldSchema:
        return explain(self, kind.sentence).with_meaning(kind=kind)

    @property
    def types(self) -> list[str]:
        kind = self.get("type") or []
        return [name for name in ([kind] if isinstance(kind, str) else kind) if name != "null"]

    @property
    def kind(self) -> ValueKind | None:
        name = self.get("format")
        if self.meaning.kind is not None or not isinstance(name, str):
            return self.meaning.kind
        if name in FORMATS:
            return FORMATS[name]
        return make_own_format(name) if "string" in self.types else None

    @property
    def format_name(self) -> str:
        words = self.kind.words if self.kind is not None else ""
        return next((name for name, kind in FORMATS.items() if kind.words == words), "")

    def without_words(self, sentence: str) -> FieldSchema:
        words, sentence = self.get("description", ""), join_sentences(sentence)
        if not sentence or sentence not in words:
            return self
        rest = " ".join(words.replace(sentence, "").split())
        schema = {name: value for name, value in self.items() if name != "description"}
        return FieldSchema({**schema, "description": rest} if rest else schema, self.meaning)

    def without_pattern(self) -> FieldSchema:
        kind = self.meaning.kind
        return self if kind is None else self.with_meaning(kind=replace(kind, pattern=""))

    def allow_null(self) -> FieldSchema:
        widened = self | {}
        if "type" in self:
            widened["type"] = [*self.types, "null"]
        if "enum" in self and None not in self["enum"]:
            widened["enum"] = [*self["enum"], None]
        if "anyOf" in self:
            widened["anyOf"] = [*self["anyOf"], {"type": "null"}]
        return FieldSchema(widened, self.meaning)

    def allows(self, value: Any) -> bool:
        size = len(value) if isinstance(value, (str, list, dict)) else value
        least = [self[name] for name in ("minimum", "minLength", "minItems") if name in self]
        most = [self[name] for name in ("maximum", "maxLength", "maxItems") if name in self]
        within = all(low <= size for low in least) and all(size <= high for high in most)
        return within and value in self.get("enum", [value])


JSON_TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


def name_json_type(sample: Any) -> str:
    """Return the type of a value, or of the values that `list` or `dict` makes; "" for others."""
    return JSON_TYPES.get(sample if isinstance(sample, type) else type(sample), "")


def make_text(format_name: str, *, blank: bool = False) -> FieldSchema:
    """Return the schema of a text in a format, as REST framework's or Django's code reads it."""
    kind, body = FORMATS[format_name], PATTERNS.get(format_name, "")
    pattern = f"^({body})?$" if blank else f"^{body}$"
    kind = replace(kind, pattern=pattern if body else "")
    if format_name == "ip":  # no format of JSON Schema
        return FieldSchema({"type": "string"}).with_kind(kind)
    return FieldSchema({"type": "string", "format": format_name}, Meaning(kind=kind))


def join_sentences(*parts: str) -> str:
    closed = [part if part[-1] in ".!?" else f"{part}." for part in parts if part]
    return " ".join(dict.fromkeys(closed))


def explain(given: Any, *parts: str) -> FieldSchema:
    schema = FieldSchema.of(given)
    description = join_sentences(schema.get("description", ""), *parts)
    return schema | {"description": description} if description else schema


def make_example_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {
        name: make_example(properties.get(name, {}), name) for name in schema.get("required", ())
    }


def make_example(schema: Any, name: str = "") -> Any:
    schema = FieldSchema.of(schema)
    meaning, kind, json_type = schema.meaning, schema.kind, next(iter(schema.types), "")
    if meaning.examples or meaning.choices:
        return meaning.examples[0] if meaning.examples else meaning.choices[0][0]
    for keyword in ("default", "const"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("examples", "enum"):
        if schema.get(keyword):
            return schema[keyword][0]
    if json_type in ("integer", "number"):
        return min(max(schema.get("minimum", 1), 1), schema.get("maximum", math.inf))
    if json_type == "boolean":
        return True
    if json_type == "array":
        return [make_example(schema.get("items", {}), name)] * max(schema.get("minItems", 1), 1)
    if json_type == "object":
        return make_example_arguments(schema)
    if json_type != "string":
        return "..."
    if kind is not None and kind.example:
        return kind.example
    if "email" in name:
        return "name@example.com"
    value = "text".ljust(schema.get("minLength", 0), "x")
    value = value[: schema.get("maxLength", len(value))]
    # Simple patterns take one character repeated; for other patterns the example may not fit.
    runs = [letter * length for length in range(1, 13) for letter in "aA1"]
    pattern = schema.get("pattern", "")
    return next((text for text in (value, *runs) if re.search(pattern, text)), value)
