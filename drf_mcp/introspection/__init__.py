"""DRF endpoints as JSON Schema 2020-12, and the portable subset every client accepts.

Importing the package imports none of its modules: a process that describes no tool, such as one
that migrates, has no use for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.introspection.describer import Describer
    from drf_mcp.introspection.findings import Finding
    from drf_mcp.introspection.inspection import Inspection
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
__getattr__ = import_on_use(
    __name__,
    {
        "Body": "types",
        "Describer": "describer",
        "EndpointSchema": "types",
        "Finding": "findings",
        "Inspection": "inspection",
        "Parameter": "types",
        "PathKwarg": "types",
    },
)
