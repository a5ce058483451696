from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from drf_mcp.interaction.stopping import StopSignal


class SubscriptionsConfig(AppConfig):
    """Sends news to clients that listen."""

    name = "drf_mcp.contrib.subscriptions"
    label = "drf_mcp_subscriptions"
    verbose_name = _("MCP subscriptions")
    mcp_features = ("drf_mcp.contrib.subscriptions.capability.SubscriptionsFeature",)

    def ready(self) -> None:
        # The receivers need the models of Django's own apps.
        from drf_mcp.contrib.subscriptions.bus import follow_models

        follow_models()
        StopSignal.follow()
