"""DRF endpoints as JSON Schema 2020-12, and the portable subset every client accepts.

`describe` is the way in: a view instance goes in, plain frozen values with plain dict
schemas come out.
"""

from __future__ import annotations

from drf_mcp.schemas.accepted import in_words
from drf_mcp.schemas.annotations.carried import annotations_of
from drf_mcp.schemas.attempts import attempt
from drf_mcp.schemas.endpoint import describe
from drf_mcp.schemas.inspection import model_of
from drf_mcp.schemas.names import portable_name
from drf_mcp.schemas.portable import portable

__all__ = [
    "annotations_of",
    "attempt",
    "describe",
    "in_words",
    "model_of",
    "portable",
    "portable_name",
]
