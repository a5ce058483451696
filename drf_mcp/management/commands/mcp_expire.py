from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone
from django.utils.module_loading import import_string

from drf_mcp.features import get_rows
from drf_mcp.management.base import MCPCommand
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings


class Command(MCPCommand):
    """Run it once a day where ARCHIVE_CLASS is the database, with AUDIT_RETENTION or CONFIRM, or
    where tools take an idempotency_key or become tasks.

    A cache expires by itself.
    """

    help = "Delete what has expired: archived content, records of calls, answers, tasks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the numbers as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        archive_class = mcp_settings.ARCHIVE_CLASS
        deleted: dict[str, int | None] = {
            "expired_archives": archive_class and archive_class().expire()
        }
        for feature in features.installed:
            deleted |= {name: expire(kept) for name, kept in feature.expires.items()}
        found = {name.replace("_", " "): count for name, count in deleted.items() if count}
        lines = [f"Deleted {name}: {count}" for name, count in found.items()]
        self.write_data(deleted, lines or ["Nothing has expired."], options)


def expire(kept: str) -> int | None:
    """Delete what has expired of a model, or by a function, and return the number."""
    if kept.count(".") == 1:
        return int(get_rows(kept).filter(expires__lte=timezone.now()).delete()[0])
    deleted: int | None = import_string(kept)()
    return deleted
