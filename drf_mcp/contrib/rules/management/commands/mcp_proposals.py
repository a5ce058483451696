from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.color import no_style
from rest_framework.exceptions import APIException

from drf_mcp.contrib.rules.proposal_store import APPROVED, OPEN, ProposalStore
from drf_mcp.contrib.rules.proposing import (
    find_shown_fingerprint,
    make_without_worker,
    run_proposal,
    show_to,
)
from drf_mcp.errors import ask_nearest, find_nearest, find_sentence
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import Screen, UsageError, find_local_time

store = ProposalStore()
# The columns that --json and `show` have.
NAMES = ["proposal_id", "tool", "user_label", "status", "rule", "reason", "arguments"]
NAMES += ["fingerprint", "message", "created", "expires"]


class Command(MCPCommand):
    """Lists the proposals of ``drf_mcp.contrib.rules``, decides about them, and makes the calls."""

    help = "List calls that wait for an approval, decide about them, and make those approved."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=True)
        helps = {
            "list": "list the proposals that wait, the newest first",
            "show": "show a proposal, with its objects as a user may read them now",
            "approve": "approve a call as `show` prints it",
            "decline": "decline a call for good",
            "run": "make the approved calls",
        }
        verbs = {name: commands.add_parser(name, help=text) for name, text in helps.items()}
        verbs["list"].add_argument(
            "--all", action="store_true", help="also list proposals that have ended"
        )
        for name in ("show", "approve", "decline"):
            verbs[name].add_argument("proposal", metavar="PROPOSAL", help="the id of the proposal")
        verbs["approve"].add_argument("--fingerprint", help="the hash that `show` printed")
        reason = "the reason, in a sentence for the caller"
        verbs["decline"].add_argument("--reason", required=True, help=reason)
        for name in ("show", "approve", "decline"):
            self.add_user_argument(
                verbs[name].add_argument, "the user who decides, by USERNAME_FIELD"
            )
        for verb in verbs.values():
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        store.end_late()
        getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        rows = store.rows.order_by("-created")
        found = [*(rows if options["all"] else rows.filter(status__in=OPEN))]
        headings = ("PROPOSAL", "CALL", "USER", "STATE", "SINCE")
        screen = Screen(self.width, no_style())
        lines = screen.list_table(headings, [self._write_cells(row) for row in found])
        self.write_data([self.as_data(row) for row in found], lines, options)

    def run(self, options: dict[str, Any]) -> None:
        approved = store.rows.filter(status=APPROVED, request__isnull=False).order_by("updated")
        made = [run_proposal(pk) for pk in [*approved.values_list("pk", flat=True)]]
        # Another process may have made some of them.
        found = [row for row in made if row is not None]
        lines = [self._write_line(row) for row in found] or ["No call is approved."]
        self.write_data([self.as_data(row) for row in found], lines, options)

    def show(self, options: dict[str, Any]) -> None:
        row, user = self.find(options), self.find_user(options["username"])
        # What changes after it is shown is not approved.
        fingerprint = find_shown_fingerprint(row)
        data = {**self.as_data(row), "fingerprint": fingerprint, "objects": show_to(row, user)}
        texts = {n: json.dumps(v, ensure_ascii=False, default=str) for n, v in data.items()}
        self.write_data(data, [f"{name}: {text}" for name, text in texts.items()], options)

    def approve(self, options: dict[str, Any]) -> None:
        row = self.find(options)
        fingerprint = options["fingerprint"] or find_shown_fingerprint(row)
        self.decide(
            lambda *sent: make_without_worker(store.approve(*sent)), row, fingerprint, options
        )

    def decline(self, options: dict[str, Any]) -> None:
        self.decide(store.decline, self.find(options), options["reason"], options)

    def find(self, options: dict[str, Any]) -> Any:
        proposal_id = options["proposal"]
        row = store.rows.filter(pk=proposal_id).first()
        if row is None:
            known = store.rows.filter(status__in=OPEN).values_list("pk", flat=True)
            message = f"There is no proposal {proposal_id[:128]!r}."
            raise UsageError(f"{message} {ask_nearest(find_nearest(proposal_id, known))}".strip())
        return row

    def decide(
        self, decide: Callable[..., Any], row: Any, sent: str, options: dict[str, Any]
    ) -> None:
        if options["username"] is None:
            raise UsageError("Name who decides with --as.")
        user = self.find_user(options["username"])
        try:
            row = decide(row, user, sent)
        except APIException as exc:
            raise UsageError(find_sentence(exc.detail)) from exc
        self.write_data(self.as_data(row), [self._write_line(row)], options)

    def _write_line(self, row: Any) -> str:
        return "  ".join(filter(None, [*self._write_cells(row), row.message]))

    def _write_cells(self, row: Any) -> tuple[str, ...]:
        status, since = str(row.get_status_display()), find_local_time(row.created)
        return row.proposal_id, row.tool, row.user_label, status, f"{since:%Y-%m-%d %H:%M}"

    def as_data(self, row: Any) -> dict[str, Any]:
        given = [str(each) for each in store.find_approvals(row)]
        approvals = {"needed": row.approvals_needed, "given": given}
        return {**{name: getattr(row, name) for name in NAMES}, "approvals": approvals}
