"""``python -m drf_mcp manage.py mcp_stdio``: for projects that print while they start.

The streams of the protocol are taken before anything of the project is imported.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from drf_mcp.management.console import take_streams

USAGE = "Usage: python -m drf_mcp MANAGE_PY mcp_stdio [options]"


def main() -> None:
    """Run a project's ``manage.py`` with nothing but stderr to print to."""
    if len(sys.argv) < 3 or sys.argv[2] != "mcp_stdio":
        sys.exit(USAGE)
    take_streams()
    manage = Path(sys.argv[1]).resolve()
    sys.argv = [str(manage), *sys.argv[2:]]
    sys.path.insert(0, str(manage.parent))
    runpy.run_path(str(manage), run_name="__main__")


if __name__ == "__main__":
    main()
