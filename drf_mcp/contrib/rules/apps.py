from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RulesConfig(AppConfig):
    """Refuses calls by rules, and has people approve others."""

    name = "drf_mcp.contrib.rules"
    label = "drf_mcp_rules"
    verbose_name = _("MCP rules")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.rules.feature.RulesFeature",)
    mcp_checks = "drf_mcp.contrib.rules.feature"
    mcp_requires = ("drf_mcp.contrib.tasks", "drf_mcp.contrib.writes")
