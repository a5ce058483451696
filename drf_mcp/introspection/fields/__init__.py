"""Serializer fields as JSON Schema, in both directions."""

from __future__ import annotations

from drf_mcp.introspection.fields.describers import FieldDescriber

__all__ = ["FieldDescriber"]
