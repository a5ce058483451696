from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.color import no_style
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException

from drf_mcp.contrib.rules.ledger import OPEN, ProposalLedger
from drf_mcp.contrib.rules.running import enqueue, find_approved, run_proposal
from drf_mcp.management.base import MCPCommand, UsageError
from drf_mcp.management.screen import Screen


class Command(MCPCommand):
    """Lists the proposals of ``drf_mcp.contrib.rules``, decides about them, and makes the calls."""

    help = "List calls that wait for an approval, decide about them, and make those approved."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=True)
        listed = commands.add_parser("list", help="the proposals that wait, the newest first")
        listed.add_argument("--all", action="store_true", help="those that have ended as well")
        shown = commands.add_parser("show", help="one proposal, with what the call would do")
        approved = commands.add_parser("approve", help="approve a call, as `show` shows it")
        declined = commands.add_parser("decline", help="decline a call for good")
        declined.add_argument("--reason", required=True, help="why, in a sentence for the caller")
        for each in (shown, approved, declined):
            each.add_argument("proposal", metavar="PROPOSAL", help="the id, as listed")
        for each in (approved, declined):
            each.add_argument("--fingerprint", help="the hash that `show` printed")
            self.add_user_argument(each.add_argument, "who decides, by USERNAME_FIELD")
        run = commands.add_parser("run", help="make the calls that are approved")
        for each in (listed, shown, approved, declined, run):
            each.add_argument("--json", action="store_true", help="print it as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        self.ledger = ProposalLedger()
        self.ledger.end_late()
        getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        rows = self.ledger.rows.order_by("-created")
        rows = rows if options["all"] else rows.filter(status__in=OPEN)
        headings = (_("PROPOSAL"), _("CALL"), _("USER"), _("STATE"), _("SINCE"))
        lines = Screen(self.width, no_style()).list_table(headings, map(self.get_cells, rows))
        self.write_data([self.as_data(row) for row in rows], lines, options)

    def show(self, options: dict[str, Any]) -> None:
        row = self.get_proposal(options)
        data = self.as_data(row)
        lines = [
            f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}"
            for name, value in data.items()
        ]
        self.write_data(data, lines, options)

    def approve(self, options: dict[str, Any]) -> None:
        self.decide(options, "approve", options["fingerprint"])

    def decline(self, options: dict[str, Any]) -> None:
        self.decide(options, "decline", options["reason"])

    def decide(self, options: dict[str, Any], action: str, given: str | None) -> None:
        row = self.get_proposal(options)
        if options["username"] is None:
            raise UsageError(_("Name who decides with --as."))
        user = self.find_user(options["username"])
        try:
            row = getattr(self.ledger, action)(row, user, given or row.fingerprint)
        except APIException as exc:
            raise UsageError(self.write_reason(exc)) from exc
        enqueue(row)
        self.write_data(self.as_data(row), ["  ".join(self.get_cells(row))], options)

    def run(self, options: dict[str, Any]) -> None:
        made = [row for row in map(run_proposal, find_approved()) if row is not None]
        lines = ["  ".join(self.get_cells(row)) for row in made] or [_("No call is approved.")]
        self.write_data([self.as_data(row) for row in made], lines, options)

    def get_proposal(self, options: dict[str, Any]) -> Any:
        row = self.ledger.rows.filter(pk=options["proposal"]).first()
        if row is None:
            known = self.ledger.rows.filter(status__in=OPEN).values_list("pk", flat=True)
            raise UsageError.unknown("proposal", options["proposal"], known)
        return row

    def get_cells(self, row: Any) -> tuple[str, ...]:
        since = timezone.localtime(row.created) if timezone.is_aware(row.created) else row.created
        status = str(row.Status(row.status).label)
        return row.proposal_id, row.tool, row.user_label, status, f"{since:%Y-%m-%d %H:%M}"

    def as_data(self, row: Any) -> dict[str, Any]:
        names = ["proposal_id", "tool", "user_label", "status", "rule", "reason", "arguments"]
        names += ["shown", "shown_before", "fingerprint", "message", "created", "expires"]
        given = row.approvals.filter(fingerprint=row.fingerprint).values_list("label", flat=True)
        approvals = {"needed": row.approvals_needed, "given": [*given]}
        return {**{name: getattr(row, name) for name in names}, "approvals": approvals}
