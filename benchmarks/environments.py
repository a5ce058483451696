"""Virtual environments of other packages in ``build/environments``, created on first use.

Each has the Django and the REST framework of the current environment, so that the plain request is
the same everywhere.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

PLACE = Path("build") / "environments"
SHARED = ("Django", "djangorestframework", "django-filter", "pydantic")
# A package that does not support version 2 of the SDK gets version 1.
REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "fastmcp": ("fastmcp[code-mode]==4.2.3", "drf-spectacular==0.30.0"),
    "django-mcpz": ("django-mcpz==1.2.0",),
    "django-mcp-server": ("django-mcp-server==0.5.7", "mcp<2"),
}


def find_python(peer: str) -> str:
    """Return the interpreter that has a package. The first call takes a minute, and an index."""
    if peer not in REQUIREMENTS:
        return sys.executable
    return make_environment(peer, REQUIREMENTS[peer])


def make_environment(name: str, requirements: Iterable[str], shared: Iterable[str] = SHARED) -> str:
    """Return the interpreter of an environment.

    Args:
        name: the name of the environment.
        requirements: what is installed there.
        shared: packages in the versions of the current environment.
    """
    place = PLACE.absolute() / name
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = [*(f"{package}=={version(package)}" for package in shared), *requirements]
    marker = place / "installed"
    if not marker.exists() or marker.read_text() != "\n".join(wanted):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
        marker.write_text("\n".join(wanted))
    return str(python)
