"""Input schemas as ``tools/list`` shows them."""

from __future__ import annotations

import json
import re
from typing import Any

from drf_mcp.introspection.field_schema import ANY_VALUE, FieldSchema, explain, name_json_type
from drf_mcp.introspection.portable import shorten_description
from drf_mcp.introspection.text import NOUNS, UNPRINTABLE, join_values
from drf_mcp.introspection.types import Schema

# Words that say of what type a value is, instead of a type.
SAYS_TYPE = ("Meant to be", "Either ", "any JSON value", ANY_VALUE, "data URI")


def write_listed(schema: Any) -> FieldSchema:
    """Return a portable schema as lists show it: with a type, and numbers enumerated in words.

    Arguments are read by the schema itself, since a value of another type is taken too. Vertex
    refuses values without a type, and Gemini an ``enum`` next to another type than string.
    """
    given = FieldSchema.of(schema)
    listed = write_values({"type": find_listed_type(given), **given})
    described = given.get("description", "")
    if not {"type", "enum"} & given.keys() and not any(words in described for words in SAYS_TYPE):
        listed = explain(listed, ANY_VALUE)
    # The type says it, though values of other types are taken too.
    plain = f"Meant to be {NOUNS[listed['type']]}"
    listed = {**FieldSchema(listed).without_words(plain)}
    if listed["type"] == "array":
        listed["items"] = write_listed(given.get("items"))
    if "properties" in given:
        members = given["properties"].items()
        listed["properties"] = {name: write_listed(member) for name, member in members}
    if "pattern" in listed:
        listed["pattern"] = UNPRINTABLE.sub(escape, listed["pattern"])
    if "description" in listed:
        listed["description"] = UNPRINTABLE.sub("", listed["description"])
    return FieldSchema(shorten_description(listed), given.meaning)


def find_listed_type(schema: FieldSchema) -> str:
    if schema.types:
        return schema.types[0]
    for keyword, kind in (("properties", "object"), ("items", "array")):
        if keyword in schema:
            return kind
    samples = [schema["default"]] if "default" in schema else schema.get("enum") or ()
    known = map(name_json_type, samples)
    return next(known, "") or schema.meaning.json_type or "string"


def write_values(schema: Schema) -> Schema:
    values, described = schema.get("enum") or (), schema.get("description", "")
    if UNPRINTABLE.search(str(schema.get("default", ""))):
        schema = {name: value for name, value in schema.items() if name != "default"}
    if all(isinstance(value, str) and not UNPRINTABLE.search(value) for value in values):
        return schema
    schema = {name: value for name, value in schema.items() if name != "enum"}
    written = [value if isinstance(value, str) else json.dumps(value) for value in values]
    is_any_boolean = schema["type"] == "boolean" and len(values) > 1
    if is_any_boolean or all(is_named(value, described) for value in written):
        return schema
    return explain(schema, f"One of {join_values(written)}" if written[1:] else f"Is {written[0]}")


def is_named(value: str, words: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w-])", words) is not None


def escape(found: Any) -> str:
    return f"\\u{ord(found[0]):04x}"
