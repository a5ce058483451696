"""The virtual environment with FastMCP, created on first use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = ("fastmcp[code-mode]==4.1.2",)
PLACE = Path("build") / "fastmcp-venv"


def find_python() -> str:
    """Return the Python that has FastMCP. The first call takes a minute and an index."""
    folder = "Scripts" if sys.platform == "win32" else "bin"
    python = PLACE.absolute() / folder / "python"
    marker = PLACE / "installed"
    wanted = "\n".join(REQUIREMENTS)
    if not marker.exists() or marker.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(PLACE)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *REQUIREMENTS], check=True)
        marker.write_text(wanted)
    return str(python)
