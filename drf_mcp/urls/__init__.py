"""The endpoint at ``mcp`` and ``mcp/``, so that no POST is ever redirected.

Where OAuth is on, the metadata by which clients sign in is next to it.
"""

from django.urls import re_path

from drf_mcp.access.urls import urlpatterns as well_known
from drf_mcp.views import MCPView

app_name = "drf_mcp"
urlpatterns = [
    re_path(r"^mcp/?$", MCPView.as_view(), name="endpoint"),
    *well_known,
]
