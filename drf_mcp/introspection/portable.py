"""The portable subset of JSON Schema: what every client and model provider accepts."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any, TypeGuard

from drf_mcp.introspection.field_schema import (
    ANY_VALUE,
    FORMATS,
    MOST_VALUES,
    FieldSchema,
    ValueKind,
    explain,
    make_own_format,
    name_json_type,
)
from drf_mcp.introspection.names import is_portable, translate_pattern
from drf_mcp.introspection.text import (
    NOUNS,
    UNPRINTABLE,
    clean_text,
    describe_intention,
    join_values,
    with_plural,
)
from drf_mcp.introspection.types import Schema
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import join_alternatives

LONGEST_DESCRIPTION = 1024
# Every keyword of the subset, in the order of the written schema.
KEYWORDS = (
    "type",
    "description",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "default",
)
MEMBERS = {"minProperties": "At least", "maxProperties": "At most"}
# How many values of a long enumeration are named.
SHOWN_VALUES = 3
TYPED = ("type", "items", "properties", "required", "additionalProperties")


def write_portable(schema: Any) -> FieldSchema:
    """Return a schema in the portable subset; the description says what its keywords cannot.

    One type at a time; arrays always have items; patterns compile in ECMAScript; null appears
    nowhere.
    """
    return _write_part(resolve_references(schema, schema))


def _write_part(given: Any) -> FieldSchema:
    meaning, schema = FieldSchema.of(given).meaning, _settle_type(combine(given))
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is not None:
        # Some providers refuse an empty string in an enumeration.
        kept = [value for value in values if value is not None and value != ""]
        unique = [value for place, value in enumerate(kept) if value not in kept[:place]]
        if schema.get("type") is None and unique and all(isinstance(v, str) for v in unique):
            schema["type"] = "string"
        schema["enum"] = unique or None
        if len(unique) > MOST_VALUES:
            # Only some choices are named: each costs tokens in every list of tools.
            choices = meaning.choices or tuple((value, "") for value in unique)
            shown = ", ".join(str(value) for value, label in choices[:SHOWN_VALUES])
            meaning, schema["enum"] = replace(meaning, choices=choices), None
            schema = explain(schema, f"One of {len(unique)} values, such as {shown}")
        schema = explain(schema, "May be blank" if "" in values else "")
    # Read before write_text turns the format into words.
    kind = meaning.kind or FieldSchema(schema).kind
    schema = _write_parts(_explain_others(_write_bounds(write_text(schema, meaning.kind))))
    schema = shorten_description(schema)
    known = {name: schema[name] for name in KEYWORDS if schema.get(name) is not None}
    json_type = meaning.json_type or _find_usual_type(given)
    return FieldSchema(known, replace(meaning, kind=kind, json_type=json_type))


def shorten_description(schema: Schema) -> Schema:
    description = schema.get("description", "")
    if len(description) <= LONGEST_DESCRIPTION:
        return schema
    cut = description[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0]
    return {**schema, "description": f"{cut[: LONGEST_DESCRIPTION - 1]}…"}


def _find_usual_type(given: Any) -> str:
    """Return the first type that a schema names, "" for none."""
    schema = FieldSchema.of(given)
    parts = (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ()))
    return next(iter((*schema.types, *filter(None, map(_find_usual_type, parts)))), "")


def combine(given: Any) -> Schema:
    """Return a schema merged with those in its ``allOf``, ``anyOf`` and ``oneOf``."""
    schema: Schema = {**FieldSchema.of(given)}
    for part in schema.get("allOf") or ():
        if isinstance(part, dict):
            schema = add_to(combine(part), schema)
    for keyword in ("anyOf", "oneOf"):
        parts = [combine(part) for part in schema.get(keyword) or () if isinstance(part, dict)]
        others = [part for part in parts if part.get("type") != "null"]
        if len(others) < len(parts):
            schema = explain(schema, "May be null")
        types = {str(part.get("type")) for part in others}
        if len(others) == 1:
            schema = add_to(others[0], schema)
        elif len(types) == 1 and all("enum" in part for part in others):
            values = [value for part in others for value in part["enum"]]
            schema = add_to({**others[0], "enum": values}, schema)
        elif others:
            if len(types) == 1 and "type" in others[0]:
                schema["type"] = others[0]["type"]
            names = dict.fromkeys(describe_intention(part) or "any value" for part in others)
            schema = explain(schema, f"Either {join_alternatives(names)}")
    return schema


def add_to(base: Schema, own: Schema) -> Schema:
    """Return the schema around a part, with the part's keywords that it does not have itself."""
    properties = {**base.get("properties", {}), **own.get("properties", {})}
    required = dict.fromkeys([*base.get("required", []), *own.get("required", [])])
    both = {**base, **own}
    if properties:
        both["properties"] = properties
    if required:
        both["required"] = list(required)
    return both


def _settle_type(schema: Schema) -> Schema:
    types, written = FieldSchema(schema).types, schema.get("type")
    if not isinstance(written, list):
        if written == "null":
            schema["type"] = None
        elif written is None and schema.get("properties"):
            schema["type"] = "object"
        return schema
    if len(types) < len(written):
        schema = explain(schema, "May be null")
    if len(types) < 2:
        return {**schema, "type": types[0] if types else None}
    # A schema for values of several types has no keyword that is about one type.
    kinds = [describe_intention({**schema, "type": name, "enum": None}) for name in types]
    schema = {name: value for name, value in schema.items() if name not in TYPED}
    return explain(schema, f"Either {join_alternatives(kinds)}")


def write_text(schema: Schema, kind: ValueKind | None) -> Schema:
    name, pattern = schema.get("format"), schema.get("pattern")
    is_text = schema.get("type") == "string"
    portable = translate_pattern(pattern) if pattern and is_text else None
    # A pattern or an enumeration of the project's own says more than the pattern of a kind.
    is_said = portable is not None or schema.get("enum") is not None
    form = kind if kind is not None and kind.pattern and is_text and not is_said else None
    is_plain = form is not None and form.plain
    # Date-time is the one format that is understood everywhere.
    if name is not None and not (name == "date-time" and is_text):
        schema["format"] = None
        if name in FORMATS:
            sentence = FORMATS[name].sentence
            is_in_words = is_plain or sentence in schema.get("description", "")
            schema = explain(schema, "" if is_in_words else sentence)
        elif is_text:
            schema = explain(schema, make_own_format(name).sentence)
    if pattern and not portable:
        schema = explain(schema, f"Must match {pattern}")
    if form is not None:
        portable = form.pattern
        if is_plain:
            schema = {**FieldSchema.of(schema).without_words(form.sentence)}
    schema["pattern"] = portable
    # A minLength that pattern or kind imply is left out, and the maxLength of dates and the like.
    is_never_blank = re.search(portable, "") is None if portable else kind is not None
    if is_never_blank and schema.get("minLength", 0) <= 1:
        schema["minLength"] = None
    if kind is not None and kind.pattern == portable:
        schema["maxLength"] = None
    return schema


def _write_bounds(schema: Schema) -> Schema:
    for keyword, exclusive, step in (
        ("minimum", "exclusiveMinimum", 1),
        ("maximum", "exclusiveMaximum", -1),
    ):
        limit = schema.get(exclusive)
        if limit is True:  # OpenAPI 3.0 has the bound and a flag
            limit = schema.pop(keyword, None)
        present = schema.get(keyword)
        if not _is_finite_number(present):
            schema[keyword] = present = None
        if not _is_finite_number(limit):
            continue
        if schema.get("type") != "integer":
            words = "Greater than" if step > 0 else "Less than"
            schema = explain(schema, f"{words} {limit}")
            continue
        whole = step + (math.floor(limit) if step > 0 else math.ceil(limit))
        bounds = [whole] if present is None else [whole, present]
        schema[keyword] = max(bounds) if step > 0 else min(bounds)
    return schema


def _explain_others(schema: Schema) -> Schema:
    values = FieldSchema.of(schema.get("additionalProperties"))
    example = next(iter(schema.get("examples") or ()), schema.get("example"))
    if not isinstance(example, str) and example is not None:
        example = json.dumps(example, ensure_ascii=False, default=str)
    counts = [
        f"{words} {with_plural(schema[name], 'member')}"
        for name, words in MEMBERS.items()
        if isinstance(schema.get(name), int) and schema[name] > 0
    ]
    return explain(
        schema,
        "" if schema.get("description") else clean_text(schema.get("title")),
        f"Values: {describe_intention(values)}" if values else "",
        f"A multiple of {schema['multipleOf']}" if schema.get("multipleOf") else "",
        "No duplicates" if schema.get("uniqueItems") is True else "",
        *counts,
        f"Example: {example}" if example else "",
    )


def _write_parts(schema: Schema) -> Schema:
    items = schema.pop("items", None)
    members = schema.pop("properties", None) or {}
    required = schema.pop("required", None) or ()
    if schema.get("type") == "array":
        schema["items"] = _write_part(items)
    if schema.get("type") == "object":
        properties = {n: _write_part(member) for n, member in members.items() if is_portable(n)}
        schema["properties"] = properties or None
        schema["required"] = [name for name in required if name in properties] or None
        others = join_values(name for name in members if name not in properties)
        schema = explain(schema, f"Also takes {others}" if others else "")
    return schema


def resolve_references(schema: Any, root: Any, enclosing: tuple[str, ...] = ()) -> Any:
    # A reference to a schema that encloses it, or to nothing, becomes the open schema.
    if isinstance(schema, list):
        return [resolve_references(member, root, enclosing) for member in schema]
    if not isinstance(schema, dict):
        return schema
    members = {
        name: resolve_references(member, root, enclosing)
        for name, member in schema.items()
        if name != "$defs"
    }
    reference = members.get("$ref")
    if not isinstance(reference, str):
        return FieldSchema(members, FieldSchema.of(schema).meaning)
    del members["$ref"]
    if not reference.startswith("#/"):
        return members
    found = JSONPointer(reference[1:]).find_in(root)
    if reference in enclosing:
        return {"type": _find_usual_type(found) or "object", **members}
    found = resolve_references(found, root, (*enclosing, reference))
    return {**found, **members} if isinstance(found, dict) else members


def _is_finite_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


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
