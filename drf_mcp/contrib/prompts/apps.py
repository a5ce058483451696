from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PromptsConfig(AppConfig):
    """Serves prompts, and completes their arguments.

    With `drf_mcp.contrib.asking`, prompts ask for the arguments that are missing.
    """

    name = "drf_mcp.contrib.prompts"
    label = "drf_mcp_prompts"
    verbose_name = _("MCP prompts")
    mcp_features = ("drf_mcp.contrib.prompts.capability.PromptsFeature",)
