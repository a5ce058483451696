"""The site can be built, and its generated pages match the source."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib import import_module

import pytest

from docs.reference_pages.pages import DOCS, PAGES, kept
from tests.documentation.pages import ROOT

PUBLIC_MODULES = ["drf_mcp", "drf_mcp.envelopes", "drf_mcp.test"]
# The exceptions that public functions and methods raise.
RAISED = [
    "drf_mcp.exceptions.UnknownTool",
    "drf_mcp.contrib.operators.lock.LockFileError",
    "drf_mcp.errors.ArgumentsRefused",
]


@pytest.fixture(scope="module")
def documented(tmp_path_factory) -> set[str]:
    """The names that the site documents, built without HTML, which `make docs` writes."""
    folder = tmp_path_factory.mktemp("site")
    # In another process, because Sphinx sets Django up with other settings.
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [
            *[sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "dummy"],
            *["-d", str(folder), str(DOCS), str(folder / "nothing")],
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    environment = pickle.loads((folder / "environment.pickle").read_bytes())
    objects = environment.domaindata["py"]["objects"]
    return {name for name, entry in objects.items() if entry.docname == "reference/api"}


def test_the_site_builds_without_a_warning_and_its_reference_has_every_public_name(documented):
    names = {
        f"{module}.{name}" for module in PUBLIC_MODULES for name in import_module(module).__all__
    }
    assert {*names, *RAISED} - {"drf_mcp.__version__"} - documented == set()


def test_generated_pages_match_the_source():
    """``python -m docs.reference_pages --write`` writes them."""
    assert {name: kept(name) for name in PAGES} == {name: make() for name, make in PAGES.items()}
