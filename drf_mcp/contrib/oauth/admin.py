from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from drf_mcp.contrib.oauth.models import LinkedIdentity


@admin.register(LinkedIdentity)
class LinkedIdentityAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Whom subjects of identity providers mean; only superusers say it, for any user."""

    list_display = ("subject", "issuer", "user")
    list_filter = ("issuer",)
    list_select_related = ("user",)
    search_fields = ("subject",)
    raw_id_fields = ("user",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_superuser", False))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)
