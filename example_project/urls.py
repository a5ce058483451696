"""The shop's API under ``/api/``, the library's under ``/api/library/``, and the admin site.

The MCP endpoint at ``/mcp`` serves the tools of both, ``/library/mcp`` the library's own.
``/mcp/readonly`` has the tools that read, ``/mcp/x/support`` those of the toolset in the settings.
``/mcp/search`` lists few tools, which find and run the others. ``/mcp/compose`` has one more tool,
which runs programs that call the others.
Large files are uploaded to ``/mcp/uploads/`` and then named in calls.
Probes ask ``/mcp/health/`` and ``/mcp/ready/``.
At ``/mcp/tokens/`` users make tokens for their agents, at ``/mcp/approvals/`` they approve calls.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from drf_mcp.views import MCPView
from example_project.library.mcp import endpoint as library_endpoint

# For clients that send every tool to the model: three tools find and run the others.
search_endpoint = MCPView.as_view(tool_search=True, pinned=["customers_list"])

# One more tool, which runs programs that call the others.
compose_endpoint = MCPView.as_view(compose="writes")

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="api-root")),
    path("", include("drf_mcp.urls")),
    path("mcp/", include("drf_mcp.urls.toolsets")),
    path("mcp/", include("drf_mcp.urls.health")),
    re_path(r"^mcp/search/?$", search_endpoint, name="search-endpoint"),
    re_path(r"^mcp/compose/?$", compose_endpoint, name="compose-endpoint"),
    re_path(r"^library/mcp/?$", library_endpoint, name="library-endpoint"),
    path("mcp/uploads/", include("drf_mcp.contrib.uploads.urls")),
    path("mcp/tokens/", include("drf_mcp.contrib.tokens.urls")),
    path("mcp/approvals/", include("drf_mcp.contrib.rules.urls")),
    path("admin/", admin.site.urls),
    path("api/", include("example_project.shop.urls")),
    path("api/library/", include("example_project.library.urls")),
    path("api-auth/", include("rest_framework.urls")),
]
if settings.SHOP_OAUTH:
    urlpatterns.append(path("", include("drf_mcp.contrib.oauth.urls")))
if settings.SHOP_METRICS:
    urlpatterns.append(path("metrics", include("drf_mcp.contrib.metrics.urls")))
