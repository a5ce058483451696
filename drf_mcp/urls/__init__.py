"""The endpoint at ``mcp`` and ``mcp/``, so that no POST is ever redirected.

Next to it is what results had no room for, which the tool ``content_retrieve`` fetches, and
where OAuth is on, the metadata by which clients sign in.
"""

from django.urls import path, re_path

from drf_mcp.access.urls import urlpatterns as well_known
from drf_mcp.archive.retrieval import ContentRetrieveView
from drf_mcp.views import MCPView

app_name = "drf_mcp"
urlpatterns = [
    re_path(r"^mcp/?$", MCPView.as_view(), name="endpoint"),
    path("mcp/content/", ContentRetrieveView.as_view(), name="content"),
    *well_known,
]
