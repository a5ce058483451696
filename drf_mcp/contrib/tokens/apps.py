from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TokensConfig(AppConfig):
    name = "drf_mcp.contrib.tokens"
    label = "drf_mcp_tokens"
    verbose_name = _("Tokens for agents")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Not before: the checks import models and settings.
        from drf_mcp.contrib.tokens import checks  # noqa: F401
