"""``python -m drf_mcp manage.py mcp_stdio``, for projects that print while they start.

It takes stdin and stdout for the protocol before it imports the project.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from drf_mcp.management.console import take_streams

USAGE = "Usage: python -m drf_mcp MANAGE_PY mcp_stdio [options]"


def main() -> None:
    """Run a project's ``manage.py``, whose prints go to stderr."""
    if len(sys.argv) < 3 or sys.argv[2] != "mcp_stdio":
        sys.exit(USAGE)
    take_streams()
    manage = Path(sys.argv[1]).resolve()
    sys.argv = [str(manage), *sys.argv[2:]]
    sys.path.insert(0, str(manage.parent))
    runpy.run_path(str(manage), run_name="__main__")


if __name__ == "__main__":
    main()
