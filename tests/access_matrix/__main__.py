"""``python -m tests.access_matrix``: what every tool says to every credential, beside HTTP.

Exits with 1 if a tool gives another answer than the same HTTP request.
"""

from __future__ import annotations

import os
import sys

import django


def main() -> int:
    """Compare in a database in memory, which is thrown away."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.access_matrix.settings"
    django.setup()
    from django.core.management import call_command
    from django.test import override_settings

    from tests.access_matrix.matrix import Matrix

    call_command("migrate", verbosity=0)
    call_command("seed", verbosity=0)
    from django.conf import settings

    # The tools for PUT, which are left out beside those for PATCH, are compared as well.
    with override_settings(DRF_MCP={**settings.DRF_MCP, "INCLUDE": ["PUT *"]}):
        matrix = Matrix().fill()
    sys.stdout.write("\n".join(matrix.lines()) + "\n")
    return bool(matrix.faults)


if __name__ == "__main__":
    sys.exit(main())
