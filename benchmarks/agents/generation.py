"""Arguments made from an input schema alone, as sensible as the schema allows."""

from __future__ import annotations

import base64
import datetime
import json
import random
import re
from collections.abc import Mapping
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

WORDS = ["amber", "birch", "candle", "delta", "ember", "forest", "garden", "harbour", "island"]
LARGEST, MOST_REPEATS, TRIES = 100, 4, 200
# A description names examples of an enumeration with many values in these words.
SOME = re.compile(r"One of \d+ values, such as ([^.]+)\.")
# Numbers are enumerated in words: "1 = Low, 2, 3 = High".
LABELLED = re.compile(r"(?:(?<=^)|(?<=[,.] ))(-?\d+(?:\.\d+)?|true|false)(?= = |(?:, -?\d+)+ = )")
ONE_OF = re.compile(r"One of ((?:-?[\d.]+\d|-?\d|true|false)(?:, (?:-?[\d.]+\d|-?\d))*)\.")
PRINTABLE = [chr(code) for code in range(0x21, 0x7F)]


class Generator:
    """Makes values for JSON Schemas. The same seed gives the same values."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def make_arguments(self, schema: Mapping[str, Any], share: float) -> dict[str, Any]:
        """Return arguments: all required ones, and about this share of the optional ones."""
        required = schema.get("required", ())
        return {
            name: self.make(argument)
            for name, argument in schema.get("properties", {}).items()
            if name in required or self.random.random() < share
        }

    def make(self, schema: Mapping[str, Any]) -> Any:
        """Return a value that a schema allows."""
        if "const" in schema:
            return schema["const"]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self.make(self.random.choice(schema[keyword]))
        kind = schema.get("type", "string")
        if isinstance(kind, list):
            kind = next(each for each in kind if each != "null")
        if choices := read_choices(schema):
            return self.random.choice(choices)
        return getattr(self, f"make_{kind}")(schema)

    def make_null(self, schema: Mapping[str, Any]) -> None:
        return None

    def make_boolean(self, schema: Mapping[str, Any]) -> bool:
        return self.random.random() < 0.5

    def make_integer(self, schema: Mapping[str, Any]) -> int:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + LARGEST + 1) - 1)
        return self.random.randint(int(low), int(high))

    def make_number(self, schema: Mapping[str, Any]) -> float:
        return self.make_integer(schema) + (0 if "maximum" in schema else 0.5)

    def make_object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return self.make_arguments(schema, share=0.5)

    def make_array(self, schema: Mapping[str, Any]) -> list[Any]:
        low = schema.get("minItems", 0)
        high = schema.get("maxItems", low + 3)
        count = self.random.randint(max(low, 1), max(min(high, low + 3), 1))
        items = [self.make(schema.get("items", {})) for _ in range(count)]
        if schema.get("uniqueItems"):
            items = [item for place, item in enumerate(items) if item not in items[:place]]
        return items

    def make_string(self, schema: Mapping[str, Any]) -> str:
        if schema.get("contentEncoding") == "base64":
            return base64.b64encode(b"Some content.").decode()
        if "pattern" in schema:
            return self.make_match(schema)
        words = schema.get("description", "").split(". ")
        named = (NAMED[each] for part in words for each in NAMED if part.startswith(each))
        if usual := FORMATS.get(schema.get("format", "")) or next(named, ""):
            return usual
        low, high = schema.get("minLength", 0), schema.get("maxLength", LARGEST)
        if not high:
            return ""
        text = " ".join(self.random.choices(WORDS, k=2))
        while len(text) < low:
            text += f" {self.random.choice(WORDS)}"
        return text[:high].strip() if high >= low else text

    def make_match(self, schema: Mapping[str, Any]) -> str:
        """Return a text that matches the pattern and the length limits.

        Raises:
            ValueError: if none of many attempts matches.
        """
        pattern, low, high = schema["pattern"], schema.get("minLength", 0), schema.get("maxLength")
        usual = FORMATS.get(schema.get("format", "")) or find_usual(pattern)
        if usual and re.search(pattern, usual):
            return usual
        parsed = sre_parse.parse(pattern)
        for _ in range(TRIES):
            # An agent sends no empty text where the pattern matches others.
            text = "".join(self.sample(*step) for step in parsed) or self.sample_all(parsed)
            short = high is None or len(text) <= high
            if re.search(pattern, text) and short and len(text) >= low and is_in_calendar(text):
                return text
        raise ValueError(f"No text found for the pattern {pattern}")

    def sample(self, operation: Any, operand: Any) -> str:
        """Return a text for one operation of a parsed pattern."""
        return getattr(self, f"sample_{str(operation).lower()}", self.sample_nothing)(operand)

    def sample_all(self, steps: Any) -> str:
        return "".join(self.sample(*step) for step in steps)

    # Anchors and assertions add no text: the whole text is matched afterwards.
    def sample_nothing(self, operand: Any) -> str:
        return ""

    def sample_literal(self, operand: int) -> str:
        return chr(operand)

    def sample_not_literal(self, operand: int) -> str:
        return self.random.choice([char for char in PRINTABLE if ord(char) != operand])

    def sample_any(self, operand: Any) -> str:
        return self.random.choice("abcdefgh12345")

    def sample_in(self, operand: Any) -> str:
        negated = str(operand[0][0]) == "NEGATE"
        matching = [c for c in PRINTABLE if any(self.allows(c, *each) for each in operand)]
        if negated:
            matching = [char for char in PRINTABLE if char not in matching]
        return self.random.choice([c for c in matching if c.isalnum()] or matching)

    def allows(self, char: str, operation: Any, operand: Any) -> bool:
        kind = str(operation)
        if kind == "LITERAL":
            return ord(char) == operand
        if kind == "RANGE":
            return operand[0] <= ord(char) <= operand[1]
        if kind == "CATEGORY":
            name = str(operand).removeprefix("CATEGORY_").removeprefix("NOT_")
            expression = {"DIGIT": r"\d", "WORD": r"\w", "SPACE": r"\s"}[name]
            return bool(re.match(expression, char)) is ("NOT_" not in str(operand))
        return False

    def sample_branch(self, operand: Any) -> str:
        return self.sample_all(self.random.choice(operand[1]))

    def sample_subpattern(self, operand: Any) -> str:
        return self.sample_all(operand[-1])

    def sample_max_repeat(self, operand: Any) -> str:
        low, high, steps = operand
        count = self.random.randint(low, min(int(high), low + MOST_REPEATS))
        return "".join(self.sample_all(steps) for _ in range(count))

    sample_min_repeat = sample_max_repeat


def read_choices(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema names, in words such as "1 = Low, 2 = High" too."""
    if "enum" in schema:
        return list(schema["enum"])
    words, is_text = schema.get("description", ""), schema.get("type") == "string"
    if some := SOME.search(words):
        named = some[1].split(", ")
    elif is_text:
        named = []
    else:
        one_of = next((found[1].split(", ") for found in ONE_OF.finditer(words)), [])
        named = LABELLED.findall(words) or one_of
    return named if is_text else [json.loads(value) for value in named]


def find_usual(pattern: str) -> str:
    """Return the date or address that a pattern describes, "" if it matches other texts too.

    No agent sends a date in the year 6033, and a format gets the same date.
    """
    if any(re.search(pattern, text) for text in (*WORDS, "2026")):
        return ""
    usual = (FORMATS["date"], FORMATS["date-time"], FORMATS["email"])
    return next((text for text in usual if re.search(pattern, text)), "")


def is_in_calendar(text: str) -> bool:
    """Return whether a date exists in the calendar: no agent sends 30 February."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return True
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


# Examples of JSON Schema's own formats.
FORMATS = {
    "date-time": "2026-05-01T12:00:00Z",
    "date": "2026-05-01",
    "time": "12:00:00Z",
    "email": "ember@mail.example",
    "uri": "https://harbour.example/",
    "uuid": "7b6c0e9e-5d0c-4a52-9f70-0c6a53b2f9b1",
}
# The words of a description for such texts.
NAMED = {
    "Date, YYYY-MM-DD": FORMATS["date"],
    "Time, hh:mm": "12:00",
    "Duration, [DD] [hh:[mm:]]ss": "01:30:00",
    "Email address": FORMATS["email"],
    "URL": FORMATS["uri"],
    "UUID": FORMATS["uuid"],
    "IPv4 address": "192.0.2.1",
    "IPv6 address": "2001:db8::1",
    "IPv4 or IPv6 address": "192.0.2.1",
}
