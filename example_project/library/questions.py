"""The terms of a question, and whether the library can answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from example_project.library.indexes import Index
from example_project.library.words import KEYWORDS, STOP_WORDS, words

# The least share of a question's terms that a passage has. Questions about Python reach more;
# other questions, which share a word with the library by chance, do not.
LEAST_SHARE = 0.5
# The least sum of this share and the share of terms that are topics of the documentation.
LEAST_SUM = 1.05
# The surroundings in which a person works: "... in Kubernetes?"
SURROUNDINGS = re.compile(r"\b(?:in|on) (\w+)\W*$")
# Keywords that people say without meaning the keyword.
NOUNS = frozenset(["class"])
# A letter as a word, such as the prefix of a string.
LETTER = re.compile(r"(?<![\w'\u2019])[b-hj-z](?![\w'\u2019(.=])")
# How similar a misspelt word is to a word of the titles, from 0 to 1.
ALIKE = 0.8
MISSPELT_LENGTHS = range(4, 25)


def terms_of(index: Index, question: str) -> list[str]:
    """Return the terms of a question, with misspelt names of topics corrected.

    A keyword that is no ordinary word counts as mentioned anywhere in the question.
    """
    asked = re.sub(r"\w+", lambda match: spelled(index, match[0]), question)
    keywords = KEYWORDS.difference(STOP_WORDS, NOUNS).intersection(re.findall(r"\w+", asked))
    mentioned = (f"the {word}" for word in (*sorted(keywords), *LETTER.findall(asked.lower())))
    mentions = [mention for mention in mentioned if index.weight(mention)]
    return list(dict.fromkeys([*words(asked), *mentions]))


def spelled(index: Index, word: str) -> str:
    """Return a word as the library's titles spell it, or the word itself if none is similar."""
    lower = word.lower()
    if len(word) not in MISSPELT_LENGTHS or lower in STOP_WORDS or knows(index, lower):
        return word
    near = [n for n in index.names if n[0] == lower[0] and abs(len(n) - len(lower)) <= 2]
    swapped = [name for name in near if sorted(name) == sorted(lower)]
    return next(iter(swapped or get_close_matches(lower, near, 1, ALIKE)), word)


def knows(index: Index, word: str) -> bool:
    """Whether the library has a word."""
    return all(map(index.weight, words(word)))


def can_answer(index: Index, question: str, terms: Sequence[str]) -> bool:
    """Whether a passage is about the question, and does not share a word with it by chance.

    One unknown word is ignored next to a keyword, or where it only names the surroundings. A
    passage that shares words by chance lacks some of the terms, or has none that is a topic.
    """
    known = [term for term in terms if index.weight(term)]
    unknown = [term for term in terms if term not in known]
    place = SURROUNDINGS.search(question)
    is_place = bool(place and set(words(place[1])) == set(unknown))
    keyword = any(term.startswith("the ") for term in known)
    asked = known if len(unknown) == 1 and (keyword or is_place) else terms
    share = index.share(asked)
    everything = share > 0.99 and len(asked) > 1
    return share >= LEAST_SHARE and (everything or index.named(asked) + share > LEAST_SUM)
