from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SubscriptionsConfig(AppConfig):
    """Sends news to clients that listen."""

    name = "drf_mcp.contrib.subscriptions"
    label = "drf_mcp_subscriptions"
    verbose_name = _("MCP subscriptions")
    mcp_features = ("drf_mcp.contrib.subscriptions.feature.SubscriptionsFeature",)

    def ready(self) -> None:
        # Not before: the receivers import the models of Django's own apps.
        from drf_mcp.contrib.subscriptions import news

        news.follow_settings()
