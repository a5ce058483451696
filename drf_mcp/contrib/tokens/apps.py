from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TokensConfig(AppConfig):
    name = "drf_mcp.contrib.tokens"
    label = "drf_mcp_tokens"
    verbose_name = _("MCP tokens")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.tokens.feature.TokensFeature",)
    mcp_checks = "drf_mcp.contrib.tokens.feature"
