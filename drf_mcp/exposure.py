"""Which endpoints are tools, and who is offered them: see docs/exposing.md and docs/toolsets.md."""

from __future__ import annotations

from drf_mcp.arguments.call import BODY, CONTROL, PATH, QUERY, Argument
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.exposure import Exposure, ToolChoice
from drf_mcp.routes.options import ToolOptions, ViewOptions, mcp_tool, mcp_viewset
from drf_mcp.routes.registry import Registry, registry
from drf_mcp.routes.route import Route
from drf_mcp.routes.tool import RedirectingTool, ServerTool, ServerToolView, Tool

__all__ = [
    "BODY",
    "CONTROL",
    "PATH",
    "QUERY",
    "Argument",
    "Endpoint",
    "Exposure",
    "RedirectingTool",
    "Registry",
    "Route",
    "ServerTool",
    "ServerToolView",
    "Tool",
    "ToolChoice",
    "ToolOptions",
    "ViewOptions",
    "Visibility",
    "mcp_tool",
    "mcp_viewset",
    "registry",
]
