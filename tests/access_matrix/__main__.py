"""``python -m tests.access_matrix``: what every tool says to every credential, beside HTTP.

Two tables: the example project's tools, and awkward views by every door; ``shop`` or ``awkward``
names one of them. Exits with 1 if an agent gets another answer than the same HTTP request.
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

    # The tools for PUT, which are left out beside those for PATCH, are compared as well.
    with override_settings(DRF_MCP={**settings.DRF_MCP, "INCLUDE": ["PUT *"]}):
        yield from Matrix().fill().lines()


def compare_awkward() -> Iterator[str]:
    """Yield the table of the awkward views."""
    from tests.access_matrix.awkward import AwkwardMatrix, served, write_lines

    with served():
        yield from write_lines(AwkwardMatrix().fill())


TABLES = {"shop": compare_shop, "awkward": compare_awkward}


def main(names: list[str]) -> int:
    """Compare in a database of its own, which is thrown away."""
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
