from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from drf_mcp.contrib.rules.models import CallRule


@admin.register(CallRule)
class CallRuleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """The rules in their order."""

    list_display = ("order", "name", "tools", "shown_condition", "verdict", "is_active")
    list_display_links = ("name",)
    list_filter = ("is_active", "verdict")
    search_fields = ("name", "tools", "condition", "reason")

    @admin.display(description=_("condition"))
    def shown_condition(self, row: Any) -> str:
        return row.condition or str(_("every call"))
