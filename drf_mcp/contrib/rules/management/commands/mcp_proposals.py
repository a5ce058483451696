from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.color import no_style
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException

from drf_mcp.contrib.rules.proposal_store import APPROVED, OPEN, ProposalStore
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.option_types.spelling import ask_nearest, find_nearest

NAMES = ["proposal_id", "tool", "user_label", "status", "rule", "reason", "arguments", "shown"]
NAMES += ["shown_before", "fingerprint", "message", "created", "expires"]


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
        approved.add_argument("--fingerprint", help="the hash that `show` printed")
        for each in (approved, declined):
            self.add_user_argument(each.add_argument, "who decides, by USERNAME_FIELD")
        run = commands.add_parser("run", help="make the calls that are approved")
        for each in (listed, shown, approved, declined, run):
            each.add_argument("--json", action="store_true", help="print it as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        self.store = ProposalStore()
        self.store.end_late()
        getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        rows = self.store.rows.order_by("-created")
        rows = rows if options["all"] else rows.filter(status__in=OPEN)
        headings = (_("PROPOSAL"), _("CALL"), _("USER"), _("STATE"), _("SINCE"))
        lines = Screen(self.width, no_style()).list_table(headings, map(self.get_cells, rows))
        self.write_data([self.as_data(row) for row in rows], lines, options)

    def show(self, options: dict[str, Any]) -> None:
        data = self.as_data(self.get_proposal(options))
        texts = {k: json.dumps(data[k], ensure_ascii=False, default=str) for k in data}
        self.write_data(data, [f"{name}: {text}" for name, text in texts.items()], options)

    def approve(self, options: dict[str, Any]) -> None:
        self.decide(options, self.store.approve, options["fingerprint"])

    def decline(self, options: dict[str, Any]) -> None:
        self.decide(options, self.store.decline, options["reason"])

    def decide(self, options: dict[str, Any], decide: Any, given: str | None) -> None:
        row = self.get_proposal(options)
        if options["username"] is None:
            raise UsageError(_("Name who decides with --as."))
        user = self.find_user(options["username"])
        try:
            row = decide(row, user, given or row.fingerprint)
        except APIException as exc:
            raise UsageError(self.write_reason(exc)) from exc
        self.write_data(self.as_data(row), ["  ".join(self.get_cells(row))], options)

    def run(self, options: dict[str, Any]) -> None:
        rows = self.store.rows.filter(status=APPROVED, request__isnull=False).order_by("updated")
        made = [row for row in map(run_proposal, rows.values_list("pk", flat=True)) if row]
        lines = ["  ".join(self.get_cells(row)) for row in made] or [_("No call is approved.")]
        self.write_data([self.as_data(row) for row in made], lines, options)

    def get_proposal(self, options: dict[str, Any]) -> Any:
        row = self.store.rows.filter(pk=options["proposal"]).first()
        if row is None:
            known = self.store.rows.filter(status__in=OPEN).values_list("pk", flat=True)
            message = _("There is no proposal %(name)r.") % {"name": options["proposal"][:128]}
            asked = ask_nearest(find_nearest(options["proposal"], known))
            raise UsageError(f"{message} {asked}".strip())
        return row

    def get_cells(self, row: Any) -> tuple[str, ...]:
        since = timezone.localtime(row.created) if timezone.is_aware(row.created) else row.created
        status = str(row.get_status_display())
        return row.proposal_id, row.tool, row.user_label, status, f"{since:%Y-%m-%d %H:%M}"

    def as_data(self, row: Any) -> dict[str, Any]:
        given = row.given.values_list("label", flat=True)
        approvals = {"needed": row.approvals_needed, "given": [*given]}
        return {**{name: getattr(row, name) for name in NAMES}, "approvals": approvals}
