from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.module_loading import import_string
from django.utils.translation import ngettext_lazy

from drf_mcp.management.base import MCPCommand
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings

ARCHIVES = ngettext_lazy(
    "Deleted %(count)d expired archive.", "Deleted %(count)d expired archives.", "count"
)


class Command(MCPCommand):
    """Run it once a day where ARCHIVE_CLASS is the database, with AUDIT_RETENTION or CONFIRM, or
    where tools take an idempotency_key or become tasks.

    A cache expires by itself.
    """

    help = "Delete what has expired: archived content, records of calls, answers, tasks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the numbers as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        archive_class, name = mcp_settings.ARCHIVE_CLASS, "expired_archives"
        deleted: dict[str, int | None] = {name: archive_class and archive_class().expire()}
        texts: dict[str, Any] = {name: ARCHIVES}
        for feature in features.installed:
            for name, (path, text) in feature.expires.items():
                deleted[name], texts[name] = import_string(path)(), text
        self.write_data(deleted, self.list_lines(deleted, texts), options)

    def list_lines(
        self, deleted: Mapping[str, int | None], texts: Mapping[str, Any]
    ) -> Iterator[str]:
        if deleted["expired_archives"] is None:
            yield "Nothing is archived: ARCHIVE_CLASS is None."
        for name, count in deleted.items():
            # A zero is shown of the archive and of the records of calls alone.
            if count or (count is not None and name in ("expired_archives", "audited_calls")):
                yield texts[name] % {"count": count}
