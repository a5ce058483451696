from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AggregatesConfig(AppConfig):
    """Gives lists a further tool that counts, sums up and groups their rows."""

    name = "drf_mcp.contrib.aggregates"
    label = "drf_mcp_aggregates"
    verbose_name = _("MCP aggregates")
    mcp_features = ("drf_mcp.contrib.aggregates.feature.AggregatesFeature",)
    mcp_checks = "drf_mcp.contrib.aggregates.tool"
