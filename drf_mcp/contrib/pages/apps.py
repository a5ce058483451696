from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PagesConfig(AppConfig):
    """Serves pages that hosts show with the results of tools."""

    name = "drf_mcp.contrib.pages"
    label = "drf_mcp_pages"
    verbose_name = _("MCP pages")
    mcp_features = ("drf_mcp.contrib.pages.capability.PagesFeature",)
    mcp_requires = ("drf_mcp.contrib.resources",)
    mcp_checks = "drf_mcp.contrib.pages.capability"
