"""Tools: which routes are exposed, under what names, with what arguments.

The modules in the order in which a route becomes a tool::

    route          the URL patterns that lead to an API view, and the paths of a view
    endpoint       one HTTP method of a route
    options        what a project declares: mcp_tool, mcp_viewset
    exposure       which endpoints are tools
    naming         the name of a tool
    descriptions   its title and description; hints has what options add to them
    related        which other tool lists the objects that an argument identifies
    tool           one endpoint with its options, schema and arguments
    server_tool    a tool to which no URL leads
    registry       the tools of a project, by name
"""

from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.routes.exposure import Exposure
from drf_mcp.routes.naming import Naming
from drf_mcp.routes.options import mcp_tool, mcp_viewset
from drf_mcp.routes.registry import Registry, registry
from drf_mcp.routes.tool import Tool

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
