"""Fields made of others, fields of any JSON, and fields that only give."""

from __future__ import annotations

from typing import Any

from rest_framework import fields

from drf_mcp.introspection.accepted import SchemaWords
from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.hints import returned_schema
from drf_mcp.introspection.fields.table import (
    accepts,
    array_of,
    input_schema,
    output_schema,
    represents,
    unknown,
)
from drf_mcp.introspection.types import Schema

accepts(fields.Field, fields.ModelField)(unknown)
represents(fields.Field, fields.ModelField, fields.ReadOnlyField, fields.HiddenField)(unknown)


@accepts(fields.JSONField)
@represents(fields.JSONField)
def any_json(field: fields.JSONField) -> Schema:
    """Describe any JSON, or the text of it."""
    return {"type": "string", "description": "JSON as text"} if field.binary else {}


@accepts(fields.ListField)
def array(field: fields.ListField) -> Schema:
    """Describe a list; its lengths come from its validators."""
    return array_of(input_schema(field.child), field)


@represents(fields.ListField)
def array_output(field: fields.ListField) -> Schema:
    """Describe a list given."""
    return {"type": "array", "items": output_schema(field.child)}


@accepts(fields.DictField)
def mapping(field: fields.DictField) -> Schema:
    """Describe an object of any names whose values are alike."""
    schema: Schema = {"type": "object"}
    if not field.allow_empty:
        schema["minProperties"] = 1
    return with_values(schema, input_schema(field.child))


@represents(fields.DictField)
def mapping_output(field: fields.DictField) -> Schema:
    """Describe an object of any names given."""
    return with_values({"type": "object"}, output_schema(field.child))


def with_values(schema: Schema, values: Schema) -> Schema:
    """Add the schema of an object's values, if it says anything."""
    return {**schema, "additionalProperties": values} if values else schema


@represents(fields.SerializerMethodField)
def method(field: fields.SerializerMethodField) -> Schema:
    """Describe what a serializer's method returns: the hint, in words, as nothing enforces it."""
    function: Any = getattr(type(field.parent), field.method_name or "", None)
    hinted = SchemaWords(returned_schema(function)).type_name if callable(function) else "any value"
    return {} if hinted == "any value" else explain({}, f"Meant to be {hinted}")
