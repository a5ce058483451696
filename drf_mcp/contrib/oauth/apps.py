from __future__ import annotations

from django.apps import AppConfig, apps
from django.db.models.signals import pre_save
from django.utils.translation import gettext_lazy as _


class OAuthConfig(AppConfig):
    """Signs people in for agents, with a page of consent and one of connections."""

    name = "drf_mcp.contrib.oauth"
    label = "drf_mcp_oauth"
    verbose_name = _("MCP connections")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.oauth.feature.OAuthFeature",)
    mcp_checks = "drf_mcp.contrib.oauth.checks"

    def ready(self) -> None:
        super().ready()
        if not apps.is_installed("oauth2_provider"):
            # Checks of allauth are its own.
            self.mcp_checks = ""
            return
        from oauth2_provider.models import get_application_model

        from drf_mcp.contrib.oauth.backends import keep_hash_of_secret

        uid = "drf_mcp.contrib.oauth"
        pre_save.connect(keep_hash_of_secret, sender=get_application_model(), dispatch_uid=uid)
