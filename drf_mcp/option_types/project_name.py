from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

# Packages of settings and URLs whose names say nothing of the project.
LAYOUT = frozenset({"config", "conf", "core", "project", "settings", "src", "app", "urls", ""})
FALLBACK_NAME = "drf-mcp-server"


def find_project_name() -> str:
    """Return the name of the project's package, or of its folder, as clients take names."""
    urlconf = getattr(settings, "ROOT_URLCONF", None)
    package = urlconf.partition(".")[0] if isinstance(urlconf, str) else ""
    folder = str(getattr(settings, "BASE_DIR", "") or "")
    names = [] if package in LAYOUT else [package]
    for name in (*names, Path(folder).name, package):
        if portable := re.sub(r"[^A-Za-z0-9_-]+", "-", str(name)).strip("-"):
            return portable
    return FALLBACK_NAME
