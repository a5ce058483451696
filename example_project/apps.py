from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ShopAdminConfig(AdminConfig):
    """The admin with one section for all that agents do."""

    default_site = "drf_mcp.browsable.admin.MCPAdminSite"
