"""Relations of serializers: keys, slugs, hyperlinks and lists of them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from rest_framework import relations

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.fields.base import ArrayDescriber, FieldDescriber
from drf_mcp.introspection.fields.model_fields import ModelValue
from drf_mcp.introspection.text import get_model_name
from drf_mcp.introspection.types import Schema


def find_source_field(field: Any) -> Any:
    holder = field.parent if isinstance(field.parent, relations.ManyRelatedField) else field
    model = getattr(getattr(holder.parent, "Meta", None), "model", None)
    return ModelValue.at(model, holder.source or "").field


def find_related_model(field: Any) -> Any:
    if field.queryset is not None:
        return field.queryset.model
    model = getattr(find_source_field(field), "related_model", None)
    # Rows are asked for last: those of one caller, or of one tenant, need a request.
    return getattr(field.get_queryset(), "model", None) if model is None else model


class RelationDescriber(FieldDescriber):
    def identify(self, schema: Schema, key: str) -> Schema:
        # Blank text counts as null.
        if schema.get("type") == "string" and not self.field.allow_null:
            schema = FieldSchema.of(schema) | {"minLength": 1}
        if self.field.help_text:
            return schema
        model = find_related_model(self.field)
        # Translators: what an unknown model is called, in "Primary key of the object".
        unknown = pgettext("of the", "object")
        name = unknown if model is None else get_model_name(model)
        identity = _("%(key)s of the %(model)s") % {"key": key, "model": name}
        return FieldSchema.of(explain(schema, identity)).with_meaning(identity=identity)


class PrimaryKeyDescriber(RelationDescriber):
    field_classes = (relations.PrimaryKeyRelatedField,)

    def get_input_schema(self) -> Schema:
        if self.field.pk_field is not None:
            schema: Schema = self.describe(self.field.pk_field).input_schema
        else:
            schema = ModelValue.at(find_related_model(self.field), "pk").input_schema
        return self.identify(schema, _("Primary key"))

    def get_output_schema(self) -> Schema:
        if self.field.pk_field is not None:
            schema: Schema = self.describe(self.field.pk_field).output_schema
            return schema
        schema = ModelValue.at(find_related_model(self.field), "pk").stored_schema
        source = find_source_field(self.field)
        # A foreign key that targets another column gives that column's value.
        is_foreign_key = getattr(source, "concrete", False)
        return {} if is_foreign_key and ModelValue(source).stored_schema != schema else schema


class SlugDescriber(RelationDescriber):
    field_classes = (relations.SlugRelatedField,)

    @property
    def slug(self) -> ModelValue:
        return ModelValue.at(find_related_model(self.field), self.field.slug_field or "")

    def get_input_schema(self) -> Schema:
        return self.identify(self.slug.input_schema, str(self.field.slug_field).capitalize())

    def get_output_schema(self) -> Schema:
        return self.slug.stored_schema


class HyperlinkDescriber(RelationDescriber):
    field_classes = (relations.HyperlinkedRelatedField,)

    def get_input_schema(self) -> Schema:
        return self.identify({"type": "string"}, "URL")

    def get_output_schema(self) -> Schema:
        return {"type": "string"}


class StringRelationDescriber(FieldDescriber):
    field_classes = (relations.StringRelatedField,)

    def get_output_schema(self) -> Schema:
        return {"type": "string"}


class ManyRelatedDescriber(ArrayDescriber):
    field_classes = (relations.ManyRelatedField,)

    def get_input_items(self) -> Schema:
        schema: Schema = self.describe(self.field.child_relation).accepted_schema
        return schema

    def get_output_items(self) -> Schema:
        schema: FieldSchema = self.describe(self.field.child_relation).represented_schema
        return schema.allow_null()
