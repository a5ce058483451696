from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.rules.proposal_store import APPROVED, ProposalStore
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.management.base import MCPCommand


class Command(MCPCommand):
    """Makes the calls of ``drf_mcp.contrib.rules`` that are approved."""

    help = "Make the calls that were approved, each once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the calls as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        store = ProposalStore()
        store.end_late()
        rows = store.rows.filter(status=APPROVED, request__isnull=False).order_by("updated")
        made = [row for row in map(run_proposal, rows.values_list("pk", flat=True)) if row]
        names = ("proposal_id", "tool", "user_label", "status")
        data = [{name: getattr(row, name) for name in names} for row in made]
        lines = ["  ".join(each.values()) for each in data] or [_("No call is approved.")]
        self.write_data(data, lines, options)
