from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ComposeConfig(AppConfig):
    """Lets agents run a program over the tools of an endpoint, in one call."""

    name = "drf_mcp.contrib.compose"
    label = "drf_mcp_compose"
    verbose_name = _("MCP programs")
    mcp_features = ("drf_mcp.contrib.compose.feature.ComposeFeature",)
    mcp_checks = "drf_mcp.contrib.compose.feature"
