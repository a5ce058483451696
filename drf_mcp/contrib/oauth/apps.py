from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OAuthConfig(AppConfig):
    """Signs people in for agents, with pages of its own."""

    name = "drf_mcp.contrib.oauth"
    label = "drf_mcp_oauth"
    verbose_name = _("Connected agents")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.oauth.feature.OAuthFeature",)
    # Where system checks are registered.
    checks_module = "drf_mcp.contrib.oauth.checks"

    def ready(self) -> None:
        # Not before: the checks import the views, the signal's receiver the models.
        from drf_mcp.contrib.oauth import connections  # noqa: F401

        if self.checks_module:
            import_module(self.checks_module)
