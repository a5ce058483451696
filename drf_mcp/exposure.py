"""Which endpoints are tools: see docs/exposing.md."""

from __future__ import annotations

from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.exposure import Exposure, ToolChoice
from drf_mcp.routes.options import ToolOptions, mcp_tool, mcp_viewset
from drf_mcp.routes.registry import Registry, registry
from drf_mcp.routes.tool import Tool

__all__ = [
    "Endpoint",
    "Exposure",
    "Registry",
    "Tool",
    "ToolChoice",
    "ToolOptions",
    "mcp_tool",
    "mcp_viewset",
    "registry",
]
