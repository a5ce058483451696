"""Serializers: nested ones as object schemas, the outermost as a list of members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import serializers, validators
from rest_framework.fields import HiddenField
from rest_framework.validators import BaseUniqueForValidator

from drf_mcp.introspection.annotations import hidden_fields
from drf_mcp.introspection.field_schema import explain, join_sentences
from drf_mcp.introspection.fields.table import (
    accepted,
    accepts,
    input_schema,
    is_partial,
    output_schema,
    represented,
    represents,
    unknown,
)
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.text import listing, text
from drf_mcp.introspection.types import AnyField, Schema

DEEPEST = 10

accepts(serializers.BaseSerializer)(unknown)
represents(serializers.BaseSerializer)(unknown)


def writable(serializer: Any) -> Mapping[str, AnyField]:
    """Return the fields that a caller is told to send, by name."""
    hidden = hidden_fields(serializer)
    fields = sendable(serializer)
    return {name: fields[name] for name in fields if name not in hidden or fields[name].required}


def sendable(serializer: Any) -> Mapping[str, AnyField]:
    """Return the fields a caller can send, by name, though people left some out of schemas."""
    return {
        name: field
        for name, field in serializer.fields.items()
        if not field.read_only and not isinstance(field, HiddenField)
    }


def readable(serializer: Any) -> Mapping[str, AnyField]:
    """Return the fields the serializer gives, by name."""
    return {name: field for name, field in serializer.fields.items() if not field.write_only}


def is_required(field: AnyField) -> bool:
    """Return True if leaving the field out is an error; never so in a partial update."""
    return bool(field.required) and not is_partial(field)


@accepts(serializers.Serializer)
def nested(serializer: Any) -> Schema:
    """Describe an object of the serializer's writable fields."""
    if is_recursive(serializer):
        return explain({"type": "object"}, "Members as of the object around it")
    fields, remarks = writable(serializer), together(serializer)
    properties = {
        name: explain(input_schema(field), remarks.get(name, "")) for name, field in fields.items()
    }
    required = [name for name, field in fields.items() if is_required(field)]
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


@represents(serializers.Serializer)
def nested_output(serializer: Any) -> Schema:
    """Describe an object of the serializer's readable fields.

    Nothing is required: a field is left out when its attribute is missing and it has a
    default. A serializer that builds its fields itself may build others for the next
    caller, so of those only the names are told, and that there may be more.
    """
    if is_recursive(serializer):
        return {"type": "object"}
    fields = readable(serializer)
    if is_drf_code(type(serializer), "__init__", "fields", "get_fields", "_readable_fields"):
        properties = {name: output_schema(field) for name, field in fields.items()}
        return {"type": "object", "properties": properties}
    properties = {name: {} for name in fields}
    return {"type": "object", "properties": properties, "additionalProperties": True}


@accepts(serializers.ListSerializer)
def many(serializer: Any) -> Schema:
    """Describe a list of a serializer's objects."""
    limits = {"minItems": serializer.min_length, "maxItems": serializer.max_length}
    if not serializer.allow_empty:
        limits["minItems"] = max(1, serializer.min_length or 0)
    schema: Schema = {"type": "array", "items": accepted(serializer.child)}
    return {**schema, **{name: limit for name, limit in limits.items() if limit is not None}}


@represents(serializers.ListSerializer)
def many_output(serializer: Any) -> Schema:
    """Describe a list of a serializer's objects given."""
    return {"type": "array", "items": represented(serializer.child)}


def is_recursive(serializer: Any) -> bool:
    """Return True if the serializer stands inside one of its own class, or too deep."""
    enclosing = list(ancestors(serializer))
    return len(enclosing) > DEEPEST or type(serializer) in map(type, enclosing)


def ancestors(field: Any) -> Iterator[Any]:
    """Yield what encloses a field, innermost first."""
    while getattr(field, "parent", None) is not None:
        field = field.parent
        yield field


def together(serializer: Any) -> dict[str, str]:
    """Return the serializer's uniqueness rules in words, by the name of a field each binds."""
    remarks: dict[str, list[str]] = {}
    for validator in serializer.validators:
        for name, remark in uniqueness(validator):
            remarks.setdefault(name, []).append(remark)
    return {name: join_sentences(*lines) for name, lines in remarks.items()}


def uniqueness(validator: Any) -> Iterator[tuple[str, str]]:
    """Yield each field a serializer's validator binds, and what it asks of it."""
    if isinstance(validator, validators.UniqueTogetherValidator):
        for name in validator.fields:
            others = listing(other for other in validator.fields if other != name)
            yield name, f"Must be unique together with {others}" if others else "Must be unique"
    elif isinstance(validator, BaseUniqueForValidator):
        yield validator.field, text(validator.message).format(date_field=validator.date_field)
