"""Serializers: nested ones as object schemas, the outermost as a list of members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers, validators
from rest_framework.fields import Field, HiddenField
from rest_framework.validators import BaseUniqueForValidator

from drf_mcp.introspection.annotations import find_hidden_fields
from drf_mcp.introspection.field_schema import explain, join_sentences
from drf_mcp.introspection.fields.base import FieldDescriber
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.text import clean_text, join_values
from drf_mcp.introspection.types import AnyField, Schema

DEEPEST = 10


class FieldNode:
    def __init__(self, field: Any) -> None:
        self.field = field

    @property
    def enclosing(self) -> Iterator[Any]:
        field = self.field
        while getattr(field, "parent", None) is not None:
            field = field.parent
            yield field

    @property
    def is_recursive(self) -> bool:
        enclosing = list(self.enclosing)
        return len(enclosing) > DEEPEST or type(self.field) in map(type, enclosing)

    @property
    def is_required(self) -> bool:
        partial = getattr(self.field.root, "partial", False) and not self.is_of_new_row
        return bool(self.field.required) and not partial

    @property
    def is_of_new_row(self) -> bool:
        # REST framework requires nothing inside a partial update. But a row of a list that has no
        # key to find it by can only be a new row, of which the view needs all.
        rows = [f for f in self.enclosing if isinstance(f.parent, serializers.ListSerializer)]
        return any(row.parent is not row.root and not FieldNode(row).takes_key for row in rows)

    @property
    def takes_key(self) -> bool:
        model = getattr(getattr(self.field, "Meta", None), "model", None)
        keys = {"id", "pk", "uuid", "url", model._meta.pk.name if model is not None else "id"}
        return any(keys & {name, field.source} for name, field in self.sendable.items())

    @property
    def sendable(self) -> Mapping[str, AnyField]:
        return {
            name: field
            for name, field in self.field.fields.items()
            if not field.read_only and not isinstance(field, HiddenField)
        }

    @property
    def listed(self) -> Mapping[str, AnyField]:
        hidden = find_hidden_fields(self.field)
        fields = self.sendable.items()
        return {name: field for name, field in fields if name not in hidden or field.required}

    @property
    def readable(self) -> Mapping[str, AnyField]:
        fields = self.field.fields.items()
        return {name: field for name, field in fields if not field.write_only}

    @property
    def child(self) -> Any:
        child = getattr(self.field, "child_relation", None) or getattr(self.field, "child", None)
        return child if isinstance(child, Field) else None

    @property
    def uniqueness(self) -> dict[str, str]:
        rules: dict[str, list[str]] = {}
        for validator in self.field.validators:
            if isinstance(validator, validators.UniqueTogetherValidator):
                for name in validator.fields:
                    others = join_values(other for other in validator.fields if other != name)
                    words = _("Unique together with %(names)s") if others else _("Unique")
                    words %= {"names": others}
                    rules.setdefault(name, []).append(words)
            elif isinstance(validator, BaseUniqueForValidator):
                words = clean_text(validator.message).format(date_field=validator.date_field)
                rules.setdefault(validator.field, []).append(words)
        return {name: join_sentences(*words) for name, words in rules.items()}


class SerializerDescriber(FieldDescriber):
    field_classes = (serializers.Serializer,)

    def get_input_schema(self) -> Schema:
        node = FieldNode(self.field)
        if node.is_recursive:
            return explain({"type": "object"}, _("Members as of the object around it"))
        fields, rules = node.listed, node.uniqueness
        properties = {
            name: explain(self.describe(field).input_schema, rules.get(name, ""))
            for name, field in fields.items()
        }
        required = [name for name, field in fields.items() if FieldNode(field).is_required]
        schema: Schema = {"type": "object", "properties": properties}
        return {**schema, "required": required} if required else schema

    def get_output_schema(self) -> Schema:
        node = FieldNode(self.field)
        if node.is_recursive:
            return {"type": "object"}
        # Nothing is required: a field with a default is left out where its attribute is missing.
        if is_drf_code(type(self.field), "__init__", "fields", "get_fields", "_readable_fields"):
            properties = {
                name: self.describe(field).output_schema for name, field in node.readable.items()
            }
            return {"type": "object", "properties": properties}
        # A serializer that builds its fields itself may build others for the next caller.
        open_members: Schema = {name: {} for name in node.readable}
        return {"type": "object", "properties": open_members, "additionalProperties": True}


class ListSerializerDescriber(FieldDescriber):
    field_classes = (serializers.ListSerializer,)

    def get_input_schema(self) -> Schema:
        least, most = self.field.min_length, self.field.max_length
        least = least if self.field.allow_empty else max(1, least or 0)
        bounds = {"minItems": least, "maxItems": most}
        schema: Schema = {"type": "array", "items": self.describe(self.field.child).accepted_schema}
        return {**schema, **{name: bound for name, bound in bounds.items() if bound is not None}}

    def get_output_schema(self) -> Schema:
        return {"type": "array", "items": self.describe(self.field.child).represented_schema}


class OpenSerializerDescriber(FieldDescriber):
    field_classes = (serializers.BaseSerializer,)
