"""Records the tools of a project before it moved, in its own environment in build/:
``python -m tests.projects.migrating.record django_mcp_server``, or without a name for all projects.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date

from tests.projects.migrating.projects import FOLDER

ROOT = FOLDER.parents[2]
# The packages of each environment; the first is the package that the project moved from.
REQUIREMENTS = {
    "django_rest_framework_mcp": ["django-rest-framework-mcp==0.1.0a4"],
    # It imports FastMCP from the SDK, whose second version does not have it.
    "django_mcp_server": ["django-mcp-server==0.5.7", "mcp<2"],
    "fastmcp_openapi": ["fastmcp==4.1.2", "drf-spectacular"],
    "django_drf_mcp": ["django-drf-mcp==0.3.1"],
}


def record(project: str) -> None:
    environment = ROOT / "build" / "migrating" / project
    python = environment / "bin" / "python"
    requirements = REQUIREMENTS[project]
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "djangorestframework", *requirements]
    subprocess.run(install, check=True)
    settings = f"tests.projects.migrating.{project}.before.settings"
    printed = subprocess.run(
        [
            python,
            "-m",
            "tests.projects.migrating.listing",
            project,
            requirements[0].partition("==")[0],
        ],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": settings, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    recorded = {
        "recorded": date.today().isoformat(),
        "with": f"python -m tests.projects.migrating.record {project}",
        **json.loads(printed.splitlines()[-1]),
    }
    (FOLDER / project / "tools.json").write_text(json.dumps(recorded, indent=2) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or REQUIREMENTS:
        record(name)
