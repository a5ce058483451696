from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from drf_mcp.management.base import MCPCommand
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings

# By the names of the numbers.
DELETED: Mapping[str, Any] = {
    "expired_archives": ngettext_lazy(
        "Deleted %(count)d expired archive.", "Deleted %(count)d expired archives.", "count"
    ),
}


def find_of_apps() -> Mapping[str, tuple[str, Any]]:
    """Return what the features of installed apps want to be deleted."""
    return {name: each for f in features.installed for name, each in f.expires.items()}


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
        deleted = {
            "expired_archives": archive_class and archive_class().expire(),
            **{name: import_string(path)() for name, (path, _text) in find_of_apps().items()},
        }
        self.write_data(deleted, self.list_lines(deleted), options)

    def list_lines(self, deleted: dict[str, int | None]) -> Iterator[str]:
        texts = {**DELETED, **{name: text for name, (_path, text) in find_of_apps().items()}}
        if deleted["expired_archives"] is None:
            yield _("Nothing is archived: ARCHIVE_CLASS is None.")
        for name, count in deleted.items():
            # A zero is shown of the archive and of the records of calls alone.
            if count or (count is not None and name in ("expired_archives", "audited_calls")):
                yield texts[name] % {"count": count}
