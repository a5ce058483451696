"""Relations of serializers: keys, slugs, hyperlinks and lists of them."""

from __future__ import annotations

from typing import Any

from rest_framework import relations

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.model_fields import (
    model_field,
    stored_schema,
    value_schema,
)
from drf_mcp.introspection.fields.table import (
    accepted,
    accepts,
    array_of,
    given,
    input_schema,
    output_schema,
    represents,
)
from drf_mcp.introspection.text import model_name
from drf_mcp.introspection.types import Schema


def source_field(field: relations.RelatedField[Any, Any, Any]) -> Any:
    """Return the model field of the enclosing serializer's model that a relation reads."""
    holder: Any = field
    if isinstance(field.parent, relations.ManyRelatedField):
        holder = field.parent
    model = getattr(getattr(holder.parent, "Meta", None), "model", None)
    return model_field(model, holder.source or "")


def related_model(field: relations.RelatedField[Any, Any, Any]) -> Any:
    """Return the model a relation points at, None if it cannot be told.

    Rows are asked for last: those of one caller, or of one tenant, are not there for nobody.
    """
    relation: Any = field
    if relation.queryset is not None:
        return relation.queryset.model
    model = getattr(source_field(field), "related_model", None)
    return getattr(field.get_queryset(), "model", None) if model is None else model


def identified(schema: Schema, field: relations.RelatedField[Any, Any, Any], key: str) -> Schema:
    """Say which object a value identifies, unless the field has a help text that does.

    Blank text counts as null.
    """
    if schema.get("type") == "string" and not field.allow_null:
        schema = schema | {"minLength": 1}
    if field.help_text:
        return schema
    model = related_model(field)
    name = model_name(model) if model is not None else "object"
    return explain(schema, f"{key} of the {name}")


@accepts(relations.PrimaryKeyRelatedField)
def primary_key(field: relations.PrimaryKeyRelatedField[Any]) -> Schema:
    """Describe the primary key of a related object."""
    if field.pk_field is not None:
        schema = input_schema(field.pk_field)
    else:
        schema = value_schema(model_field(related_model(field), "pk"))
    return identified(schema, field, "Primary key")


@represents(relations.PrimaryKeyRelatedField)
def primary_key_output(field: relations.PrimaryKeyRelatedField[Any]) -> Schema:
    """Describe the primary key of a related object, as it is stored.

    A foreign key that targets another column gives that column's value.
    """
    if field.pk_field is not None:
        return output_schema(field.pk_field)
    schema = stored_schema(model_field(related_model(field), "pk"))
    source = source_field(field)
    is_foreign_key = getattr(source, "concrete", False)
    return {} if is_foreign_key and stored_schema(source) != schema else schema


@accepts(relations.SlugRelatedField)
def slug(field: relations.SlugRelatedField[Any]) -> Schema:
    """Describe a related object by one of its unique fields."""
    schema = value_schema(model_field(related_model(field), field.slug_field or ""))
    return identified(schema, field, str(field.slug_field).capitalize())


@represents(relations.SlugRelatedField)
def slug_output(field: relations.SlugRelatedField[Any]) -> Schema:
    """Describe the unique field of a related object, as it is stored."""
    return stored_schema(model_field(related_model(field), field.slug_field or ""))


@accepts(relations.HyperlinkedRelatedField)
def hyperlink(field: relations.HyperlinkedRelatedField[Any]) -> Schema:
    """Describe a related object by its URL in this API."""
    return identified({"type": "string"}, field, "URL")


@represents(relations.HyperlinkedRelatedField, relations.StringRelatedField)
def link(field: relations.RelatedField[Any, Any, Any]) -> Schema:
    """Describe a related object given as its URL or its name."""
    return {"type": "string"}


@accepts(relations.ManyRelatedField)
def many(field: relations.ManyRelatedField) -> Schema:
    """Describe a list of related objects."""
    return array_of(accepted(field.child_relation), field)


@represents(relations.ManyRelatedField)
def many_output(field: relations.ManyRelatedField) -> Schema:
    """Describe a list of related objects given."""
    return {"type": "array", "items": given(field.child_relation)}
