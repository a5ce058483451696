"""Links have a target, on GitHub and on the site."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.documentation.pages import DOCS, FENCE, ROOT, find_faults, pages

LINK = re.compile(r"\]\((?P<target>(?!\w+:)[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (?P<text>.+)$", re.M)


@cache
def anchors(page: Path) -> set[str]:
    texts = [match["text"] for match in HEADING.finditer(FENCE.sub("", page.read_text()))]
    plain = [re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).replace("`", "") for text in texts]
    return {re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-") for text in plain}


def find_lost_links(page: Path) -> list[str]:
    lost = []
    for match in LINK.finditer(FENCE.sub("", page.read_text())):
        name, _, anchor = match["target"].partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(match["target"])
    return lost


def test_links_lead_to_files_and_headings():
    assert find_faults(find_lost_links, pages()) == {}


def test_the_tests_that_the_page_about_clients_names_exist():
    named = re.findall(r"`(\w[\w/]*/test_\w+\.py)`", (DOCS / "clients.md").read_text())
    assert len(named) > 15
    assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []
