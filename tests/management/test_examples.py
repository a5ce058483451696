"""Arguments made from schemas."""

from __future__ import annotations

import jsonschema
import pytest
from rest_framework import serializers as f

from drf_mcp.exposure import registry
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.field_schema import FORMATS, make_example, make_example_arguments
from drf_mcp.introspection.portable import write_portable


def test_an_example_has_the_type_of_its_schema(subtests):
    for schema, value in [
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
    ]:
        with subtests.test(schema=schema, value=value):
            assert make_example(schema) == value


@pytest.mark.parametrize(
    "field",
    [
        f.DateTimeField(),
        f.DateField(),
        f.TimeField(),
        f.DurationField(),
        f.EmailField(),
        f.URLField(),
        f.UUIDField(),
        f.IPAddressField(),
        f.IPAddressField(protocol="IPv4"),
        f.IPAddressField(protocol="IPv6"),
        f.DecimalField(max_digits=5, decimal_places=2),
        f.ListField(child=f.DateField()),
    ],
    ids=lambda field: type(field).__name__,
)
@pytest.mark.parametrize("shaped", [write_portable, lambda schema: schema])
def test_a_field_accepts_its_example(field, shaped):
    field.run_validation(make_example(shaped(DescribedField(field).input_schema)))


def test_every_kind_has_an_example():
    assert all(kind.example for kind in FORMATS.values())


def test_examples_have_only_required_members():
    schema = {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}
    assert make_example_arguments(schema) == {"a": 1}


@pytest.mark.slow
def test_examples_of_every_tool_match_its_schema():
    for tool in registry.tools().values():
        jsonschema.validate(make_example_arguments(tool.input_schema), tool.input_schema)
