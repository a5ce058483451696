from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ResourcesConfig(AppConfig):
    """Serves what tools retrieve as resources, lists that are chosen, and documents."""

    name = "drf_mcp.contrib.resources"
    label = "drf_mcp_resources"
    verbose_name = _("MCP resources")
    mcp_features = ("drf_mcp.contrib.resources.capability.ResourcesFeature",)
