"""DRF endpoints as JSON Schema 2020-12, and the portable subset every client accepts.

Importing the package imports none of its modules: a process that describes no tool, such as one
that migrates, has no use for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
MODULES = {"Describer": "describer", "Inspection": "inspection", "Finding": "safe_call"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{MODULES.get(name, 'types')}"), name)
