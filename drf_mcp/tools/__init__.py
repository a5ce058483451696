"""Tools: which endpoints are exposed, under what names, with what arguments."""

from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.exposure import Exposure
from drf_mcp.tools.naming import Naming
from drf_mcp.tools.options import mcp_tool, mcp_viewset
from drf_mcp.tools.registry import Registry, registry
from drf_mcp.tools.tool import Tool

__all__ = [
    "ArgumentsRefused",
    "Exposure",
    "Naming",
    "Registry",
    "Tool",
    "mcp_tool",
    "mcp_viewset",
    "registry",
]
