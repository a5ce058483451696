from __future__ import annotations

from django.contrib import admin

from drf_mcp.admin import ReadOnlyAdmin
from drf_mcp.contrib.writes.models import IdempotencyRecord


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    """Changes that were made by a key, newest first, read-only, without their answers."""

    list_display = ("operation", "key", "owner", "created", "expires")
    search_fields = ("key", "owner", "operation")
    ordering = ("-created",)
    date_hierarchy = "created"
    fields = list_display
    readonly_fields = fields
