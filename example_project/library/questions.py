"""What a question asks for, and whether the library can tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from example_project.library.indexes import Index
from example_project.library.words import KEYWORDS, STOP_WORDS, words

# How much of a question a passage has to speak of. One about Python reaches more, one about the
# rest of the world that shares a word with the library by chance does not.
SPOKEN_OF = 0.5
# How like a word of the library's titles a misspelt one is, from 0 to 1.
ALIKE = 0.8
MISSPELT_LENGTHS = range(4, 25)


def terms_of(index: Index, question: str) -> list[str]:
    """The words that a question is searched for by, misspelt names of topics put right.

    A keyword that says nothing but itself is spoken of, wherever it stands.
    """
    asked = re.sub(r"\w+", lambda match: spelled(index, match[0]), question)
    keywords = KEYWORDS.difference(STOP_WORDS).intersection(re.findall(r"\w+", asked))
    mentions = [mention for word in sorted(keywords) if index.weight(mention := f"the {word}")]
    return list(dict.fromkeys([*words(asked), *mentions]))


def spelled(index: Index, word: str) -> str:
    """A word as the library's titles spell it, the word itself if they have none like it."""
    lower = word.lower()
    if len(word) not in MISSPELT_LENGTHS or lower in STOP_WORDS or knows(index, lower):
        return word
    near = [n for n in index.names if n[0] == lower[0] and abs(len(n) - len(lower)) <= 2]
    swapped = [name for name in near if sorted(name) == sorted(lower)]
    return next(iter(swapped or get_close_matches(lower, near, 1, ALIKE)), word)


def knows(index: Index, word: str) -> bool:
    """Whether the library has a word."""
    return all(map(index.weight, words(word)))


def is_spoken_of(index: Index, terms: Sequence[str]) -> bool:
    """Whether a passage speaks of what is asked for, not of some word of it in passing.

    Beside a word of the titles, one word that the library does not know is no matter.
    """
    known = [term for term in terms if index.weight(term)]
    named = index.topics.intersection(known)
    asked = known if named and len(terms) - len(known) == 1 else terms
    return index.share(asked) > SPOKEN_OF
