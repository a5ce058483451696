from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from drf_mcp.interaction.stopping import StopSignal


class AskingConfig(AppConfig):
    """Lets calls ask the users of clients: by forms, pages and models (client/elicitation)."""

    name = "drf_mcp.contrib.asking"
    label = "drf_mcp_asking"
    verbose_name = _("MCP questions")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.asking.feature.AskingFeature",)

    def ready(self) -> None:
        StopSignal.follow()
