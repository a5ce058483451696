"""The schemas of an endpoint: see docs/customising.md."""

from __future__ import annotations

from drf_mcp.introspection import Describer
from drf_mcp.introspection.fields import FieldDescriber
from drf_mcp.introspection.types import EndpointSchema, Parameter, PathKwarg, Schema

__all__ = [
    "Describer",
    "EndpointSchema",
    "FieldDescriber",
    "Parameter",
    "PathKwarg",
    "Schema",
]
