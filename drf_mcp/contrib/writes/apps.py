from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WritesConfig(AppConfig):
    """Lets agents try, confirm, repeat and take back what changes something."""

    name = "drf_mcp.contrib.writes"
    label = "drf_mcp_writes"
    verbose_name = _("MCP writes")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.writes.feature.WritesFeature",)
    mcp_checks = "drf_mcp.contrib.writes.guards"
