"""Which endpoints are tools, and who is offered them: see docs/exposing.md and docs/toolsets.md."""

from __future__ import annotations

from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.exposure import Exposure, ToolChoice
from drf_mcp.routes.options import ToolOptions, mcp_tool, mcp_viewset
from drf_mcp.routes.registry import Registry, registry
from drf_mcp.routes.server_tool import RedirectingTool, ServerTool, ServerToolView
from drf_mcp.routes.tool import Tool

__all__ = [
    "Endpoint",
    "Exposure",
    "RedirectingTool",
    "Registry",
    "ServerTool",
    "ServerToolView",
    "Tool",
    "ToolChoice",
    "ToolOptions",
    "Visibility",
    "mcp_tool",
    "mcp_viewset",
    "registry",
]
