from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperatorsConfig(AppConfig):
    """Reports on the tools: what could be better, who may call them, what changed."""

    name = "drf_mcp.contrib.operators"
    label = "drf_mcp_operators"
    verbose_name = _("MCP reports")
    mcp_features = ("drf_mcp.contrib.operators.feature.OperatorsFeature",)
    mcp_checks = "drf_mcp.contrib.operators.risks"
