"""Sentences of the pages are short, and words are spelt correctly."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.documentation.pages import DOCS, FENCE, ROOT, find_faults, pages

# Pages for looking something up.
REFERENCES = {"settings.md", "commands.md", "checks.md", "changelog.md"}
GUIDES = [
    page
    for page in pages()
    if DOCS in page.parents and page.parent.name != "reference" and page.name not in REFERENCES
]
LONGEST_SENTENCE = 40
# Words that belittle a reader who has difficulties, are Latin, or have no meaning.
UNWANTED = re.compile(
    r"\b(?:simply|obviously|easily|basically|please|utili[sz]e|leverage|seamless\w*|e\.g\.|i\.e\.|etc\.)",
    re.I,
)


def find_sentences(page: Path) -> Iterator[str]:
    text = re.sub(r"\]\([^)]*\)", "]", FENCE.sub("\n\n", page.read_text()))
    for part in re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |\|)", text):
        if not part.lstrip().startswith(("|", "#", "<", "[")):
            yield from re.split(r"(?<=[.!?:])[\"*)]*\s+(?=[A-Z\[`*\"(])", " ".join(part.split()))


def test_no_sentence_is_too_long():
    def judge(page: Path) -> list[str]:
        return [s for s in find_sentences(page) if len(s.split()) > LONGEST_SENTENCE]

    assert find_faults(judge, [*GUIDES, ROOT / "README.md"]) == {}


def test_no_unwanted_word():
    def judge(page: Path) -> list[str]:
        return UNWANTED.findall(FENCE.sub("", page.read_text()))

    assert find_faults(judge, pages()) == {}


def test_a_guide_has_at_most_1500_words():
    assert find_faults(lambda page: len(page.read_text().split()) > 1500, GUIDES) == {}


def test_words_are_spelt_right():
    command = [sys.executable, "-m", "codespell_lib"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
