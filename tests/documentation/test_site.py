"""The site can be built, and its generated pages match the source."""

from __future__ import annotations

import ast
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from docs.reference_pages.pages import DOCS, PAGES, kept
from tests.documentation.pages import ROOT, blocks, pages
from tests.sources import ROOT as PACKAGE
from tests.sources import nodes_of

# The modules whose names are all public.
PUBLIC_MODULES = [
    *("drf_mcp", "drf_mcp.access", "drf_mcp.envelopes", "drf_mcp.test"),
    *("drf_mcp.archives", "drf_mcp.budgets", "drf_mcp.describers", "drf_mcp.digests"),
    *("drf_mcp.errors", "drf_mcp.exposure", "drf_mcp.features", "drf_mcp.naming"),
]
# Modules with public names and others.
PARTLY_PUBLIC = (
    *("drf_mcp.codes", "drf_mcp.exceptions", "drf_mcp.interaction", "drf_mcp.outcomes"),
    "drf_mcp.signals",
)
# The exceptions that public functions and methods raise.
RAISED = ["drf_mcp.exceptions.UnknownTool", "drf_mcp.management.screen.UsageError"]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of the site, built without HTML, which `make docs` writes."""
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
    return folder


@pytest.fixture(scope="module")
def documented(site) -> set[str]:
    """The names that the site documents."""
    environment = pickle.loads((site / "environment.pickle").read_bytes())
    objects = environment.domaindata["py"]["objects"]
    return {name for name, entry in objects.items() if entry.docname == "reference/api"}


def test_the_site_builds_without_a_warning_and_its_reference_has_every_public_name(documented):
    names = {
        f"{module}.{name}" for module in PUBLIC_MODULES for name in import_module(module).__all__
    }
    # These have a place in the package itself.
    names -= {f"drf_mcp.exposure.{name}" for name in import_module("drf_mcp").__all__}
    assert {*names, *RAISED} - {"drf_mcp.__version__"} - documented == set()


def test_models_find_the_markdown_of_each_page(site):
    folder = site / "nothing"
    index = (folder / "llms.txt").read_text()
    assert index.startswith(
        "# drf_mcp\n\n> drf_mcp lets agents call your Django REST framework API"
    )
    linked = re.findall(r"^- \[.+\]\((.+\.md)\)$", index, re.M)
    pages = {str(page.relative_to(folder)) for page in folder.rglob("*.md")}
    assert pages - {*linked} == {"index.md"}
    assert len(linked) == len({*linked})
    assert not any("{toctree}" in (folder / name).read_text() for name in pages)
    changes = (folder / "changelog.md").read_text()
    assert "## [Unreleased]" in changes
    assert "](page.md)" in changes


def imported_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the module and name of each import from the package."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "drf_mcp":
            yield from ((str(node.module), alias.name) for alias in node.names)


def names_on_pages() -> set[tuple[str, str]]:
    shown = [each.text for page in pages() for each in blocks(page) if each.language == "python"]
    return {pair for text in shown for pair in imported_names(ast.walk(ast.parse(text)))}


def test_the_reference_has_every_name_that_a_page_imports(documented):
    assert {f"{module}.{name}" for module, name in names_on_pages()} - documented == set()


def test_pages_import_from_flat_modules():
    deep = {module for module, _name in names_on_pages() if module.count(".") > 1}
    # An app, and its AppConfig.
    assert {m for m in deep if not re.fullmatch(r"drf_mcp\.contrib\.\w+(\.apps)?", m)} == set()


def test_the_reference_has_every_name_that_apps_take_from_public_modules(documented):
    taken = {
        (module, name)
        for source in (PACKAGE / "contrib").rglob("*.py")
        for module, name in imported_names(nodes_of(source))
        if module in PUBLIC_MODULES[1:] or module.startswith(PARTLY_PUBLIC)
    }
    # A name is documented once, in the first of the modules that have it.
    known = {name.rpartition(".")[2] for name in documented}
    assert {f"{module}.{name}" for module, name in taken if name not in known} == set()


def test_the_lists_have_the_settings_and_options_of_every_app():
    brought = json.loads(kept("../drf_mcp/contrib/settings.json"))
    kinds = ("settings", "tool_options", "view_attributes")
    names = {name for kind in kinds for name in brought[kind]}
    said = kept("settings.md") + kept("reference/tool_options.md")
    assert names - {*re.findall(r'^- \[?`"?(\w+)', said, re.M)} == set()


def test_generated_pages_match_the_source():
    """``python -m docs.reference_pages --write`` writes them."""
    assert {name: kept(name) for name in PAGES} == {name: make() for name, make in PAGES.items()}
