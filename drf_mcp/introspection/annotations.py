"""What people wrote about an endpoint for drf-spectacular, if they use it.

Nothing of drf-spectacular is imported here: a view can only carry its annotations where
the project imported it.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import Any

from django.utils.module_loading import import_string
from rest_framework.schemas import DefaultSchema
from rest_framework.settings import api_settings

from drf_mcp.introspection.types import AnyField, Schema

# drf-spectacular is optional: its classes are imported once a view carries one of them.
ANNOTATIONS = "drf_mcp.introspection.spectacular.Annotations"

CURRENT: ContextVar[Any] = ContextVar("drf_mcp_annotations", default=None)
"""The `Annotations` of the endpoint being described, None without."""


def declared_input(field: AnyField) -> Schema | None:
    """Return the schema that was written for what a field takes, None if there is none."""
    annotations = CURRENT.get()
    schema: Schema | None = None if annotations is None else annotations.field_schema(field)
    return schema


def hidden_fields(serializer: Any) -> frozenset[str]:
    """Return the names of the fields that ``@extend_schema_serializer`` leaves out."""
    if CURRENT.get() is None:
        return frozenset()
    return frozenset(getattr(serializer, "_spectacular_annotation", {}).get("exclude_fields", ()))


def find_annotations(view: Any, handler_name: str, method: str) -> Any:
    """Return what was written about one method of an endpoint, None if nothing can be.

    Args:
        view: the view instance, set up as for `describe`.
        handler_name: the name of the method that answers.
        method: the HTTP method in upper case.
    """
    handler = getattr(type(view), handler_name, None)
    own = inspect.getattr_static(type(view), "schema", None)
    if isinstance(own, DefaultSchema):  # stands for the class that the settings name
        own = api_settings.DEFAULT_SCHEMA_CLASS
    written = (getattr(handler, "kwargs", {}).get("schema"), own)
    classes = [s if inspect.isclass(s) else type(s) for s in written if s is not None]
    carried = [schema_class for schema_class in classes if is_spectacular(schema_class)]
    if not carried:
        return None
    return import_string(ANNOTATIONS)(carried, view, method)


def is_spectacular(schema_class: type) -> bool:
    """Return True for drf-spectacular's schemas, and for what its decorators made of others."""
    return any(base.__module__.startswith("drf_spectacular.") for base in schema_class.__mro__)
