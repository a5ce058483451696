"""The schemas of an endpoint: see docs/customising.md."""

from __future__ import annotations

from drf_mcp.introspection import Describer, Parameter
from drf_mcp.introspection.fields import FieldDescriber

__all__ = [
    "Describer",
    "FieldDescriber",
    "Parameter",
]
