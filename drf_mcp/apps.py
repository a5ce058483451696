"""The Django app."""

import time

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

from drf_mcp.checks import register_checks


class DRFMCPConfig(AppConfig):
    """Finds every app's ``mcp`` module, where tools are registered."""

    name = "drf_mcp"
    label = "drf_mcp"
    verbose_name = _("MCP tools")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.stored.retrieval.KeepsContent",)
    # When the process started: it does not run the code of a file that is newer.
    started = time.time()

    def ready(self) -> None:
        register_checks()
        autodiscover_modules("mcp")
