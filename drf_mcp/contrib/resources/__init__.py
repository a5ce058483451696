"""Resources: what tools read, and documents of the project, by URIs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.resources.routes import Document, SchemaDocument

__all__ = ["Document", "SchemaDocument"]
__getattr__ = import_on_use(__name__, dict.fromkeys(__all__, "routes"))
