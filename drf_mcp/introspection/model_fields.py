"""Model fields as schemas, and the name under which answers show the key of an object."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from rest_framework.serializers import (
    ALL_FIELDS,
    HyperlinkedModelSerializer,
    ModelSerializer,
    Serializer,
)

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import FieldSchema, make_text
from drf_mcp.introspection.source.members import find_package, is_drf_code
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
    # A filter without a field, such as one that sorts, has no path.
    for name in [] if path is None else path.replace(".", "__").split("__"):
        if model is None:
            return None
        try:
            field = model._meta.get_field(model._meta.pk.name if name == "pk" else name)
        except FieldDoesNotExist:
            return None
        model = field.related_model
    return field


def _find_key(field: Any) -> Any:
    """Return the field that holds the value: a foreign key's target, else the field itself."""
    seen: list[Any] = []
    while getattr(field, "remote_field", None) is not None and field not in seen:
        seen.append(field)
        field = getattr(field, "target_field", None)
    return field


def describe_input(field: Any) -> Schema:
    owner = type(_find_key(field))
    known = (FieldSchema.of(SCHEMAS[base]) for base in owner.__mro__ if base in SCHEMAS)
    schema: Schema = next(known, FieldSchema()) | {}
    if all(find_package(owner, name) == "django" for name in ("to_python", "get_prep_value")):
        return schema
    # A project's field may take other forms of the value.
    return {"type": "string"} if schema.get("type") == "string" else {}


def describe_stored(field: Any) -> Schema:
    if not type(_find_key(field)).__module__.startswith("django."):
        return {}
    schema = describe_input(field)
    return {"type": schema["type"]} if schema else {}


# The actions in whose answers callers find keys.
LISTS = ("list", "alist")
READS = ("retrieve", "list", "aretrieve", "alist")


def drop_comparison(lookup: str) -> str:
    """Return the path of a field from a lookup such as ``number__iexact``."""
    return lookup.removesuffix("__iexact").removesuffix("__exact")


def find_shown_name(view: Any, model: Any, kwarg: str) -> str:
    """Return the field of an answer that has the value of the URL's kwarg, "" for none."""
    # The key of a child of multi-table inheritance is shown as the parent's.
    key = None if model is None else model._meta.pk
    while key is not None and getattr(key.remote_field, "parent_link", False):
        key = key.remote_field.model._meta.pk
    key = key if getattr(key, "remote_field", None) is None else None
    lookup = drop_comparison(getattr(view, "lookup_field", None) or "")
    sources = {lookup}
    if key is not None and lookup in ("pk", key.name):
        sources |= {"pk", key.name}
    names = find_names_of(find_row_serializer(view), model, sources)
    return next((name for name in (kwarg, "id") if name in names), names[0] if names else "")


def shows_value(view: Any, model: Any, key: str) -> bool:
    """Return whether rows of a list may have the value of a column; False where none has it."""
    serializer_class = find_row_serializer(view, LISTS)
    hooks = ("fields", "get_fields", "get_field_names", "to_representation", "__init__")
    if not isinstance(serializer_class, type) or not issubclass(serializer_class, Serializer):
        return True
    if not is_drf_code(serializer_class, *hooks):
        return True
    keys = {model._meta.pk.name, "pk", "id"} if key in ("pk", model._meta.pk.name) else {key}
    return bool(find_names_of(serializer_class, model, keys))


def find_names_of(serializer_class: Any, model: Any, sources: set[str]) -> list[str]:
    """Return the names under which rows show columns of a model."""
    key = None if model is None else model._meta.pk
    # Not from an instance: its fields may be costly to make, or need a request.
    declared = getattr(serializer_class, "_declared_fields", {})
    names = [
        name
        for name, field in declared.items()
        if (field.source or name).replace(".", "__") in sources
        and not field.write_only
        and not hasattr(field, "fields")
    ]
    if isinstance(serializer_class, type) and issubclass(serializer_class, ModelSerializer):
        meta: Any = getattr(serializer_class, "Meta", None)
        chosen = getattr(meta, "fields", None)
        if chosen in (None, ALL_FIELDS):
            columns = {f.name for f in model._meta.concrete_fields} if model else set()
            # REST framework adds the key by itself, links in its place where rows are linked.
            if key is not None and issubclass(serializer_class, HyperlinkedModelSerializer):
                columns.discard(key.name)
            chosen = columns - {*(getattr(meta, "exclude", None) or ())}
        names += sorted(name for name in sources - {*declared} if name in chosen)
    return names


def find_row_serializer(view: Any, actions: Sequence[str] = READS) -> Any:
    view_class, view = type(view), copy.copy(view)
    view.action = next((name for name in actions if hasattr(view_class, name)), None)
    if getattr(view_class, "serializer_class", None) is not None:
        # An action may have a serializer of its own.
        vars(view).pop("serializer_class", None)
    declared = getattr(view, "serializer_class", None)
    return attempt(lambda: view.get_serializer_class(), declared)
