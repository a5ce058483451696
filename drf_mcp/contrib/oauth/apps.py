from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy


class OAuthConfig(AppConfig):
    """Signs people in for agents, with pages of its own."""

    name = "drf_mcp.contrib.oauth"
    label = "drf_mcp_oauth"
    verbose_name = _("Connected agents")
    default_auto_field = "django.db.models.BigAutoField"
    # What mcp_expire deletes: a function and what is said of its number, by the number's name.
    mcp_expires: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "unused_clients": (
            "drf_mcp.contrib.oauth.documents.expire_documents",
            ngettext_lazy(
                "Deleted %(count)d client that was never connected.",
                "Deleted %(count)d clients that were never connected.",
                "count",
            ),
        )
    }
    # Where system checks are registered.
    checks_module = "drf_mcp.contrib.oauth.checks"

    def ready(self) -> None:
        # Not before: the checks import the views, the signal's receiver the models.
        from drf_mcp.contrib.oauth import connections  # noqa: F401

        if self.checks_module:
            import_module(self.checks_module)
