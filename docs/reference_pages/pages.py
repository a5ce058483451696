"""Which pages are rendered, and by what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from docs.reference_pages.apps import known_names
from docs.reference_pages.command_options import command_options_page
from docs.reference_pages.envelope_fields import envelope_fields_page
from docs.reference_pages.error_codes import error_codes_page
from docs.reference_pages.settings import settings_page, tool_options_page

DOCS = Path(__file__).resolve().parent.parent

PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "reference/tool_options.md": tool_options_page,
    "reference/command_options.md": command_options_page,
    "reference/error_codes.md": error_codes_page,
    "reference/envelope_fields.md": envelope_fields_page,
    "../drf_mcp/contrib/settings.json": known_names,
}


def stale() -> Mapping[str, str]:
    """Return the pages that are not what the source says, each as it should be."""
    rendered = {name: render() for name, render in PAGES.items()}
    return {name: text for name, text in rendered.items() if text != kept(name)}


def kept(name: str) -> str:
    """Return a page as it is kept, "" if it is not there."""
    path = DOCS / name
    return path.read_text() if path.exists() else ""
