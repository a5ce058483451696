"""What people wrote about an endpoint for drf-spectacular, if they use it."""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import Any

from django.utils.module_loading import import_string
from rest_framework.schemas import DefaultSchema
from rest_framework.settings import api_settings

# drf-spectacular is optional: its classes are imported once a view carries one of them.
ANNOTATIONS = "drf_mcp.introspection.spectacular.SpectacularAnnotations"

# The Annotations of the endpoint being described: fields know no endpoint.
CURRENT: ContextVar[Any] = ContextVar("drf_mcp_annotations", default=None)


def find_declared_schema(field: Any) -> dict[str, Any] | None:
    annotations = CURRENT.get()
    schema: dict[str, Any] | None = None if annotations is None else annotations.field_schema(field)
    return schema


def find_hidden_fields(serializer: Any) -> frozenset[str]:
    # @extend_schema_serializer(exclude_fields=...) counts where drf-spectacular is in use.
    if CURRENT.get() is None:
        return frozenset()
    return frozenset(getattr(serializer, "_spectacular_annotation", {}).get("exclude_fields", ()))


def find_annotations(view: Any, handler_name: str, method: str) -> Any:
    handler = getattr(type(view), handler_name, None)
    own = inspect.getattr_static(type(view), "schema", None)
    if isinstance(own, DefaultSchema):  # the class that the settings name replaces it
        own = api_settings.DEFAULT_SCHEMA_CLASS
    schemas = (getattr(handler, "kwargs", {}).get("schema"), own)
    classes = [s if inspect.isclass(s) else type(s) for s in schemas if s is not None]
    # Decorators of drf-spectacular make classes that mix its own with others.
    carried = [
        schema_class
        for schema_class in classes
        if any(base.__module__.startswith("drf_spectacular.") for base in schema_class.__mro__)
    ]
    return import_string(ANNOTATIONS)(carried, view, method) if carried else None
