from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SearchConfig(AppConfig):
    """Lets agents search the tools of an endpoint that lists few of them."""

    name = "drf_mcp.contrib.search"
    label = "drf_mcp_search"
    verbose_name = _("MCP tool search")
    mcp_features = ("drf_mcp.contrib.search.feature.SearchFeature",)
    mcp_checks = "drf_mcp.contrib.search.tool_search"
