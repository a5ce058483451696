from __future__ import annotations

from django.contrib import admin

from drf_mcp.admin import ReadOnlyAdmin
from drf_mcp.contrib.tasks.models import CallTask


@admin.register(CallTask)
class CallTaskAdmin(ReadOnlyAdmin):
    """Calls that workers make, newest first, without what is in them."""

    list_display = ("task_id", "tool", "owner", "status", "message", "created", "expires")
    list_filter = ("status", "tool", "created")
    search_fields = ("task_id", "owner")
    ordering = ("-created",)
    date_hierarchy = "created"
    fields = (*list_display, "is_cancelled", "started", "leased", "updated")
    readonly_fields = fields
