"""Run by `test_two_processes`: stores an entry in another process and prints its id."""

from __future__ import annotations

import json
import sys

import django
from django.conf import settings


def main() -> None:
    asked = json.load(sys.stdin)
    settings.configure(**asked["settings"])
    django.setup()
    from drf_mcp.settings import mcp_settings
    from drf_mcp.stored import Entry
    from drf_mcp.stored.stores import new_archive_id

    entry = Entry.of(new_archive_id(), asked["owner"], "rows", asked["items"])
    mcp_settings.ARCHIVE_CLASS().store(entry)
    sys.stdout.write(json.dumps([entry.archive_id, entry.content_hash]))


if __name__ == "__main__":
    main()
