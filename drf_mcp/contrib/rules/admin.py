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
from drf_mcp.contrib.rules.proposal_store import PERMISSION, WAITING, ProposalStore
from drf_mcp.contrib.rules.proposing import find_shown_fingerprint, show_to


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


class DecisionForm(ActionForm):
    # A telephone has no room for a label next to the actions.
    named = {"placeholder": _("Reason"), "aria-label": _("Reason"), "size": 8}
    widget = forms.TextInput(attrs=named)
    reason = forms.CharField(label="", required=False, max_length=300, widget=widget)


class ObjectsOf:
    """A column: the objects of a proposal, as the user's own reads show them now."""

    short_description = _("objects")
    __name__ = "objects"

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    def __call__(self, row: Any) -> SafeString:
        # Before the objects are read: what changes meanwhile is not approved.
        fingerprint = find_shown_fingerprint(row) if row.status == WAITING else ""
        objects = show_to(row, self.request.user, getattr(self.request, "tenant", None))
        lines = [
            (each["object"], ", ".join(f"{n}: {v}" for n, v in each.get("shown", {}).items()))
            for each in objects
        ]
        hidden = '<input type="hidden" name="shown-{}" value="{}">'
        shown = format_html_join("", "<div>{} {}</div>", lines)
        return shown + format_html(hidden, row.pk, fingerprint)


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    """The calls that wait for an approval, and those that waited, newest first."""

    list_filter = ("status", "tool", "rule")
    search_fields = ("proposal_id", "tool", "user_label", "reason")
    ordering = ("-created",)
    # The objects of each are read for the user.
    list_per_page = 25
    actions = ("approve", "decline")
    action_form = DecisionForm

    def get_list_display(self, request: HttpRequest) -> Any:
        return ("title", "user_label", "status", "shown_arguments", ObjectsOf(request), "expires")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        about = ("tool", "title", "user_label", "credential", "status", "rule", "reason", "group")
        shown = ("shown_approvals", "shown_arguments", ObjectsOf(request), "message")
        return (*about, *shown, "created", "updated", "expires")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_readonly_fields(request, obj)

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

    @admin.display(description=_("approvals"))
    def shown_approvals(self, row: Any) -> str:
        labels = list(map(str, ProposalStore().find_approvals(row)))
        facts = {"given": len(labels), "needed": row.approvals_needed}
        return ", ".join([gettext("%(given)s of %(needed)s") % facts, *labels])
