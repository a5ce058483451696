"""What people say, and what the language reference calls it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path

from example_project.library.words import stem, words

# On the left of a line what questions say, a phrase joined by underscores: its words may be in any
# order. On the right the words of the reference.
SAID = Path(__file__).with_suffix(".txt")


def read_lines() -> Iterator[tuple[frozenset[str], tuple[str, ...]]]:
    for line in SAID.read_text(encoding="utf-8").splitlines():
        said, _, called = line.partition(" > ")
        for phrase in said.split():
            yield frozenset(map(stem, phrase.lower().split("_"))), tuple(words(called))


LINES = tuple(read_lines())


def find_names(stems: Container[str]) -> dict[frozenset[str], tuple[str, ...]]:
    """Return the phrases of which a question has all words, with the words of the reference.

    A phrase within a longer one is left out.
    """
    found = {said: called for said, called in LINES if all(word in stems for word in said)}
    return {said: called for said, called in found.items() if not any(said < s for s in found)}
