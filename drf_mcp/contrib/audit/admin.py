"""The admin site shows the audit."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext_lazy as _

from drf_mcp.admin import ReadOnlyAdmin
from drf_mcp.contrib.audit.models import AuditedCall, WantedTool

COLUMNS = [field.name for field in AuditedCall._meta.concrete_fields]
SHOWN: tuple[str, ...] = (
    *(name for name in COLUMNS if name not in ("id", "arguments", "is_trial")),
    "shown_trial",
    "shown_arguments",
)


@admin.register(AuditedCall)
class AuditedCallAdmin(ReadOnlyAdmin):
    """Calls, newest first, read-only."""

    # Six short columns fit between the apps and the filters.
    list_display = (
        "shown_time",
        "shown_user",
        "shown_tool",
        "result",
        "shown_rows",
        "shown_duration",
    )
    empty_value_display = ""
    list_filter = ("verdict", "is_trial", "time", "tool", "code", "credential", "client_name")
    search_fields = ("user_label", "=user_pk", "=request_id", "tool", "=token_prefix", "arguments")
    search_help_text = _("User, request id, tool, prefix of a token, or a word of the arguments")
    ordering = ("-time", "-pk")
    date_hierarchy = "time"
    # Counting millions of rows takes longer than showing a page of them.
    show_full_result_count = False
    fields = SHOWN
    readonly_fields = SHOWN

    @admin.display(description=_("time"), ordering="time")
    def shown_time(self, row: AuditedCall) -> str:
        moment = localtime(row.time) if is_aware(row.time) else row.time
        return date_format(moment, "SHORT_DATETIME_FORMAT")

    @admin.display(description=_("user"), ordering="user_label")
    def shown_user(self, row: AuditedCall) -> Any:
        return row.user_label or row.user_pk or row.address or _("anonymous")

    @admin.display(description=_("tool"), ordering="tool")
    def shown_tool(self, row: AuditedCall) -> str:
        return row.tool or row.method

    @admin.display(description=_("result"), ordering="verdict")
    def result(self, row: AuditedCall) -> str:
        trial = _("dry run") if row.is_trial else ""
        count = f"x {row.messages}" if row.messages > 1 else ""
        return " ".join(filter(None, map(str, [row.get_verdict_display(), trial, row.code, count])))

    @admin.display(description=_("rows"), ordering="rows_changed")
    def shown_rows(self, row: AuditedCall) -> int | None:
        return row.rows_changed

    @admin.display(description="ms", ordering="duration_ms")
    def shown_duration(self, row: AuditedCall) -> int | None:
        return None if row.duration_ms is None else round(row.duration_ms)

    @admin.display(description=_("dry run"))
    def shown_trial(self, row: AuditedCall) -> Any:
        return _("yes") if row.is_trial else ""

    @admin.display(description=_("arguments"))
    def shown_arguments(self, row: AuditedCall) -> SafeString:
        arguments = row.as_data()["arguments"]
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, indent=2, ensure_ascii=False)
        return format_html("<pre>{}</pre>", arguments)


@admin.register(WantedTool)
class WantedToolAdmin(ReadOnlyAdmin):
    """What agents looked for in vain, each thing once."""

    list_display = ("wanted", "times", "users", "time", "tool", "intent")
    list_display_links = None
    search_fields = ("wanted", "intent")
    ordering = ("-time", "-pk")

    def get_queryset(self, request: HttpRequest) -> Any:
        return AuditedCall.count_wanted(super().get_queryset(request))

    @admin.display(description=_("times"), ordering="times")
    def times(self, row: Any) -> int:
        return int(row.times)

    @admin.display(description=_("users"), ordering="users")
    def users(self, row: Any) -> int:
        return int(row.users)
