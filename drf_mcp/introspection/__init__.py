"""DRF endpoints as JSON Schema 2020-12, and the portable subset every client accepts.

`describe` is the way in: a view instance goes in, plain frozen values with plain dict
schemas come out.
"""

from __future__ import annotations

from drf_mcp.introspection.accepted import in_words
from drf_mcp.introspection.annotations import annotations_of
from drf_mcp.introspection.describer import describe
from drf_mcp.introspection.inspection import model_of
from drf_mcp.introspection.names import portable_name
from drf_mcp.introspection.portable import portable
from drf_mcp.introspection.safe_call import attempt

__all__ = [
    "annotations_of",
    "attempt",
    "describe",
    "in_words",
    "model_of",
    "portable",
    "portable_name",
]
