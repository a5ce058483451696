"""Links lead somewhere, on GitHub as on the site."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.documentation.pages import FENCE, name_of, pages

LINK = re.compile(r"\]\((?P<target>(?!\w+:)[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (?P<text>.+)$", re.M)


def anchors(page: Path) -> set[str]:
    texts = [match["text"] for match in HEADING.finditer(FENCE.sub("", page.read_text()))]
    plain = [re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).replace("`", "") for text in texts]
    return {re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-") for text in plain}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_to_files_and_headings(page):
    lost = []
    for match in LINK.finditer(FENCE.sub("", page.read_text())):
        name, _, anchor = match["target"].partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(match["target"])
    assert not lost


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_page_has_one_title_and_skips_no_level(page):
    found = re.findall(r"^(#+) ", FENCE.sub("", page.read_text()), re.M)
    levels = [len(marks) for marks in found]
    if name_of(page) == "docs/changelog.md":
        assert not levels
        return
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(deeper <= level + 1 for level, deeper in pairwise(levels))
