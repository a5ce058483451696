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
# How much of it has to be spoken of or named by the documentation, both together.
NAMED = 1.05
# Where somebody works: "... in Kubernetes?"
SURROUNDINGS = re.compile(r"\b(?:in|on) (\w+)\W*$")
# Keywords that people say without meaning the keyword.
NOUNS = frozenset(["class"])
# A letter as a word, such as the prefix of a string.
LETTER = re.compile(r"(?<![\w'\u2019])[b-hj-z](?![\w'\u2019(.=])")
# How like a word of the library's titles a misspelt one is, from 0 to 1.
ALIKE = 0.8
MISSPELT_LENGTHS = range(4, 25)


def terms_of(index: Index, question: str) -> list[str]:
    """The words that a question is searched for by, misspelt names of topics put right.

    A keyword that says nothing but itself is spoken of, wherever it stands.
    """
    asked = re.sub(r"\w+", lambda match: spelled(index, match[0]), question)
    keywords = KEYWORDS.difference(STOP_WORDS, NOUNS).intersection(re.findall(r"\w+", asked))
    spoken_of = (f"the {word}" for word in (*sorted(keywords), *LETTER.findall(asked.lower())))
    mentions = [mention for mention in spoken_of if index.weight(mention)]
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


def is_spoken_of(index: Index, question: str, terms: Sequence[str]) -> bool:
    """Whether a passage speaks of what is asked for, not of some word of it in passing.

    One word that the library does not know is no matter beside a keyword, or where it only
    says in what surroundings. What the library has in passing has no name in it, or not all
    that is asked for.
    """
    known = [term for term in terms if index.weight(term)]
    unknown = [term for term in terms if term not in known]
    place = SURROUNDINGS.search(question)
    beside = bool(place and set(words(place[1])) == set(unknown))
    keyword = any(term.startswith("the ") for term in known)
    asked = known if len(unknown) == 1 and (keyword or beside) else terms
    share = index.share(asked)
    everything = share > 0.99 and len(asked) > 1
    return share >= SPOKEN_OF and (everything or index.named(asked) + share > NAMED)
