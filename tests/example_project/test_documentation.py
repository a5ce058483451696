"""The documentation speaks of what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from drf_mcp.settings import DEFAULTS
from drf_mcp.tools import registry

ROOT = Path(settings.BASE_DIR)
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_settings_page_lists_every_setting_with_its_default():
    rows = re.findall(
        r"^\| `([A-Z_]+)` \| `(.+?)` \|", (ROOT / "docs/settings.md").read_text(), re.M
    )
    listed = {name: default.replace('"', "'") for name, default in rows}
    assert listed == {name: repr(default) for name, default in DEFAULTS.items()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_names_in_the_table_of_names_are_tools_of_the_shop():
    section = (ROOT / "docs/exposing.md").read_text().split("## Names")[1].split("## ")[0]
    for path, name in re.findall(r"^\| `\w+ (\S+)`.* \| `(\w+)` \|", section, re.M):
        assert registry.tool(name).endpoint.route.path == path


def test_readme_calls_tools_that_exist():
    text = (ROOT / "README.md").read_text()
    for name in re.findall(r"mcp_(?:tools|call) (\w+)", text):
        registry.tool(name)
