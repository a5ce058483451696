from __future__ import annotations

import csv
import sys
from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from drf_mcp.contrib.oauth.models import LinkedIdentity
from drf_mcp.features import mcp_settings
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import UsageError


class Command(MCPCommand):
    """Links subjects of an identity provider to users: one, or all of a file, or none of it."""

    help = "Link a subject of an identity provider to a user; without --subject, many."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("issuer", help="the issuer, as in IDENTITY_PROVIDERS")
        subject = "what the provider calls the user (sub); by default rows SUBJECT,USER of stdin"
        add("--subject", help=subject)
        self.add_user_argument(add, "the user, by USERNAME_FIELD")
        add("--json", action="store_true", help="print JSON")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        issuer, subject = options["issuer"], options["subject"]
        if issuer not in mcp_settings.IDENTITY_PROVIDERS:
            raise UsageError(f"IDENTITY_PROVIDERS has no issuer {issuer!r}.")
        rows = [[subject, options["username"]]] if subject else list(csv.reader(sys.stdin))
        for row in rows:
            if len(row) != 2 or not all(row):
                raise UsageError(f"A link needs a subject and a user, not {row!r}.")
            user = self.find_user(row[1])
            LinkedIdentity.objects.update_or_create(
                issuer=issuer, subject=row[0], defaults={"user": user}
            )
        self.write_data({"linked": len(rows)}, [f"Linked: {len(rows)}"], options)
