from __future__ import annotations

from typing import Any

from drf_mcp.management.base import MCPCommand
from drf_mcp.settings import mcp_settings


class Command(MCPCommand):
    """Run it once a day where ARCHIVE_CLASS is the database; a cache expires by itself."""

    help = "Delete expired content from the archive of results."

    def handle(self, *args: Any, **options: Any) -> None:
        archive_class = mcp_settings.ARCHIVE_CLASS
        if archive_class is None:
            self.stdout.write("Nothing is archived: ARCHIVE_CLASS is None.")
            return
        self.stdout.write(f"Deleted {archive_class().expire()} expired archives.")
