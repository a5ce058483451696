from __future__ import annotations

from django.apps import AppConfig


class OAuthConfig(AppConfig):
    """Signs people in for agents, with pages of its own."""

    name = "drf_mcp.contrib.oauth"
    label = "drf_mcp_oauth"
    verbose_name = "Connected agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Not before: the checks import the URLconf's views, the signal the models.
        from drf_mcp.contrib.oauth import checks, connections  # noqa: F401
