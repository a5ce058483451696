"""Arguments made from schemas."""

from __future__ import annotations

import jsonschema
import pytest

from drf_mcp.examples import example, example_arguments
from drf_mcp.tools import registry


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": ["null", "number"]}, 1),
        ({"type": "boolean"}, True),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "format": "date-time"}, "2026-01-31T12:00:00Z"),
        ({"type": "string", "enum": ["b", "a"]}, "b"),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, "AA"),
        ({"type": "string", "pattern": "^a-1$"}, "text"),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}),
        ({}, "..."),
        (True, "..."),
    ],
)
def test_a_value_is_of_the_kind_that_the_schema_asks_for(schema, value):
    assert example(schema) == value


def test_only_required_members_are_given():
    schema = {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}
    assert example_arguments(schema) == {"a": 1}


def test_examples_of_every_tool_keep_to_its_schema():
    for tool in registry.tools().values():
        jsonschema.validate(example_arguments(tool.input_schema), tool.input_schema)
