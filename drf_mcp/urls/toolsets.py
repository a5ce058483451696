"""Endpoints with fewer tools, below the path of the other one::

    path("", include("drf_mcp.urls")),
    path("mcp/", include("drf_mcp.urls.toolsets")),

``mcp/readonly`` has the tools that read, ``mcp/x/NAME`` has the tools of a toolset: one of
TOOLSETS, or the tools with that tag. No POST is ever redirected for a slash.
"""

from django.urls import re_path

from drf_mcp.views import MCPView

app_name = "drf_mcp_toolsets"
urlpatterns = [
    re_path(r"^readonly/?$", MCPView.as_view(read_only=True), name="readonly"),
    re_path(r"^x/(?P<toolset>[^/]+)/?$", MCPView.as_view(), name="toolset"),
]
