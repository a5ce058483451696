"""Archived content in the admin site."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from drf_mcp.models import ArchivedContent

# How many characters of a content a page shows.
MAX_SHOWN = 100_000


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # ``mcp_expire`` and ``mcp_audit --expire`` delete rows by age.
        return False


@admin.register(ArchivedContent)
class ArchivedContentAdmin(ReadOnlyAdmin):
    """Content that did not fit into results, newest first, read-only."""

    list_display = ("archive_id", "tool", "owner", "size", "created", "expires")
    list_filter = ("tool", "created")
    search_fields = ("archive_id", "owner", "content_hash")
    ordering = ("-created",)
    date_hierarchy = "created"
    fields = (
        "archive_id",
        "tool",
        "owner",
        "created",
        "expires",
        "content_hash",
        "size",
        "shown_content",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[ArchivedContent]:
        return super().get_queryset(request).defer("text")

    @admin.display(description=_("content"))
    def shown_content(self, row: ArchivedContent) -> SafeString:
        chunks = row.chunks.order_by("position").values_list("text", flat=True)
        content = "".join([row.text, *chunks])
        text = json.dumps(json.loads(content), indent=2, ensure_ascii=False)
        rest = len(text) - MAX_SHOWN
        note = gettext("… (%(count)d more characters)") % {"count": rest}
        more = f"\n{note}" if rest > 0 else ""
        return format_html("<pre>{}{}</pre>", text[:MAX_SHOWN], more)
