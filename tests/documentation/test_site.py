"""The site builds, and its generated pages say what the source says."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from docs.reference_pages.pages import DOCS, PAGES, kept
from tests.documentation.pages import ROOT

PUBLIC_MODULES = ["drf_mcp", "drf_mcp.envelopes", "drf_mcp.test"]
# What public functions and methods raise.
RAISED = [
    "drf_mcp.exceptions.UnknownTool",
    "drf_mcp.operators.lock.LockFileError",
    "drf_mcp.tools.ArgumentsRefused",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # A process of its own: Sphinx sets Django up with settings of its own.
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [
            *[sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"],
            *["-d", str(folder / "doctrees"), str(DOCS), str(folder / "html")],
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def test_the_site_builds_without_a_warning(site):
    assert "<h1>" in (site / "index.html").read_text()


def test_the_reference_has_every_public_name(site):
    reference = (site / "reference/api.html").read_text()
    names = [f"{module}.{name}" for module in PUBLIC_MODULES for name in public_names(module)]
    names += RAISED
    assert [name for name in names if f'id="{name}"' not in reference] == []


def public_names(module: str) -> list[str]:
    return [name for name in import_module(module).__all__ if name != "__version__"]


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_what_the_source_says(name):
    """Blessed by ``python -m docs.reference_pages --write``."""
    assert kept(name) == PAGES[name]()
