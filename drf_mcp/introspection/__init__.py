"""DRF endpoints as JSON Schema 2020-12, and the portable subset every client accepts."""

from __future__ import annotations

from drf_mcp.introspection.describer import Describer
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.introspection.types import Body, EndpointSchema, Parameter, PathKwarg

__all__ = [
    "Body",
    "Describer",
    "EndpointSchema",
    "Finding",
    "Inspection",
    "Parameter",
    "PathKwarg",
]
