"""The pages on which people approve and decline calls, next to the endpoint's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException

from drf_mcp.access.scopes import find_tenant_key
from drf_mcp.browsable.frame import Frame, PagePart
from drf_mcp.browsable.page import SessionPage
from drf_mcp.contrib.rules.proposal_store import PERMISSION, WAITING, ProposalStore
from drf_mcp.contrib.rules.proposing import find_shown_fingerprint, make_without_worker, show_to
from drf_mcp.exceptions import attempt

MOST_LISTED = 100
MOST_AT_HOME = 8


class ProposalsFrame(Frame):
    template_name = "drf_mcp_rules/page.html"


class RulesPart(PagePart):
    """Shows what waits for an approval to those who may approve calls."""

    @cached_property
    def address(self) -> str:
        user = getattr(self.page.request, "user", None)
        if user is None or not user.has_perm(PERMISSION):
            return ""
        try:
            return reverse("drf_mcp_rules:proposals")
        except NoReverseMatch:
            return ""

    @property
    def waiting(self) -> Any:
        rows = ProposalStore().rows.filter(tenant=find_tenant_key(self.page.request))
        return rows.filter(status=WAITING, expires__gt=timezone.now())

    def get_addresses(self) -> Mapping[str, str]:
        if not self.address:
            return {}
        count = self.waiting.count()
        return {self.address: f"{_('Approvals')} ({count})" if count else _("Approvals")}

    def get_home(self, tools: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        rows = self.waiting.order_by("-created")[:MOST_AT_HOME] if self.address else ()
        section = {"template": "drf_mcp_rules/home.html", "order": 50, "rows": rows}
        return [section] if rows else []


class ProposalsPage(SessionPage):
    """Lists open and decided proposals to approvers."""

    frame_class = ProposalsFrame
    store = ProposalStore()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not request.user.has_perm(PERMISSION):
            raise PermissionDenied
        self.store.end_late()
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        every = list(self.get_queryset()[:MOST_LISTED])
        return self.show_page(
            {
                "template": "drf_mcp_rules/proposals.html",
                "waiting": [row for row in every if row.status == WAITING],
                "others": [row for row in every if row.status != WAITING],
            }
        )

    def get_queryset(self) -> Any:
        """Return the proposals of the request's tenant."""
        return self.store.rows.filter(tenant=find_tenant_key(self.request)).order_by("-created")


class ProposalPage(ProposalsPage):
    """Shows one proposal, and takes the decision about it."""

    def get(self, request: HttpRequest, proposal_id: str) -> HttpResponse:  # type: ignore[override]
        return self.show(get_object_or_404(self.get_queryset(), pk=proposal_id))

    def post(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        row, sent = get_object_or_404(self.get_queryset(), pk=proposal_id), request.POST
        tenant, user = find_tenant_key(request), request.user
        try:
            if sent.get("decision") == "approve":
                row = self.store.approve(row, user, sent.get("fingerprint", ""), tenant)
                make_without_worker(row)
            elif sent.get("decision") == "decline":
                self.store.decline(row, user, sent.get("reason", ""), tenant)
        except APIException as exc:
            row.refresh_from_db()
            return self.show(row, str(exc.detail), exc.status_code)
        return HttpResponseRedirect(request.path)

    def show(self, row: Any, error: str = "", status: int = 200) -> HttpResponse:
        check, tenant = self.store.check_approver, find_tenant_key(self.request)
        user = self.request.user
        refusal = attempt(lambda: check(row, user, tenant), otherwise=lambda exc: exc)
        is_open = row.status == WAITING
        # Before the object is read: what changes meanwhile is not approved.
        fingerprint = find_shown_fingerprint(row) if is_open else ""
        context = {
            "template": "drf_mcp_rules/proposal.html",
            "row": row,
            "error": error,
            "refusal": getattr(refusal, "detail", ""),
            "is_open": is_open,
            "fingerprint": fingerprint,
            "approvals": self.store.find_approvals(row),
            "objects": show_to(row, user, getattr(self.request, "tenant", None)),
        }
        return self.show_page(context, status)
