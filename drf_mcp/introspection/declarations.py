"""What people declared of the endpoint being described, for whoever describes a part of it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from drf_mcp.introspection.types import AnyField, Schema

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
