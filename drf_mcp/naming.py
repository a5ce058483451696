"""Names, titles and descriptions of tools: see docs/customising.md."""

from __future__ import annotations

from drf_mcp.introspection.text import get_names
from drf_mcp.routes.descriptions import Docstrings, Subject, speak
from drf_mcp.routes.naming import Naming

__all__ = ["Docstrings", "Naming", "Subject", "get_names", "speak"]
