"""Choices, lists, objects, any JSON and the methods of serializers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import fields

from drf_mcp.introspection.field_schema import MOST_VALUES, FieldSchema, explain
from drf_mcp.introspection.fields.base import ArrayDescriber, FieldDescriber
from drf_mcp.introspection.text import clean_text, join_values, says_more
from drf_mcp.introspection.types import Schema


class Choices:
    def __init__(self, choices: Mapping[Any, Any]) -> None:
        self.named = [(self.to_json(v), label) for v, label in choices.items() if v is not None]
        self.labelled = [(value, clean_text(label)) for value, label in self.named]
        self.values = [value for value, _ in self.labelled]

    def to_json(self, value: Any) -> Any:
        if isinstance(value, Enum):
            value = value.value
        return value if isinstance(value, (bool, int, float)) else str(value)

    @property
    def schema(self) -> Schema:
        # REST framework compares choices as text: values of several types, and whole floats,
        # which JSON may write as integers, are enumerated as strings.
        json_type = self.json_type
        values = map(str, self.values) if json_type == "string" else self.values
        unique = list(dict.fromkeys(values))
        if not unique:
            return {"type": json_type}
        schema = FieldSchema({"type": json_type, "enum": unique})
        return schema.with_meaning(choices=self.many)

    @property
    def many(self) -> tuple[tuple[Any, Any], ...]:
        labels = tuple(pair for pair in self.named if pair[0] != "")
        return labels if len(labels) > MOST_VALUES else ()

    @property
    def json_type(self) -> str:
        kinds = {type(value) for value in self.values}
        if kinds == {bool}:
            return "boolean"
        if kinds and all(issubclass(kind, int) and kind is not bool for kind in kinds):
            return "integer"
        if kinds == {float} and not any(value.is_integer() for value in self.values):
            return "number"
        return "string"

    @property
    def meanings(self) -> str:
        return (
            ""
            if self.many
            else join_values(
                f"{value} = {label}"
                for value, label in self.labelled
                if says_more(label, str(value))
            )
        )

    @property
    def words(self) -> str:
        words = join_values(
            f"{value} = {label}" if says_more(label, str(value)) else value
            for value, label in self.labelled
            if value != ""
        )
        return _("One of: %(values)s") % {"values": words} if words else ""


class ChoiceDescriber(FieldDescriber):
    field_classes = (fields.ChoiceField,)

    def get_input_schema(self) -> Schema:
        choices = dict(self.field.choices)
        if self.field.allow_blank:
            choices.setdefault("", "")
        return explain(Choices(choices).schema, Choices(choices).meanings)

    def get_output_schema(self) -> Schema:
        # A stored value that is no choice is given as it is.
        return explain({}, Choices(self.field.choices).words)


class MultipleChoiceDescriber(ArrayDescriber):
    field_classes = (fields.MultipleChoiceField,)

    def get_input_items(self) -> Schema:
        return Choices(self.field.choices).schema

    def get_input_schema(self) -> Schema:
        return explain(super().get_input_schema(), Choices(self.field.choices).meanings)

    def get_output_schema(self) -> Schema:
        return explain(super().get_output_schema(), Choices(self.field.choices).words)


class ListDescriber(ArrayDescriber):
    field_classes = (fields.ListField,)

    def get_input_items(self) -> Schema:
        schema: Schema = self.describe(self.field.child).input_schema
        return schema

    def get_output_items(self) -> Schema:
        schema: Schema = self.describe(self.field.child).output_schema
        return schema


class DictDescriber(FieldDescriber):
    field_classes = (fields.DictField,)

    def get_input_schema(self) -> Schema:
        least = {} if self.field.allow_empty else {"minProperties": 1}
        values = self.describe(self.field.child).input_schema
        return {"type": "object", **least, **({"additionalProperties": values} if values else {})}

    def get_output_schema(self) -> Schema:
        values = self.describe(self.field.child).output_schema
        return {"type": "object", **({"additionalProperties": values} if values else {})}


class JSONDescriber(FieldDescriber):
    field_classes = (fields.JSONField,)

    def get_input_schema(self) -> Schema:
        return {"type": "string", "description": _("JSON as text")} if self.field.binary else {}

    def get_output_schema(self) -> Schema:
        return self.get_input_schema()


class MethodDescriber(FieldDescriber):
    field_classes = (fields.SerializerMethodField,)

    def get_output_schema(self) -> Schema:
        method = getattr(type(self.field.parent), self.field.method_name or "", None)
        hint = getattr(method, "__annotations__", {}).get("return", Any)
        written = hint if isinstance(hint, str) else inspect.formatannotation(hint)
        name = re.sub(r"\b\w+\.", "", written)
        # Nothing enforces a hint, so that it is in words alone.
        return {} if name == "Any" else explain({}, _("Meant to be %(value)s") % {"value": name})


class OpenDescriber(FieldDescriber):
    field_classes = (
        fields.Field,
        fields.ModelField,
        fields.ReadOnlyField,
        fields.HiddenField,
    )


def flatten_choices(choices: Any) -> dict[Any, Any]:
    flat: dict[Any, Any] = {}
    for value, label in choices:
        if isinstance(label, (list, tuple)):
            flat.update(flatten_choices(label))
        elif value not in ("", None):
            flat[value] = label
    return flat
