"""write_portable() makes a schema portable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.introspection.portable import write_portable
from tests.introspection.portability import assert_portable


def test_keywords_are_rewritten(subtests):
    for schema, expected in [
        (True, {}),
        (False, {}),
        ({}, {}),
        ({"type": ["string", "null"]}, {"type": "string", "description": "May be null."}),
        ({"type": "string", "nullable": True}, {"type": "string"}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "array", "items": True}, {"type": "array", "items": {}}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        ({"type": "integer", "exclusiveMaximum": 9.5}, {"type": "integer", "maximum": 9}),
        (
            {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            {"type": "integer", "minimum": 1},
        ),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": False},
            {"type": "integer", "minimum": 3},
        ),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "string", "minLength": None}, {"type": "string"}),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, {"type": "string", "maxLength": 3}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            {"type": "integer", "description": "May be null."},
        ),
        (
            {"oneOf": [{"enum": ["a"]}, {"enum": ["b"]}, {"enum": [None]}]},
            {"type": "string", "enum": ["a", "b"]},
        ),
        (
            {"properties": {"a": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
        ({"type": "string", "properties": {"a": {}}}, {"type": "string"}),
        ({"type": "object", "required": ["gone"]}, {"type": "object"}),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}},
            {"type": "boolean"},
        ),
        ({"$ref": "https://example.com/schema"}, {}),
        ({"$ref": "#/missing"}, {}),
    ]:
        with subtests.test(schema=schema, expected=expected):
            assert write_portable(schema) == expected
            assert_portable(write_portable(schema))


def test_keywords_without_an_equivalent_are_written_in_words(subtests):
    for schema, words in [
        ({"type": "string", "format": "date"}, "Date, YYYY-MM-DD."),
        ({"type": "string", "format": "uuid"}, "UUID."),
        ({"type": "string", "format": "decimal"}, "Format: decimal."),
        ({"type": "number", "exclusiveMinimum": 0}, "Greater than 0."),
        ({"type": "number", "maximum": 5, "exclusiveMaximum": True}, "Less than 5."),
        ({"type": "number", "multipleOf": 0.01}, "A multiple of 0.01."),
        ({"type": "string", "pattern": r"^\w+\Z"}, r"Must match ^\w+\Z."),
        ({"type": ["string", "integer"]}, "Either a string or an integer."),
        (
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            "Either a string or an array, each item an integer.",
        ),
        ({"type": "string", "enum": ["a", ""]}, "May be blank."),
        ({"type": "array", "uniqueItems": True}, "No duplicates."),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "Values: an integer."),
        ({"type": "object", "properties": {"e-mail": {}}}, "Also takes e-mail."),
        ({"type": "string", "title": "Given name"}, "Given name."),
    ]:
        with subtests.test(schema=schema, words=words):
            made = write_portable(schema)
            assert made["description"] == words
            assert_portable(made)


def test_a_recursive_reference_is_cut():
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    }
    made = write_portable({"$ref": "#/$defs/tree", "$defs": {"tree": tree}})
    assert made["properties"]["children"] == {"type": "array", "items": {"type": "object"}}
    assert_portable(made)


SIMPLE = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "array", "object", "null"])
            | st.lists(st.sampled_from(["string", "null", "number"]), unique=True, min_size=1),
            "enum": st.lists(SIMPLE, max_size=4),
            "const": SIMPLE,
            "format": st.sampled_from(["date", "date-time", "decimal"]),
            "pattern": st.text(max_size=6),
            "exclusiveMinimum": st.integers() | st.booleans(),
            "minimum": st.floats(allow_nan=True) | st.integers(),
            "nullable": st.booleans(),
            "title": st.text(max_size=9),
            "$ref": st.just("#"),
            "default": SIMPLE,
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["array", "object", "string"]),
            "items": inner | st.booleans(),
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=3),
            "properties": st.dictionaries(st.text(max_size=4), inner, max_size=3),
            "required": st.lists(st.text(max_size=4), max_size=2),
            "additionalProperties": inner | st.booleans(),
        },
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(SCHEMAS)
def test_any_schema_becomes_portable(schema):
    assert_portable(write_portable(schema))


@given(SCHEMAS)
def test_a_portable_schema_does_not_change(schema):
    once = write_portable(schema)
    assert write_portable(once) == once
