"""``manage.py mcp_expire``: delete what the archive need not keep any longer."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from drf_mcp.settings import mcp_settings


class Command(BaseCommand):
    """Run it once a day where ARCHIVE_CLASS is the database; a cache expires by itself."""

    help = "Delete expired content from the archive of results."

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete and say how many."""
        archive_class = mcp_settings.ARCHIVE_CLASS
        if archive_class is None:
            self.stdout.write("Nothing is archived: ARCHIVE_CLASS is None.")
            return
        self.stdout.write(f"Deleted {archive_class().expire()} expired archives.")
