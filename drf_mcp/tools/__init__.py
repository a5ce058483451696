"""Tools: which endpoints are exposed, under what names, with what arguments.

The modules in the order in which a route becomes a tool, and the tool is called::

    routes             the URL patterns that lead to an API view, and the paths of a view
    endpoints          one HTTP method of a route
    options            what a project declares: mcp_tool, mcp_viewset
    exposure           which endpoints are tools
    naming             the name of a tool
    descriptions       its title and description; hints has what options add to them
    related_tools      which other tool lists the objects that an argument identifies
    tool               one endpoint with its options, schema and arguments
    arguments/         what a caller sends, and the path, query and body made of it
    server_tools       tools to which no URL leads
    registry           the tools of a project, by name
    capability         tools/list and tools/call
    results            the result of a call, and what the list says of results
    summaries          the signature of a tool, and the instructions of a server
"""

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
