"""``python -m tests.access_matrix``: compare tool calls of every credential with HTTP.

Prints two tables: the tools of the example project, and awkward views by every door. The argument
``shop`` or ``awkward`` chooses one. Exits with 1 if a tool call gets another answer than its HTTP
request.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import django


def compare_shop() -> Iterator[str]:
    """Yield the table of the example project's tools."""
    from django.conf import settings
    from django.test import override_settings

    from tests.access_matrix.matrix import Matrix

    # Tools for PUT, which are left out where PATCH has one, are compared too.
    with override_settings(DRF_MCP={**settings.DRF_MCP, "INCLUDE": ["PUT *"]}):
        yield from Matrix().fill().lines()


def compare_awkward() -> Iterator[str]:
    """Yield the table of the awkward views."""
    from tests.access_matrix.awkward import AwkwardMatrix, served, write_lines

    with served():
        yield from write_lines(AwkwardMatrix().fill())


TABLES = {"shop": compare_shop, "awkward": compare_awkward}


def main(names: list[str]) -> int:
    """Compare in a test database, which is dropped."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.access_matrix.settings"
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0)
    try:
        call_command("seed", verbosity=0)
        lines = [line for name in names or TABLES for line in TABLES[name]()]
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
    sys.stdout.write("\n".join(lines) + "\n")
    return any("different (!)" in line and " 0 different" not in line for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
