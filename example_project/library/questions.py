"""The terms of a question, and how much each counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from example_project.library.indexes import Index
from example_project.library.thesaurus import find_names
from example_project.library.words import KEYWORDS, STOP_WORDS, stem, subjects_of, words

# The words of a question that could be in any.
GENERIC = frozenset(
    words(
        "compute down go goes keep let level line number numbers own put see something take value"
        " values write written"
    )
)
# How much of its weight a term keeps: a generic one, one that a phrase explains, and a word of the
# reference for what was said or for the symbols and keywords in it.
GENERIC_SHARE, EXPLAINED, CALLED, SYMBOLIC = 0.35, 0.1, 0.5, 0.25
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


@dataclass(frozen=True)
class Asked:
    """What a question asks for.

    Attributes:
        weights: how much each term counts.
        aims: the terms that a title may answer.
        has_unknown: whether the library lacks one of the words.
    """

    weights: Mapping[str, float]
    aims: frozenset[str]
    has_unknown: bool = False


def read_question(index: Index, question: str, expanded: bool = False) -> Asked:
    """Return what a question asks for; expanded, also in the words of the reference."""
    terms = terms_of(index, question)
    stems = {*terms, *map(stem, re.findall(r"[^\W\d][\w-]+", question.lower()))}
    names = find_names(stems) if expanded else {}
    called = dict.fromkeys(word for words in names.values() for word in words)
    phrases = {word for said in names if len(said) > 1 for word in said} - called.keys()
    weights = {}
    for term, weight in index.weights(terms).items():
        explained = stem(term.removeprefix("the ")) in phrases
        share = EXPLAINED if explained else GENERIC_SHARE if term in GENERIC else 1
        weights[term] = weight * share
    known = [*set().union(*names), *filter(index.weight, terms)]
    for others, share in ((called, CALLED), (subjects_of(terms), SYMBOLIC)):
        for term in others:
            if index.weight(term):
                weights.setdefault(term, index.weight(term) * share)
    aims = frozenset(term for term in weights if term.removeprefix("the ") not in phrases)
    return Asked(weights, aims, any(term not in known for term in terms))
