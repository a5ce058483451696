from __future__ import annotations

from typing import Any

from django.db import router
from django.utils import timezone

from drf_mcp.guards.idempotency.records import IntendedChange
from drf_mcp.management.base import MCPCommand
from drf_mcp.models import CallTask, UsedConfirmation
from drf_mcp.observability.auditing import find_auditor
from drf_mcp.settings import mcp_settings


class Command(MCPCommand):
    """Run it once a day where ARCHIVE_CLASS is the database, with AUDIT_RETENTION or CONFIRM, or
    where tools take an idempotency_key or become tasks.

    A cache expires by itself.
    """

    help = "Delete what has expired: archived content, records of calls, answers, tasks."

    def handle(self, *args: Any, **options: Any) -> None:
        self.expire_archive()
        for model in (UsedConfirmation, CallTask):
            self.expire_rows(model)
        auditor = find_auditor()
        deleted = None if auditor is None else auditor.expire()
        if deleted is not None:
            self.stdout.write(f"Deleted {deleted} audited calls.")
        if deleted := IntendedChange.expire():
            self.stdout.write(f"Deleted {deleted} answers to changes.")

    def expire_rows(self, model: Any) -> None:
        rows = model._default_manager.using(router.db_for_write(model))
        rows.filter(expires__lte=timezone.now()).delete()

    def expire_archive(self) -> None:
        archive_class = mcp_settings.ARCHIVE_CLASS
        if archive_class is None:
            self.stdout.write("Nothing is archived: ARCHIVE_CLASS is None.")
            return
        self.stdout.write(f"Deleted {archive_class().expire()} expired archives.")
