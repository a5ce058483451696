"""The pages on which people approve and decline calls, next to the endpoint's page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import APIException

from drf_mcp.access.principals import get_tenant_key
from drf_mcp.browsable.frame import Frame, PagePart
from drf_mcp.browsable.session_page import SessionPage
from drf_mcp.contrib.rules.ledger import DECIDABLE, PERMISSION, ProposalLedger
from drf_mcp.exceptions import contain

MOST_LISTED = 100
COUNTS: Mapping[str, str] = {
    "created": gettext_noop("Added"),
    "updated": gettext_noop("Changed"),
    "deleted": gettext_noop("Deleted"),
    "kept": gettext_noop("Kept, without a reference to it"),
    "changed": gettext_noop("Changed with it"),
    "bulk_statements": gettext_noop("Several at once"),
}


class Difference(NamedTuple):
    """A field that a call would change; what it was shown to become before, "" for the same."""

    name: str
    before: str
    after: str
    shown_before: str


class ProposalsFrame(Frame):
    template_name = "drf_mcp_rules/page.html"


class RulesPart(PagePart):
    """Names the page of proposals to those who may approve calls."""

    def get_addresses(self) -> Mapping[str, str]:
        user = getattr(self.page.request, "user", None)
        if user is None or not user.has_perm(PERMISSION):
            return {}
        try:
            return {reverse("drf_mcp_rules:proposals"): _("Approvals")}
        except NoReverseMatch:
            return {}


class ProposalsPage(SessionPage):
    """Lists the calls that wait for an approval, and those that waited, to approvers."""

    frame_class = ProposalsFrame
    ledger = ProposalLedger()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not request.user.has_perm(PERMISSION):
            raise PermissionDenied
        self.ledger.end_late()
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        every = list(self.get_queryset()[:MOST_LISTED])
        return self.show_page(
            {
                "template": "drf_mcp_rules/proposals.html",
                "waiting": [row for row in every if row.status in DECIDABLE],
                "others": [row for row in every if row.status not in DECIDABLE],
            }
        )

    def get_queryset(self) -> Any:
        """Return the proposals that the user may see: those of the request's tenant."""
        return self.ledger.rows.filter(tenant=get_tenant_key(self.request)).order_by("-created")


class ProposalPage(ProposalsPage):
    """Shows one proposal, and takes the decision about it."""

    def get(self, request: HttpRequest, proposal_id: str) -> HttpResponse:  # type: ignore[override]
        return self.show(get_object_or_404(self.get_queryset(), pk=proposal_id))

    def post(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        row, sent = get_object_or_404(self.get_queryset(), pk=proposal_id), request.POST
        tenant, user = get_tenant_key(request), request.user
        try:
            if sent.get("decision") == "approve":
                self.ledger.approve(row, user, sent.get("fingerprint", ""), tenant)
            elif sent.get("decision") == "decline":
                self.ledger.decline(row, user, sent.get("reason", ""), tenant)
        except APIException as exc:
            row.refresh_from_db()
            return self.show(row, str(exc.detail), exc.status_code)
        return HttpResponseRedirect(request.path)

    def show(self, row: Any, error: str = "", status: int = 200) -> HttpResponse:
        check = self.ledger.check_approver
        tenant, given = get_tenant_key(self.request), row.approvals.all()
        refusal = contain(lambda: check(row, self.request.user, tenant), lambda exc: exc)
        counts = ((_(COUNTS[name]), row.shown[name]) for name in COUNTS if row.shown.get(name))
        return self.show_page(
            {
                "template": "drf_mcp_rules/proposal.html",
                "row": row,
                "error": error,
                "refusal": getattr(refusal, "detail", ""),
                "is_open": row.status in DECIDABLE,
                "given": [each for each in given if each.fingerprint == row.fingerprint],
                "arguments": [(name, write(value)) for name, value in row.arguments.items()],
                "differences": list(self.find_differences(row)),
                "counts": [(title, write_counts(value)) for title, value in counts],
            },
            status,
        )

    def find_differences(self, row: Any) -> Iterator[Difference]:
        before, after = row.shown.get("before", {}), row.shown.get("after", {})
        earlier = (row.shown_before or {}).get("after", {})
        for name in dict.fromkeys((*after, *earlier)):
            now, then = write(after.get(name)), write(earlier.get(name))
            is_other = row.shown_before is not None and now != then
            yield Difference(name, write(before.get(name)), now, then if is_other else "")


def write(value: Any) -> str:
    """Return a value as people read it."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_counts(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {write(count)}" for name, count in value.items())
    return ", ".join(write(each) for each in value)
