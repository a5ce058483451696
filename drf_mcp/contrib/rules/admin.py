from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException

from drf_mcp.access.scopes import get_tenant_key
from drf_mcp.admin import ReadOnlyAdmin
from drf_mcp.contrib.rules.models import CallRule, Proposal
from drf_mcp.contrib.rules.proposal_store import PERMISSION, ProposalStore


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


SHOWN = (
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
    "shown_difference",
    "message",
    "created",
    "updated",
    "expires",
)


class DecisionForm(ActionForm):
    # A telephone has no room for a label next to the actions.
    named = {"placeholder": _("Reason"), "aria-label": _("Reason"), "size": 8}
    widget = forms.TextInput(attrs=named)
    reason = forms.CharField(label="", required=False, max_length=300, widget=widget)


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    """The calls that wait for an approval, and those that waited, newest first."""

    list_display = (
        "title",
        "user_label",
        "status",
        "shown_difference",
        "shown_arguments",
        "expires",
    )
    list_filter = ("status", "tool", "rule")
    search_fields = ("proposal_id", "tool", "user_label", "reason")
    ordering = ("-created",)
    fields = SHOWN
    readonly_fields = SHOWN
    actions = ("approve", "decline")
    action_form = DecisionForm

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_approve_permission(request)

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(PERMISSION))

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(tenant=get_tenant_key(request))

    @admin.action(description=_("Approve as shown here"), permissions=["approve"])
    def approve(self, request: HttpRequest, queryset: Any) -> None:
        # What the list showed, if it was another, is not approved.
        self.decide(request, queryset, "approve", "shown-%s")

    @admin.action(description=_("Decline"), permissions=["approve"])
    def decline(self, request: HttpRequest, queryset: Any) -> None:
        self.decide(request, queryset, "decline", "reason")

    def decide(self, request: HttpRequest, rows: Any, action: str, name: str) -> None:
        decide, tenant = getattr(ProposalStore(), action), get_tenant_key(request)
        for row in rows:
            sent = request.POST.get(name % row.pk if "%" in name else name, "")
            try:
                row = decide(row, request.user, sent, tenant)
            except APIException as exc:
                self.message_user(request, f"{row}: {exc.detail}", messages.ERROR)
                continue
            self.log_change(request, row, action)
            self.message_user(request, f"{row}: {row.get_status_display()}")

    @admin.display(description=_("arguments"))
    def shown_arguments(self, row: Any) -> SafeString:
        return format_html_join("", "<div>{}: {}</div>", row.shown_arguments)

    @admin.display(description=_("what the call would do"))
    def shown_difference(self, row: Any) -> SafeString:
        facts = format_html_join("", "<div>{}: {}</div>", row.shown_facts)
        changes = (each[:3] for each in row.differences)
        fields = format_html_join("", "<div>{}: {} → {}</div>", changes)
        hidden = '<input type="hidden" name="shown-{}" value="{}">'
        return facts + fields + format_html(hidden, row.pk, row.fingerprint)

    @admin.display(description=_("approvals"))
    def shown_approvals(self, row: Any) -> str:
        labels = list(row.given.values_list("label", flat=True))
        facts = {"given": len(labels), "needed": row.approvals_needed}
        return ", ".join([gettext("%(given)s of %(needed)s") % facts, *labels])
