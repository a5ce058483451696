from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SearchConfig(AppConfig):
    """Lets agents search the tools of an endpoint that lists few of them."""

    name = "drf_mcp.contrib.search"
    label = "drf_mcp_search"
    verbose_name = _("MCP tool search")
    mcp_features = ("drf_mcp.contrib.search.feature.SearchFeature",)

    def ready(self) -> None:
        # Not before: the checks import models and settings.
        from drf_mcp.contrib.search import checks  # noqa: F401
