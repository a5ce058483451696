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


class ModelValue:
    # key: the field that holds the value: a foreign key's target, or the field itself.

    def __init__(self, field: Any) -> None:
        self.field = self.key = field
        seen: list[Any] = []
        while getattr(self.key, "remote_field", None) is not None and self.key not in seen:
            seen.append(self.key)
            self.key = getattr(self.key, "target_field", None)

    @classmethod
    def at(cls, model: Any, path: str | None) -> ModelValue:
        field = None
        if path is None:  # of a filter that reads no field, such as one that sorts
            return cls(None)
        for name in path.replace(".", "__").split("__"):
            if model is None:
                return cls(None)
            name = model._meta.pk.name if name == "pk" else name
            try:
                field = model._meta.get_field(name)
            except FieldDoesNotExist:
                return cls(None)
            model = field.related_model
        return cls(field)

    @property
    def input_schema(self) -> Schema:
        owner = type(self.key)
        known = (FieldSchema.of(SCHEMAS[base]) for base in owner.__mro__ if base in SCHEMAS)
        schema = next(known, FieldSchema()) | {}
        if all(find_package(owner, name) == "django" for name in ("to_python", "get_prep_value")):
            return schema  # type: ignore[no-any-return]
        # Such a field stores another form: of its input no form but a text can be relied on.
        return {"type": "string"} if schema.get("type") == "string" else {}

    @property
    def stored_schema(self) -> Schema:
        if not type(self.key).__module__.startswith("django."):
            return {}
        schema = self.input_schema
        return {"type": schema["type"]} if schema else {}
