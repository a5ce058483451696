"""The endpoint at ``mcp`` and ``mcp/``, so that no POST is ever redirected."""

from django.urls import re_path

from drf_mcp.views import MCPView

app_name = "drf_mcp"
urlpatterns = [re_path(r"^mcp/?$", MCPView.as_view(), name="endpoint")]
