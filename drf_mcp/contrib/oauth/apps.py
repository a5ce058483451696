from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OAuthConfig(AppConfig):
    """Signs people in for agents, with a page of consent and one of connections."""

    name = "drf_mcp.contrib.oauth"
    label = "drf_mcp_oauth"
    verbose_name = _("Connected agents")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.oauth.feature.OAuthFeature",)
    mcp_checks = "drf_mcp.contrib.oauth.checks"
