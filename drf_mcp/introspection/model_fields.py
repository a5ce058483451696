"""Django's model fields: the JSON type of their values."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models

from drf_mcp.introspection.field_schema import FieldSchema, make_text
from drf_mcp.introspection.source.members import find_package
from drf_mcp.introspection.types import Schema

SCHEMAS: dict[type, Schema] = {
    models.AutoField: {"type": "integer"},
    models.IntegerField: {"type": "integer"},
    models.FloatField: {"type": "number"},
    models.DecimalField: {"type": "number"},
    models.BooleanField: {"type": "boolean"},
    models.CharField: {"type": "string"},
    models.TextField: {"type": "string"},
    models.EmailField: make_text("email"),
    models.URLField: make_text("uri"),
    models.GenericIPAddressField: {"type": "string"},
    models.UUIDField: make_text("uuid"),
    models.DateField: make_text("date"),
    models.DateTimeField: make_text("date-time"),
    models.TimeField: make_text("time"),
    models.DurationField: make_text("duration"),
}


def find_model_field(model: Any, path: str | None) -> Any:
    field = None
    # A filter that reads no field, such as one that sorts, has no path.
    for name in [] if path is None else path.replace(".", "__").split("__"):
        if model is None:
            return None
        try:
            field = model._meta.get_field(model._meta.pk.name if name == "pk" else name)
        except FieldDoesNotExist:
            return None
        model = field.related_model
    return field


def find_key(field: Any) -> Any:
    # The field that holds the value: a foreign key's target, or the field itself.
    seen: list[Any] = []
    while getattr(field, "remote_field", None) is not None and field not in seen:
        seen.append(field)
        field = getattr(field, "target_field", None)
    return field


def describe_input(field: Any) -> Schema:
    owner = type(find_key(field))
    known = (FieldSchema.of(SCHEMAS[base]) for base in owner.__mro__ if base in SCHEMAS)
    schema: Schema = next(known, FieldSchema()) | {}
    if all(find_package(owner, name) == "django" for name in ("to_python", "get_prep_value")):
        return schema
    # Such a field stores another form: of its input no form but a text can be relied on.
    return {"type": "string"} if schema.get("type") == "string" else {}


def describe_stored(field: Any) -> Schema:
    if not type(find_key(field)).__module__.startswith("django."):
        return {}
    schema = describe_input(field)
    return {"type": schema["type"]} if schema else {}
