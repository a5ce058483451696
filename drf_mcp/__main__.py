"""Commands that run before a project has this package in INSTALLED_APPS, or prints to stdout.

``python -m drf_mcp manage.py mcp_init`` adds the package to a project, and ``python -m drf_mcp
manage.py mcp_stdio`` takes stdin and stdout for the protocol before it imports the project.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from django.conf import settings
from django.core import management

from drf_mcp.management.console import take_streams

USAGE = "Usage: python -m drf_mcp MANAGE_PY mcp_init|mcp_stdio [options]"


def execute_with_app(argv: list[str] | None = None) -> None:
    """Run a command of a project whose settings do not name the package yet."""
    # By now manage.py has said which settings these are.
    if "drf_mcp" not in settings.INSTALLED_APPS:
        # mcp_init writes another line for a tuple.
        settings.INSTALLED_APPS += type(settings.INSTALLED_APPS)(["drf_mcp"])
    management.ManagementUtility(argv).execute()


def main() -> None:
    """Run a command of a project's ``manage.py``."""
    if len(sys.argv) < 3 or sys.argv[2] not in ("mcp_init", "mcp_stdio"):
        sys.exit(USAGE)
    manage = Path(sys.argv[1]).resolve()
    if not manage.is_file():
        sys.exit(f"There is no {manage}. {USAGE}")
    sys.argv = [str(manage), *sys.argv[2:]]
    sys.path.insert(0, str(manage.parent))
    if sys.argv[1] == "mcp_init":
        management.execute_from_command_line = execute_with_app
    else:
        take_streams()
    runpy.run_path(str(manage), run_name="__main__")


if __name__ == "__main__":
    main()
