"""The schemas of an endpoint: see docs/customising.md."""

from __future__ import annotations

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.describer import Describer
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.fields import FieldDescriber
from drf_mcp.introspection.findings import Finding
from drf_mcp.introspection.forms import describe_form
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.types import (
    ANY,
    EndpointSchema,
    LostFilters,
    Parameter,
    PathKwarg,
    Place,
    Schema,
    ValueInfo,
)

__all__ = [
    "ANY",
    "ClosedSet",
    "DescribedField",
    "Describer",
    "EndpointSchema",
    "FieldDescriber",
    "FieldSchema",
    "Finding",
    "Inspection",
    "LostFilters",
    "Parameter",
    "PathKwarg",
    "Place",
    "Schema",
    "ValueInfo",
    "describe_form",
]
