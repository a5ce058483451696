"""The few pieces of Markdown that the pages are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

NOTICE = "<!-- Rendered from the source by: python -m docs.reference_pages --write -->"
WIDTH = 98


def paragraph(text: str) -> str:
    """Return a text as one wrapped paragraph."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(heading)
    lines = [
        names,
        ["---" for _ in names],
        *([cell.replace("|", "\\|") for cell in r] for r in rows),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines).replace("|  |", "| |")


def items(described: Mapping[str, str]) -> str:
    """Return a Markdown list of names and what each is."""
    return "\n".join(f"- {code(name)}: {text}" for name, text in described.items())


def page(title: str, *parts: str) -> str:
    """Return a whole page."""
    return "\n\n".join([NOTICE, f"# {title}", *parts]) + "\n"


def code(value: Any) -> str:
    """Return a value as inline code."""
    return f"`{value}`"
