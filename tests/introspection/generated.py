"""Hypothesis strategies for the values that a JSON Schema describes in keywords and in words."""

from __future__ import annotations

import datetime
import json
import re
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

LETTERS = st.text("abcdefghijklmnopqrstuvwxyzäöü0123456789", min_size=1, max_size=8)
FORMATS = {
    "date": st.dates().map(str),
    "date-time": st.datetimes(timezones=st.just(datetime.UTC)).map(
        lambda moment: moment.isoformat()
    ),
    "time": st.times().map(lambda time: time.isoformat()),
    "duration": st.integers(0, 10**6).map(lambda seconds: f"PT{seconds}S"),
    "uuid": st.uuids().map(str),
    "email": st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.example", fullmatch=True),
    "uri": st.from_regex(r"https://[a-z]{1,8}\.example/[a-z0-9]{0,8}", fullmatch=True),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
}
FORMS = {r"^\d{4}-\d\d-\d\d$": "date", r"^\S+@\S+$": "email"}
WORDS = {
    "Time, hh:mm[:ss]": "time",
    "Duration, [DD] [hh:[mm:]]ss": "duration",
    "UUID": "uuid",
    "URL": "uri",
    "IPv4 address": "ipv4",
    "IPv6 address": "ipv6",
}
CUT = "Members as of the object around it"
DIGITS = re.compile(r"Decimal number\. At most (\d+) digits, (\d+) decimal places")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | LETTERS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(LETTERS, inner, max_size=2),
    max_leaves=4,
)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a schema."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    types = schema.get("type")
    if isinstance(types, list):
        return st.one_of(*(values({**schema, "type": name}) for name in types))
    return {
        "string": strings,
        "integer": integers,
        "number": numbers,
        "boolean": lambda schema: st.booleans(),
        "null": lambda schema: st.none(),
        "array": arrays,
        "object": objects,
        None: lambda schema: ANYTHING.filter(lambda value: value is not None),
    }[types](schema)


def strings(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    """Return a strategy for strings by the format, pattern, lengths or description."""
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    description = schema.get("description", "")
    # A pattern is short, and texts that match it may be no dates and addresses.
    for known in filter(
        None, (WORDS.get(description.partition(".")[0]), FORMS.get(schema.get("pattern")))
    ):
        return FORMATS[known]
    digits = DIGITS.search(description)
    if digits:
        most, places = int(digits[1]), int(digits[2])
        whole = 10 ** (most - places)
        return st.decimals(1 - whole, whole - 1, places=places).map(lambda d: str(Decimal(d)))
    if "JSON as text" in description:
        return ANYTHING.map(json.dumps)
    match = re.search(r"Must match (\S+)\.$", description)
    if match:
        return st.from_regex(match[1])
    if "IPv4 or IPv6" in description:
        return FORMATS["ipv4"] | FORMATS["ipv6"]
    if "pattern" in schema:
        return st.from_regex(re.compile(schema["pattern"], re.ASCII)).map(str.strip)
    low, high = schema.get("minLength", 0), schema.get("maxLength", 60)
    return st.text("abcdefghijklmnopqrstuvwxyz_0123456789", min_size=low, max_size=high)


def integers(schema: dict[str, Any]) -> st.SearchStrategy[int]:
    """Return a strategy for integers within the bounds of a schema, or those that it names."""
    words = schema.get("description", "")
    if named := re.findall(r"(?:One of |^|, |\. )(-?\d+)(?= = |, \d|\.)", words):
        return st.sampled_from([int(number) for number in named])
    return st.integers(schema.get("minimum", -(2**31)), schema.get("maximum", 2**31))


def numbers(schema: dict[str, Any]) -> st.SearchStrategy[float]:
    """Return a strategy for numbers within the bounds of a schema."""
    low, high = schema.get("minimum", -1e6), schema.get("maximum", 1e6)
    return st.floats(low, high, allow_nan=False)


def arrays(schema: dict[str, Any]) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for short lists."""
    if CUT in schema.get("items", {}).get("description", ""):
        return st.just([])
    low = schema.get("minItems", 0)
    high = min(schema.get("maxItems", low + 3), low + 3)
    return st.lists(values(schema.get("items", {})), min_size=low, max_size=high)


def objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects with the required members and some of the others."""
    members = {name: values(member) for name, member in schema.get("properties", {}).items()}
    required = schema.get("required", ())
    further = schema.get("additionalProperties")
    if not members:
        return st.dictionaries(LETTERS, values(further or {"type": "string"}), max_size=3)
    return st.fixed_dictionaries(
        {name: members[name] for name in members if name in required},
        optional={name: members[name] for name in members if name not in required},
    )
