from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from drf_mcp.access.scopes import find_tenant_key
from drf_mcp.admin import ReadOnlyAdmin
from drf_mcp.contrib.rules.models import CallRule, Proposal
from drf_mcp.contrib.rules.proposal_store import PERMISSION, ProposalStore


@admin.register(CallRule)
class CallRuleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """The rules in their order."""

    list_display = ("order", "name", "tool", "condition", "effect", "is_active")
    list_display_links = ("name",)
    list_filter = ("is_active", "effect")
    search_fields = ("name", "tool", "argument", "value", "reason")

    @admin.display(description=_("condition"))
    def condition(self, row: Any) -> str:
        return str(row.condition)


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    """Lists open and decided proposals; another page takes decisions."""

    list_display = ("title", "user_label", "status", "shown_arguments", "expires")
    list_filter = ("status", "tool", "rule")
    search_fields = ("proposal_id", "tool", "user_label", "reason")
    ordering = ("-created",)
    fields = readonly_fields = (
        "tool",
        "title",
        "user_label",
        "credential",
        "status",
        "rule",
        "reason",
        "group",
        "shown_approvals",
        "shown_arguments",
        "message",
        "link",
        "created",
        "updated",
        "expires",
    )

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may_approve = request.user.has_perm(PERMISSION)
        return may_approve or super().has_view_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(tenant=find_tenant_key(request))

    @admin.display(description=_("arguments"))
    def shown_arguments(self, row: Any) -> SafeString:
        return format_html_join("", "<div>{}: {}</div>", row.shown_arguments)

    @admin.display(description=_("approvals"))
    def shown_approvals(self, row: Any) -> str:
        labels = list(map(str, ProposalStore().find_approvals(row)))
        facts = {"given": len(labels), "needed": row.approvals_needed}
        return ", ".join([gettext("%(given)s of %(needed)s") % facts, *labels])
