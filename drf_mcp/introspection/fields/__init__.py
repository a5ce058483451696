"""Serializer fields as JSON Schema, in both directions.

Importing this module fills the table; `input_schema` and `output_schema` read it.
"""

from __future__ import annotations

from drf_mcp.introspection.fields import (
    choices,
    composites,
    relations,
    scalars,
    serializers,
)
from drf_mcp.introspection.fields.table import (
    accepts,
    input_schema,
    intended_schema,
    output_schema,
    represented,
    represents,
)

RULES = (scalars, choices, composites, relations, serializers)
"""The modules whose import registers the stock fields."""

__all__ = [
    "RULES",
    "accepts",
    "input_schema",
    "intended_schema",
    "output_schema",
    "represented",
    "represents",
]
