"""Django's model fields: the JSON type of their values."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models

from drf_mcp.introspection.source.overrides import find_package
from drf_mcp.introspection.types import Schema

TABLE: dict[type, Schema] = {
    models.AutoField: {"type": "integer"},
    models.IntegerField: {"type": "integer"},
    models.FloatField: {"type": "number"},
    models.DecimalField: {"type": "number"},
    models.BooleanField: {"type": "boolean"},
    models.CharField: {"type": "string"},
    models.TextField: {"type": "string"},
    models.EmailField: {"type": "string", "format": "email"},
    models.URLField: {"type": "string", "format": "uri"},
    models.GenericIPAddressField: {"type": "string"},
    models.UUIDField: {"type": "string", "format": "uuid"},
    models.DateField: {"type": "string", "format": "date"},
    models.DateTimeField: {"type": "string", "format": "date-time"},
    models.TimeField: {"type": "string", "format": "time"},
    models.DurationField: {"type": "string", "format": "duration"},
}


CONVERSIONS = ("to_python", "get_prep_value")
"""What a model field that stores values under another form overrides."""


def model_field(model: Any, path: str) -> Any:
    """Return the model field that a lookup path ends at, None if it is no field.

    Args:
        model: the model to start from, or None.
        path: names joined by double underscores or dots, such as ``owner__pk``.
    """
    field = None
    for name in path.replace(".", "__").split("__"):
        if model is None:
            return None
        name = model._meta.pk.name if name == "pk" else name
        try:
            field = model._meta.get_field(name)
        except FieldDoesNotExist:
            return None
        model = field.related_model
    return field


def key_field(field: Any) -> Any:
    """Return the field that holds the value: a foreign key's target, or the field itself."""
    seen: list[Any] = []
    while getattr(field, "remote_field", None) is not None and field not in seen:
        seen.append(field)
        field = getattr(field, "target_field", None)
    return field


def value_schema(field: Any) -> Schema:
    """Return the schema of a model field's value as input; ``{}`` when it is not known."""
    field = key_field(field)
    schema = next((dict(TABLE[base]) for base in type(field).__mro__ if base in TABLE), {})
    if all(find_package(type(field), name) == "django" for name in CONVERSIONS):
        return schema
    # What it makes of a text is its own affair; no other form can be relied on.
    return {"type": "string"} if schema.get("type") == "string" else {}


def stored_schema(field: Any) -> Schema:
    """Return what a model field's value surely is in JSON, format aside.

    Only Django's own fields are sure of it: others may give objects of their own.
    """
    field = key_field(field)
    if not type(field).__module__.startswith("django."):
        return {}
    schema = value_schema(field)
    return {"type": schema["type"]} if schema else {}
