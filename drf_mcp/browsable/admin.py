from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse


class MCPSection:
    """A mixin of ``AdminSite``: the models of the package's apps have one section."""

    def get_app_list(self: Any, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the sections of the index and the sidebar, in the form of Django's method."""
        sections: list[Any] = super().get_app_list(request, app_label)  # type: ignore[misc]
        own = [each for each in sections if f"{each['app_label']}_".startswith("drf_mcp_")]
        if app_label is not None or not own:
            return sections
        models = [model for each in own for model in each["models"]]
        section = {
            **own[0],
            "name": "MCP",
            "app_label": "drf_mcp",
            "app_url": reverse(f"{self.name}:index"),
            "models": sorted(models, key=lambda model: model["name"]),
        }
        others = [each for each in sections if each not in own]
        return sorted([*others, section], key=lambda each: each["name"].lower())


class MCPAdminSite(MCPSection, AdminSite):
    """Django's admin site with that section."""
